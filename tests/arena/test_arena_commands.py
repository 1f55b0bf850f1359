"""The commands of arenas, with real processes."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import json
import re
import signal
import sqlite3
import subprocess
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, all_duels, begin, done, duel_results, write_arena
from leagues import IDLE

from referee.arena.arena import open_arena
from referee.arena.audit import Audit
from referee.arena.store import ArenaStore
from referee.arena.versions import CHECKER, CHECKING, REFUSED
from referee.cli.arena import final
from referee.replay.reader import read_head, read_lines
from referee.tournament.transactions import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def two_versions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Begin an arena with a reference and two versions of a team."""
    accept_all(monkeypatch)
    arena = begin(folder / "arena", 1)
    for text in ("one", "two"):
        add(arena, text)
    arena.close()
    return folder / "arena"


def test_an_arena_plays_real_matches_and_prints_standings(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_versions(tmp_path, monkeypatch)
    done = referee("arena", "run", "arena", "--duels", "3", "--slots", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["duels"] == 3
    assert found["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 0, "total": 6}
    names = ("rank", "team", "version", "rating", "low", "high", "duels", "is_reference", "submitted")
    assert all(name in entry for entry in found["entries"] for name in names)
    assert {(entry["team"], entry["version"]) for entry in found["entries"]} == {("R0", 1), ("mine", 1), ("mine", 2)}
    assert len(list((tmp_path / "arena" / "replays").glob("*/*.replay.jsonl.gz"))) == 6
    shown = referee("arena", "standings", "arena")
    assert re.match(r"rank +version +rating +95 % +possible ranks +duels\n", shown.stdout)
    assert "mine v2 (active)" in shown.stdout
    assert shown.stdout.endswith("None of 2 versions leads: after 3 duels all pairs are even.\n")
    assert json.loads(referee("arena", "standings", "arena", "--json").stdout)["entries"] == found["entries"]

    checked = referee("arena", "verify", "arena")
    assert (checked.returncode, checked.stdout) == (0, "6 replays checked, 0 problems.\n")
    rows = list(csv.DictReader(referee("arena", "export", "arena", "--csv").stdout.splitlines()))
    assert len(rows) == 6
    assert {row["hunter"] for row in rows} | {row["prey"] for row in rows} <= {"R0 v1", "mine v1", "mine v2"}
    facts = {(row[seat], row[f"{seat}_note"], row[f"{seat}_submitted"]) for row in rows for seat in ("hunter", "prey")}
    submitted = {f"{entry['team']} v{entry['version']}": entry["submitted"] for entry in found["entries"]}
    assert facts == {(name, {"mine v1": "one", "mine v2": "two"}.get(name, ""), time) for name, time in submitted.items()}
    exported = json.loads(referee("arena", "export", "arena", "--json").stdout)
    assert len(exported["matches"]) == 6
    assert [team["team"] for team in exported["teams"]] == ["R0", "mine"]
    told = json.loads(referee("arena", "history", "arena", "mine", "--json").stdout)
    assert told["versions"] == exported["teams"][1]["versions"]
    assert [(one["version"], one["status"], one["note"]) for one in told["versions"]] == [(1, "accepted", "one"), (2, "accepted", "two")]
    assert sum(one["duels"] for one in told["versions"]) == sum(entry["duels"] for entry in found["entries"] if entry["team"] == "mine")
    assert all(one["ratings"][-1]["elo"] == one["rating"]["elo"] for one in told["versions"])
    text = referee("arena", "history", "arena", "mine").stdout
    assert re.search(r"^      2  active    \d{4}-\d\d-\d\d \d\d:\d\d UTC  +[+-]\d+ .*  two$", text, re.MULTILINE)
    assert re.search(r"^Version 2 against:\nopponent +duels  won  tied  lost\n", text, re.MULTILINE)

    # A rating that the replays don't give, and a replay that was changed.
    store = sqlite3.connect(tmp_path / "arena" / "arena.sqlite")
    with contextlib.closing(store), store:
        store.execute("update ratings set elo = elo + 1 where name = 'mine v1'")
    checked = referee("arena", "verify", "arena")
    assert checked.returncode == 1
    assert "After 3 duels, the ratings in the store differ from the replays: mine v1." in checked.stdout
    next((tmp_path / "arena" / "replays").glob("*/*.replay.jsonl.gz")).unlink()
    checked = json.loads(referee("arena", "verify", "arena", "--json").stdout)
    assert any("the file is missing" in problem for problem in checked["problems"])


def done_matches(folder: Path) -> int:
    """How many matches of an arena are done."""
    arena = open_arena(folder)
    try:
        return arena.counts().done
    finally:
        arena.close()


def has_done(folder: Path, count: int) -> bool:
    return done_matches(folder) >= count


@pytest.mark.slow
def test_an_arena_that_is_killed_loses_nothing_and_plays_no_match_twice(
    commands: Commands, referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = two_versions(tmp_path, monkeypatch)
    for matches in (1, 9):
        running = commands.start("arena", "run", "arena", "--slots", "2", "-q", cwd=tmp_path)
        running.until(partial(has_done, folder, matches))
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("replays/*/*.gz")}
    arena = open_arena(folder)
    stored = {match.record.replay_hash for match in done(arena)}
    assert len(stored) == arena.counts().done
    left = 24 - len(duel_results(arena))
    done_keys = {match.task.key for match in done(arena)}
    arena.close()
    ended = referee("arena", "run", "arena", "--duels", str(left), "--slots", "2", "--json", "-q")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["duels"] == 24
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("replays/*/*.gz")}
    kept = [name for name in before if name.partition(".")[0] in done_keys]
    assert len(kept) == len(done_keys)
    # What was stored was not played again.
    assert all(after[name] == before[name] for name in kept)
    arena = open_arena(folder)
    assert all(len(duel.keys) == 2 for duel in all_duels(arena))
    assert arena.counts().total == 48
    arena.close()


def test_a_frozen_arena_takes_no_version_and_its_final_is_a_league(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_versions(tmp_path, monkeypatch)
    assert referee("arena", "final", "arena", "final").stderr == "referee: A final needs two teams with an active version; there is one.\n"
    arena = open_arena(folder)
    add(arena, "three", "other")
    arena.close()
    assert referee("arena", "freeze", "arena").stdout.startswith("Submissions are closed. Open them: referee arena thaw ")
    refused = referee("arena", "add", "arena", "bot.py", "--team", "mine")
    assert (refused.returncode, "Submissions are closed" in refused.stderr) == (2, True)
    assert referee("arena", "final", "arena", "final", "--format", "chess").returncode == 2
    with ArenaStore.open(folder) as store:
        waiting = store.versions.hand_in("mine", "", "handed-in/bot.py")
        late = referee("arena", "final", "arena", "early", "--starts", "2")
        assert (late.returncode, "1 submission not checked yet" in late.stderr) == (0, True)
        checked = store.versions.move(CHECKER, waiting, CHECKING, {})
        assert checked is not None
        store.versions.move(CHECKER, checked, REFUSED, {})
        with store.database.write() as connection:
            connection.exec_driver_sql("delete from audit where action = 'final'")
    begun = referee("arena", "final", "arena", "final", "--format", "round-robin", "--starts", "2", "--json")
    assert (begun.returncode, begun.stderr) == (0, "")
    found = json.loads(begun.stdout)
    assert sorted(found["teams"]) == ["mine", "other"]
    published = tmp_path / "final" / "private" / "commitment.toml"
    assert found["file"] == "final/private/commitment.toml"
    assert not published.stat().st_mode & 0o077
    assert not published.parent.stat().st_mode & 0o077
    played = referee("league", "resume", "final", "--json", "-q")
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["matches"]["done"] == 4
    # Nobody could have chosen other starts after the commitment, and those of the league are these.
    assert found["commitment"] == hashlib.sha256(published.read_bytes()).hexdigest()
    (variant,) = json.loads(referee("league", "starts", published, "--json").stdout)["variants"]
    heads = [read_head(path, read_lines(path))[0] for path in (tmp_path / "final" / "replays").rglob("*.gz")]
    assert {(head["seed"], str(head["settings"])) for head in heads} == {
        (each["seed"], str(each["settings"])) for each in variant["starts"]
    }
    assert referee("arena", "final", "arena", "final").returncode == 2
    assert referee("arena", "thaw", "arena").stdout == "Submissions are open.\n"
    with ArenaStore.open(folder) as store:
        store.versions.disqualify("mine", "copied")
    refused = referee("arena", "add", "arena", "bot.py", "--team", "mine")
    assert (refused.returncode, "mine is disqualified (copied). To reinstate it" in refused.stderr) == (2, True)
    assert referee("arena", "add", "arena", "--activate", "mine", "1").returncode == 0
    with ArenaStore.open(folder) as store:
        assert store.versions.disqualified() == {}
        logged = [(entry.action, dict(entry.details)) for entry in reversed(store.audit.last())]
    by = {"by": "command line"}
    assert logged == [
        ("freeze", by),
        ("final", {"folder": "final", "teams": found["teams"], **by}),
        ("thaw", by),
        ("activate", {"team": "mine", "version": 1, **by}),
    ]


def test_a_version_that_is_added_while_others_play_plays_too(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_versions(tmp_path, monkeypatch)
    running = commands.start("arena", "run", "arena", "--slots", "2", "-q", cwd=tmp_path)
    running.until(lambda: done_matches(folder))
    arena = open_arena(folder)
    add(arena, "late", "late")
    running.until(lambda: any("late v1" in match.task.names.values() for match in done(arena)))
    arena.close()
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 130, told
    assert "Traceback" not in told


def test_ctrl_c_says_how_to_go_on(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_versions(tmp_path, monkeypatch)
    running = commands.start("arena", "run", "arena", "--slots", "1", "-q", cwd=tmp_path)
    running.until(lambda: done_matches(folder))
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 130, told
    assert "done and stored. Go on:  " in told
    assert "Traceback" not in told


def test_a_final_is_told_also_if_it_can_not_be_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 1)) as arena:
        for team in ("Ada", "Bob"):
            add(arena, team, team)

    def fails(*_: object) -> None:
        raise StoreError("The store can't be written: no room.")

    monkeypatch.setattr(Audit, "put", fails)
    final(folder=tmp_path / "arena", out=tmp_path / "final", kind="swiss", starts=1, as_json=True)
    out, err = capsys.readouterr()
    assert err == "note: The final is not in the audit log. The store can't be written: no room.\n"
    assert json.loads(out)["file"] == str(tmp_path / "final" / "private" / "commitment.toml")


def test_a_narrow_terminal_has_fewer_columns(referee: Cli, tmp_path: Path) -> None:
    begin(tmp_path / "arena", 2).close()
    heads = []
    for width in (100, 60, 40):
        table = referee("arena", "standings", "arena", env={"COLUMNS": f"{width}"}).stdout.splitlines()[:3]
        heads.append(table[0].split())
        assert max(map(len, table)) <= width
        assert [line.split()[1] for line in table[1:]] == ["R0", "R1"]
    every = ["rank", "version", "rating", "95", "%", "possible", "ranks", "duels"]
    assert heads == [every, [*every[:5], "duels"], ["rank", "version", "rating", "duels"]]


def test_a_note_is_as_long_as_pages_show(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    begin(tmp_path / "arena", 1).close()
    (tmp_path / "bot.py").write_text(IDLE)
    refused = referee("arena", "add", "arena", "bot.py", "--team", "Ada", "--note", 201 * "n")
    assert refused.stderr == "referee: --note has 201 characters, but at most 200 are shown; make it shorter.\n"
    assert referee("arena", "add", "arena", "bot.py", "--team", "Ada", "--note", "two\n  lines").returncode == 0
    assert json.loads(referee("arena", "history", "arena", "Ada", "--json").stdout)["versions"][0]["note"] == "two lines"


def test_a_run_goes_on_when_the_active_version_is_activated(commands: Commands, tmp_path: Path) -> None:
    begin(tmp_path / "arena", 2).close()
    running = commands.start("arena", "run", "arena", "--duels", "30", "-q", cwd=tmp_path)
    with ArenaStore.open(tmp_path / "arena") as store:
        running.until(lambda: store.core.tally().played)
        active = store.versions.all()[0]
        store.versions.activate(active.team, active.name)
        running.communicate(60)
        assert (running.returncode, store.core.tally().played) == (0, 60)


def test_in_the_final_of_one_role_all_meet_the_same_reference(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 3, 'roles = "hunter"\nagainst = ["R2", "R1"]')) as arena:
        for team in ("Ada", "Bob"):
            add(arena, team, team)
    assert referee("arena", "final", "arena", "final", "--starts", "3", "--format", "round-robin").returncode == 0
    assert referee("league", "resume", "final", "-q").returncode == 0
    rows = json.loads(referee("league", "export", "final", "--json").stdout)["matches"]
    assert sorted((row["start"], row["seats"]["hunter"]) for row in rows) == [
        (start, team) for start in range(3) for team in ("Ada", "Bob")
    ]
    # Whoever is the hunter, the prey is the first of those against whom versions play.
    heads = [json.loads(gzip.decompress(path.read_bytes()).partition(b"\n")[0]) for path in (tmp_path / "final").rglob("*.jsonl.gz")]
    assert [PurePath(head["players"]["prey"]["program"]).name for head in heads] == ["reference2.py"] * 6


#: Every version of it fails as a prey.
BROKEN = IDLE.replace(
    'message["type"] == "turn":',
    'message["type"] == "turn" and "prey" in seat:\n        raise ValueError("no idea")\n    elif message["type"] == "turn":',
).replace('if message["type"] == "start":', 'if message["type"] == "start":\n        seat = message["seat"]')


@pytest.mark.slow
def test_a_version_is_checked_when_it_is_added(referee: Cli, tmp_path: Path) -> None:
    write_arena(tmp_path / "arena")
    assert referee("arena", "new", "arena").returncode == 0
    (tmp_path / "good.py").write_text(IDLE)
    (tmp_path / "bad.py").write_text(BROKEN)
    (tmp_path / "hunter.py").write_text("import sys\nsys.exit('I only hunt')\n")
    done = referee("arena", "add", "arena", "good.py", "--team", "mine", "--note", "=1+1", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine: version 1 is accepted, and active." in done.stdout
    done = referee("arena", "add", "arena", "bad.py", "--team", "mine", timeout=600)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mine: version 2 is refused. The check " in done.stdout
    assert "no idea" in done.stdout
    done = referee("arena", "add", "arena", "hunter.py", "--team", "mine", "--json", timeout=600)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "prey" in json.loads(done.stdout)["report"]["reason"]
    arena = open_arena(tmp_path / "arena")
    assert [(one.name, one.status) for one in arena.versions] == [("R0 v1", "accepted"), ("mine v1", "accepted"), ("mine v2", "refused")]
    arena.close()


@pytest.mark.parametrize(("game", "seat"), [("evasion", "hunter"), ("evasion", "prey"), ("maze", "thief"), ("maze", "policeman")])
def test_an_arena_of_one_seat_begins_with_an_option(game: str, seat: str, referee: Cli, tmp_path: Path) -> None:
    done = referee("arena", "new", "arena", "--game", game, "--seat", seat)
    assert done.returncode == 0, done.stderr
    with contextlib.closing(open_arena(tmp_path / "arena")) as arena:
        config = arena.config
        assert (config.seat, config.seats) == (seat, (seat,))
        assert len(config.against) >= 1
        assert len(config.references) >= 2
