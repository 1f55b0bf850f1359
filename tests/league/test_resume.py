"""What a league needs before it is played: workers, its teams' files as they were, and no other process that plays it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from leagues import open_new, write_league

from referee.league.folder import LeagueStore

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]

BAD_WORKERS = [
    (("--slots", "0"), "--slots is 0"),
    (("--cluster", "local:0"), "must be a number from 1 to 1,024"),
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
        return [store.execute(f"select * from {table}").fetchall() for table in ("league", "teams", "tasks", "records")]


def test_a_league_that_another_process_plays_is_not_changed(referee: Referee, tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out = tmp_path / "out"
    before = rows_of(out)
    with LeagueStore.open(out) as store, store.claim():
        refused = referee("league", "resume", out)
        assert (refused.returncode, "Another process plays the league" in refused.stderr) == (2, True), refused.stderr
    assert rows_of(out) == before


def test_changed_files_are_named(referee: Referee, tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out, bot = tmp_path / "out", tmp_path / "in" / "bot1.py"
    text = bot.read_text()
    bot.write_text(f"{text}# changed\n")
    refused = referee("league", "resume", out)
    assert refused.returncode == 2
    assert "The files of 1 team have changed since the league began (T1: hunter: 'bot1.py' has changed" in refused.stderr
    assert "Restore them, and go on:" in refused.stderr
    assert f"referee league resume {out} " in refused.stderr
    bot.unlink()
    refused = referee("league", "resume", out)
    assert refused.returncode == 2
    assert "The team 'T1' can't play" in refused.stderr
    assert "Restore its files, and go on:" in refused.stderr
    assert refused.stderr.endswith(f"referee league resume {out}\n")
    bot.write_text(text)
    assert referee("league", "resume", out, "-q").returncode == 0
