"""``league verify``: the replays are the proof, and the store is what is checked."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from built_starters import NAMES
from leagues import IDLE, write_league

from referee.league.check import LeagueReport, verify_league
from referee.league.league import open_league
from referee.players.languages import named
from referee.tournament.transactions import StoreError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from commands import Commands

    Referee = Callable[..., subprocess.CompletedProcess[str]]

BROKEN = "import no_such_module\n"


def play(referee: Referee, tmp_path: Path, bots: dict[int, str] | None = None, **options: Any) -> Path:
    """Play a league of real bots; return its folder."""
    file = write_league(tmp_path / "in", options.pop("teams", 3), **options)
    for number, text in (bots or {}).items():
        (tmp_path / "in" / f"bot{number}.py").write_text(text)
    done = referee("league", "run", file, "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


@pytest.fixture(scope="module")
def originals() -> dict[int, Path]:
    """The leagues that were played, by the number of their teams."""
    return {}


@pytest.fixture
def played(originals: dict[int, Path], referee: Referee, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Returns a copy of a league of so many teams that was played once for all tests."""

    def copied(teams: int) -> Path:
        if teams not in originals:
            originals[teams] = play(referee, tmp_path_factory.mktemp("league"), teams=teams)
        return Path(shutil.copytree(originals[teams], tmp_path / "out"))

    return copied


def check(folder: Path) -> LeagueReport:
    """Check a league."""
    opened = open_league(folder)
    try:
        return verify_league(opened)
    finally:
        opened.close()


def change(folder: Path, statement: str, *values: object) -> None:
    """Change a league's store behind its back."""
    with contextlib.closing(sqlite3.connect(folder / "league.sqlite")) as store, store:
        assert store.execute(statement, values).rowcount > 0


#: Bots that fail in other ways: in the first move, in the third one, and by an answer before the start.
FAILS_AT_ONCE = IDLE.replace('message["type"] == "turn":', 'message["type"] == "turn":\n        sys.exit(3)')
FAILS_LATER = IDLE.replace(
    'message["type"] == "turn":', 'message["type"] == "turn" and message["turn"] == 3:\n        sys.exit(3)\n    elif True:'
)
SPEAKS_FIRST = "print('hello', flush=True)\n" + IDLE

GOOD: list[tuple[dict[int, str], dict[str, Any], list[str]]] = [
    ({}, {}, []),
    # Repetitions of a deterministic pair don't count.
    ({}, {"extra": "repeat = 2"}, []),
    ({2: BROKEN}, {}, []),
    ({0: FAILS_AT_ONCE, 1: FAILS_LATER, 2: SPEAKS_FIRST}, {}, []),
    ({1: BROKEN, 2: BROKEN}, {}, []),
]


@pytest.mark.parametrize(
    ("bots", "options", "problems"), [*GOOD[:2], *(pytest.param(*row, marks=[pytest.mark.slow, pytest.mark.again]) for row in GOOD[2:])]
)
def test_a_league_that_nobody_changed_has_no_problem(
    bots: dict[int, str], options: dict[str, Any], problems: list[str], referee: Referee, tmp_path: Path
) -> None:
    found = check(play(referee, tmp_path, bots, **options))
    assert found.problems == problems
    assert found.replays > 0


#: A change of a finished league of three teams behind its back, and what is told of it.
CHANGES = [
    ("update teams set forfeit = 'made up' where name = 'T0'", "The store says that T0 can't start (made up)"),
    ('update matches set result = replace(result, \'"reason":"evaded"\', \'"reason":"caught"\')', "its reason differs"),
    ('update matches set result = replace(result, \'"text":"\', \'"text":"Not: \')', "its text differs"),
    ('update matches set result = replace(result, \'"seconds":{"hunter":\', \'"seconds":{"hunter":9\')', "its seconds differs"),
    ('update matches set result = replace(result, \'"faults":{}\', \'"faults":{"prey":"late"}\')', "its faults differs"),
    ("update matches set result = replace(result, '\"started\":true', '\"started\":false')", "its started differs"),
    ("update matches set seed = seed + 1", "the league's schedule has no such match"),
]


@pytest.mark.parametrize(("statement", "told"), CHANGES)
def test_what_was_changed_in_the_store_is_found(statement: str, told: str, played: Callable[[int], Path]) -> None:
    out = played(3)
    change(out, statement)
    assert any(told in problem for problem in check(out).problems), check(out)


