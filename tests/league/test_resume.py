"""What a league needs before it is played: workers, its teams' files as they were, and no other process that plays it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from commands import read_to_end
from leagues import open_new, write_league

from referee.league.folder import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]

BAD_WORKERS = [
    (("--slots", "0"), "--slots is 0"),
    (("--cluster", "local:0"), "local:N with a number from 1 to 999"),
    (("--cluster", "local:1", "--slots", "2"), "--slots is for this machine"),
]


@pytest.mark.parametrize(("words", "told"), BAD_WORKERS)
def test_without_workers_nothing_is_begun_or_changed(words: tuple[str, ...], told: str, referee: Referee, tmp_path: Path) -> None:
    file, out = write_league(tmp_path / "in", 2), tmp_path / "out"
    refused = referee("league", "run", file, "--out", out, *words)
    assert (refused.returncode, out.exists()) == (2, False), refused.stderr
    assert told in refused.stderr
    open_new(tmp_path, teams=2).close()
    before = rows_of(out)
    refused = referee("league", "resume", out, *words)
    assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
    assert rows_of(out) == before


def rows_of(folder: Path) -> list[Any]:
    """All that a league's store holds of its teams and matches."""
    with contextlib.closing(sqlite3.connect(folder / "league.sqlite")) as store, store:
        return [store.execute(f"select * from {table}").fetchall() for table in ("league", "tasks", "records")]


def test_a_league_that_another_process_plays_is_not_changed(referee: Referee, tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out = tmp_path / "out"
    before = rows_of(out)
    with open_store(out) as store, store.claim():
        refused = referee("league", "resume", out)
        assert (refused.returncode, "Another process plays the league" in refused.stderr) == (2, True), refused.stderr
    assert rows_of(out) == before


def test_a_program_that_is_gone_is_named(referee: Referee, tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out, bot = tmp_path / "out", tmp_path / "in" / "bot1.py"
    text = bot.read_text()
    bot.unlink()
    refused = referee("league", "resume", out)
    assert refused.returncode == 2
    assert "The team 'T1' can't play" in refused.stderr
    assert "Restore its files, and go on:" in refused.stderr
    assert refused.stderr.endswith(f"referee league resume {out}\n")
    bot.write_text(text)
    assert referee("league", "resume", out, "-q").returncode == 0


def done_of(referee: Referee, *words: object) -> tuple[int, list[str]]:
    """How many matches a command of a league has done, and the replays that its league counts."""
    done = referee("league", *words, "--json", "-q")
    assert done.returncode == 0, done.stderr
    folder = json.loads(done.stdout)["folder"]
    matches = json.loads(referee("league", "export", folder, "--json").stdout)["matches"]
    return json.loads(done.stdout)["matches"]["done"], sorted(match["replay_sha256"] for match in matches)


def test_an_edited_league_goes_on_and_what_is_void_counts_again_if_the_edit_is_undone(referee: Referee, tmp_path: Path) -> None:
    file, out = write_league(tmp_path / "in", 3), tmp_path / "out"
    bot, text = tmp_path / "in" / "bot2.py", file.read_text()
    count, first = done_of(referee, "run", file, "--out", out)
    assert count == 6
    # Nothing has changed: nothing is played. Its folder and its file say the same.
    assert done_of(referee, "run", file, "--out", out) == done_of(referee, "run", out) == done_of(referee, "resume", out) == (6, first)
    # A team more makes nothing void.
    (tmp_path / "in" / "bot3.py").write_text(bot.read_text() + "# 3\n")
    file.write_text(text + '[[teams]]\nname = "T3"\nprogram = "bot3.py"\n')
    count, more = done_of(referee, "run", file, "--out", out)
    assert (count, set(first) < set(more)) == (12, True)
    # New files of a team do: the number is asked for.
    before = bot.read_text()
    bot.write_text(f"{before}# new\n")
    for words in (("run", file, "--out", out), ("run", out), ("resume", out), ("resume", out, "--void", "5")):
        refused = referee("league", *words)
        assert refused.returncode == 2
        assert (
            "6 matches that were played would be void, because the league has changed (T2: hunter: 'bot2.py' has changed" in refused.stderr
        )
        assert ("add --void 6" in refused.stderr) == ("5" not in words)
    count, changed = done_of(referee, "resume", out, "--void", "6")
    assert (count, len({*changed} & {*more})) == (12, 6)
    assert len(list((out / "replays").rglob("*.gz"))) == 18
    # Undone, everything counts again, and nothing is played.
    bot.write_text(before)
    assert done_of(referee, "run", file, "--out", out, "--void", "6") == (12, more)
    file.write_text(text)
    assert done_of(referee, "run", out, "--void", "6") == (6, first)
    refused = referee("league", "run", out, "--void", "6")
    assert (refused.returncode, "no match that was played would be void" in refused.stderr) == (2, True)
    assert referee("league", "verify", out).stdout == "6 replays checked, 0 problems.\n"


def test_a_league_keeps_its_secret_and_other_starts_have_a_commitment_of_their_own(referee: Referee, tmp_path: Path) -> None:
    file, out = (
        write_league(tmp_path / "in", 2, extra="[starts]\ncount = 1\n", settings="width = 30\nheight = 30\nmax_steps = 20\n"),
        tmp_path / "out",
    )
    text = file.read_text().replace("seed = 7\n", "")
    file.write_text(text)
    private = out / "private"
    count, first = done_of(referee, "run", file, "--out", out)
    published = (private / "commitment.toml").read_bytes()
    file.write_text(text.replace("count = 1", "count = 2"))
    done = referee("league", "run", out)
    assert (done.returncode, "commitment to the starts: " in done.stderr) == (0, True), done.stderr
    assert sorted(path.read_bytes() == published for path in private.iterdir()) == [False, True]
    file.write_text(text)
    assert done_of(referee, "run", file, "--out", out, "--void", "2") == (count, first)
    assert (private / "commitment.toml").read_bytes() == published


@pytest.mark.parametrize(("answer", "status"), [(b"n\n", 2), (b"y\n", 0)])
def test_a_person_at_the_terminal_is_asked(answer: bytes, status: int, referee: Referee, tmp_path: Path) -> None:
    file, out = write_league(tmp_path / "in", 2), tmp_path / "out"
    assert referee("league", "run", file, "--out", out, "-q").returncode == 0
    with (tmp_path / "in" / "bot1.py").open("a") as bot:
        bot.write("# new\n")
    outside, inside = pty.openpty()
    os.write(outside, answer)
    command = [sys.executable, "-m", "referee", "league", "run", str(out), "-q"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=inside, stdout=subprocess.DEVNULL, stderr=inside)
    os.close(inside)
    assert b"2 matches that were played would be void" in read_to_end(outside)
    assert process.wait() == status