def test_what_only_the_store_says_is_noted(referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(4)
    change(out, "update matches set status = 'planned', result = null where seats like '%T3%'")
    change(out, "update teams set forfeit = 'No such file.' where name = 'T3'")
    change(out, "update matches set status = 'stopped' where key in (select key from matches where status = 'planned' limit 1)")
    found = check(out)
    assert found.problems == []
    assert found.notes == [
        "The store says that T3 can't start (No such file); there is no replay of it, so nothing but the store shows that.",
        "5 of 12 matches are not played yet.",
        "1 of 12 matches is not to be played; only the store says why.",
    ]
    told = referee("league", "verify", out)
    assert told.returncode == 0
    assert "note: 5 of 12 matches are not played yet." in told.stdout
    assert told.stdout.endswith("6 replays checked, 0 problems.\n")


HAS_ITS_REPLAY = "the store has lost it; its replay is there."
#: What a store of a finished league of three teams has lost, what is told of each, and whether the league goes on: it plays the last duels again.
LOST = [
    ("delete from matches where rowid = 1", [HAS_ITS_REPLAY], False),
    ("delete from matches", [HAS_ITS_REPLAY] * 6, False),
    ("delete from duels where number = 1", ["The duel 2: the store has lost it."], False),
    ("delete from duels", [f"The duel {number}: the store has lost it." for number in (1, 2, 3)], False),
    ("delete from duels where number = 0; delete from matches where duel = 0", ["The duel 1: the store has lost it."], False),
    ("delete from duels where number = 2; delete from matches where duel = 2", [HAS_ITS_REPLAY] * 2, True),
    ("delete from duels; delete from matches", [HAS_ITS_REPLAY] * 6, True),
]


def lose(folder: Path, statements: str) -> None:
    for statement in statements.split("; "):
        change(folder, statement)


@pytest.mark.parametrize(("statements", "told", "goes_on"), LOST)
def test_what_a_store_has_lost_is_named(
    statements: str, told: list[str], goes_on: bool, referee: Referee, played: Callable[[int], Path]
) -> None:
    out = played(3)
    lose(out, statements)
    found = check(out)
    assert len(found.problems) == len(told)
    assert all(problem.endswith(words) for problem, words in zip(found.problems, told, strict=True))
    resumed = referee("league", "resume", out, "--quiet")
    assert (resumed.returncode, "Restore the file from a copy." in resumed.stderr) == ((0, False) if goes_on else (4, True)), resumed.stderr
    if goes_on:
        assert check(out) == LeagueReport(6, [], [])


def test_a_store_that_has_lost_a_team_is_refused(referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(3)
    change(out, "delete from teams where name = 'T1'")
    for command in ("verify", "standings", "resume"):
        told = referee("league", command, out)
        assert (told.returncode, "has lost the team T1, whose duels it has" in told.stderr) == (4, True), told.stderr


def test_one_problem_is_one_problem(referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(2)
    next((out / "replays").rglob("*.gz")).unlink()
    assert referee("league", "verify", out).stdout.endswith("2 replays checked, 1 problem.\n")


def test_matches_that_end_meanwhile_are_no_problem(played: Callable[[int], Path]) -> None:
    """Each time that a replay was checked, the running league stores another result."""
    out = played(4)
    with contextlib.closing(sqlite3.connect(out / "league.sqlite")) as store, store:
        results = store.execute("select key, result from matches where duel > 0").fetchall()
        store.execute("update matches set status = 'planned', result = null where duel > 0")
    opened = open_league(out)

    def goes_on(*_: int) -> None:
        if results:
            key, result = results.pop()
            with contextlib.closing(sqlite3.connect(out / "league.sqlite", timeout=30)) as store, store:
                store.execute("update matches set status = 'done', result = ? where key = ?", (result, key))

    def checks() -> None:
        assert verify_league(opened, goes_on).problems == []

    worker = threading.Thread(target=checks)
    worker.start()
    worker.join()
    opened.close()
    assert check(out).problems == []


WRONG = ["{}", "no JSON", '"text"', "[]", "null", '{"winner": 5}']


@pytest.mark.slow
@pytest.mark.parametrize("result", WRONG)
def test_a_result_that_cannot_be_read_is_a_sentence(result: str, referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(2)
    change(out, "update matches set result = ? where game_number = 0", result)
    opened = open_league(out)
    with pytest.raises(StoreError, match=r"can.t be read. Restore the file from a copy"):
        opened.state()
    opened.close()
    if result != WRONG[0]:
        return
    for words in (("standings", out), ("report", out), ("export", out, "--csv"), ("verify", out), ("resume", out)):
        told = referee("league", *words)
        assert (told.returncode, "Traceback" in told.stderr) == (4, False), told.stderr


BAD_ROWS = [
    "update duels set teams = 'no JSON'",
    "update teams set files = '['",
    "update matches set seats = '7'",
    "update facts set value = '{' where name = 'league'",
    "update facts set value = '[]' where name = 'league'",
]


@pytest.mark.slow
@pytest.mark.parametrize("statement", BAD_ROWS)
def test_a_damaged_row_is_a_sentence(statement: str, referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(2)
    change(out, statement)
    for command in ("standings", "verify", "resume"):
        told = referee("league", command, out)
        assert (told.returncode in (2, 4), "Traceback" in told.stderr) == (True, False), told.stderr
        assert told.stderr.splitlines()[-1].startswith(("referee: The store", "referee: This is not a league"))


@pytest.mark.slow
def test_the_store_of_another_league_is_refused(commands: Commands, referee: Referee, tmp_path: Path) -> None:
    ours, theirs = play(referee, tmp_path / "a", teams=2), play(referee, tmp_path / "b", teams=2)
    (theirs / "league.sqlite").replace(ours / "league.sqlite")
    for command in ("standings", "resume", "verify"):
        told = referee("league", command, ours)
        assert (told.returncode, "is the file of another league (test)" in told.stderr) == (2, True), told.stderr
    # Without the id there is nothing to compare.
    (ours / "league.id").unlink()
    assert json.loads(referee("league", "standings", ours, "--json").stdout)["league"] == "test"


#: Folders with a bot.toml: what it says, and the name of the file with the program.
FOLDERS = {
    "build": ('build = "sh build.sh"', "bot.py"),
    "seats": ('[hunter]\nrun = "./play.py"\n[prey]\nbuild = "sh build.sh"\nrun = "./made.py"', "play.py"),
}


def write_folders(top: Path, folders: dict[str, Path]) -> Path:
    """Write a league of teams that are folders; return its file."""
    file = write_league(top, 1)
    tables = "".join(f"[[teams]]\nname = {json.dumps(name)}\nprogram = {json.dumps(str(folder))}\n" for name, folder in folders.items())
    file.write_text(f"{file.read_text().replace('[settings]', 'time.startup = 60' + chr(10) + '[settings]')}\n{tables}")
    return file


def test_folders_with_commands_of_their_own_verify(referee: Referee, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    folders = {}
    for name, (text, program) in FOLDERS.items():
        folders[name] = tmp_path / name
        folders[name].mkdir()
        (folders[name] / "bot.toml").write_text(text)
        (folders[name] / "build.sh").write_text(f"cp {program} made.py\n")
        (folders[name] / program).write_text(f"#!/usr/bin/env python3\n{IDLE}")
        (folders[name] / program).chmod(0o755)
    done = referee("league", "run", write_folders(tmp_path / "in", folders), "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    found = check(tmp_path / "out")
    assert (found.problems, found.notes) == ([], [])
    # The replay of another program is a problem.
    change(tmp_path / "out", "update teams set files = json_set(files, '$.hunter.\".\"', 'x') where name = 'seats'")
    problems = check(tmp_path / "out").problems
    assert len(problems) == 2
    assert all("the hunter's program in it is not that of seats" in problem for problem in problems)


@pytest.mark.slow
def test_starters_of_all_languages_verify(referee: Referee, tmp_path: Path) -> None:
    folders = {}
    for name in NAMES:
        if named(name).missing():
            continue
        folders[name] = tmp_path / f"bot-{name}"
        done = referee("new", "hunter", str(folders[name]), "--folder", "--lang", name)
        assert done.returncode == 0, done.stderr
    file = tmp_path / "league.toml"
    tables = "".join(f'[[teams]]\nname = "{name}"\nhunter = "{folder}"\nprey = "runner"\n' for name, folder in folders.items())
    file.write_text(f'name = "test"\nisolation = "none"\ntime.startup = 120\n[settings]\nmax_steps = 20\n{tables}')
    done = referee("league", "run", file, "--out", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    found = check(tmp_path / "out")
    assert (found.problems, found.notes) == ([], [])
