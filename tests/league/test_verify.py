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
from broken_bots import NAMES
from leagues import IDLE, write_league

from referee.league.league import open_league
from referee.league.verify import verify_league
from referee.players.languages import named
from referee.tournament.replays import ReplayCheck
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


def check(folder: Path) -> ReplayCheck:
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


def statements(folder: Path, query: str) -> list[str]:
    """The first column of a query on a league's store."""
    with contextlib.closing(sqlite3.connect(folder / "league.sqlite")) as store:
        return [row[0] for row in store.execute(query)]


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


#: How a record says that a team's program can't be started.
UNSTARTABLE = (
    "update records set replay = '', result = json_set(result, '$.started', json('false'), '$.faults', json('{\"hunter\": \"%s\"}'))"
)
#: A change of a finished league of three teams behind its back, and what is told of it.
CHANGES = [
    (
        UNSTARTABLE % "made up" + " where number = 1",
        "can't start (made up), so it loses all its duels, but 3 replays of it show that it started.",
    ),
    ('update records set result = replace(result, \'"reason":"evaded"\', \'"reason":"caught"\')', "its reason differs"),
    ('update records set result = replace(result, \'"text":"\', \'"text":"Not: \')', "its text differs"),
    ('update records set result = replace(result, \'"seconds":{"hunter":\', \'"seconds":{"hunter":9\')', "its seconds differs"),
    ('update records set result = replace(result, \'"faults":{}\', \'"faults":{"prey":"late"}\')', "its faults differs"),
    ("update records set result = replace(result, '\"started\":true', '\"started\":false')", "its started differs"),
    ("update records set replay = (select replay from records where number = 1)", "it is the replay of other teams"),
    ("update records set replay = 'replays/gone' where number = 1", "the file is missing"),
]


@pytest.mark.parametrize(("statement", "told"), CHANGES)
def test_what_was_changed_in_the_store_is_found(statement: str, told: str, played: Callable[[int], Path]) -> None:
    out = played(3)
    change(out, statement)
    assert any(told in problem for problem in check(out).problems), check(out)


#: The matches of a team, in SQL.
OF_T3 = "key in (select key from tasks where seats like '%T3%')"


def test_what_only_the_store_says_is_noted(referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(4)
    for replay in statements(out, f"select replay from records where {OF_T3}"):
        (out / replay).unlink()
    first = statements(out, f"select min(number) from records where {OF_T3}")[0]
    (seats,) = statements(out, f"select seats from tasks join records using (key) where number = {first}")
    seat = next(seat for seat, (team, _) in json.loads(seats).items() if team == "T3")
    change(out, f"{UNSTARTABLE % 'No such file.'} where number = {first}".replace("hunter", seat))
    change(out, f"update records set counts = 0, void = 'The disk is full.' where {OF_T3} and replay <> ''")
    found = check(out)
    assert found.problems == []
    assert found.notes == [
        "The store says that T3 can't start (No such file); there is no replay of it, so only the store shows that.",
        "6 of 12 matches are not to be played; only the store says why.",
    ]
    told = referee("league", "verify", out)
    assert told.returncode == 0
    assert "note: 6 of 12 matches are not to be played" in told.stdout
    assert told.stdout.endswith("6 replays checked, 0 problems.\n")


def test_matches_that_are_missing_are_noted(played: Callable[[int], Path]) -> None:
    out = played(3)
    for replay in statements(out, "select replay from records where number > 4"):
        (out / replay).unlink()
    change(out, "delete from records where number > 4")
    assert check(out) == ReplayCheck(4, [], ["2 of 6 matches are not played yet."])


@pytest.mark.parametrize("count", [1, 6])
def test_records_that_a_store_has_lost_are_named_and_played_again(count: int, referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(3)
    change(out, f"delete from records where number <= {count}")
    found = check(out)
    assert len(found.problems) == count
    assert all(problem.endswith(": the store has no record of it, so it will be played again.") for problem in found.problems)
    resumed = referee("league", "resume", out, "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    assert check(out) == ReplayCheck(6, [], [])


def test_one_problem_is_one_problem(referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(2)
    next((out / "replays").rglob("*.gz")).unlink()
    assert referee("league", "verify", out).stdout.endswith("2 replays checked, 1 problem.\n")


def test_matches_that_end_meanwhile_are_no_problem(played: Callable[[int], Path]) -> None:
    """Each time that a replay was checked, the running league stores another result."""
    out = played(4)
    missing = statements(out, "select key from records where number > 3")
    change(out, "update records set counts = 0 where number > 3")
    opened = open_league(out)

    def goes_on(*_: int) -> None:
        if missing:
            change(out, "update records set counts = 1 where key = ?", missing.pop())

    problems = ["not checked"]

    def checks() -> None:
        with opened.store.claim():
            problems[:] = verify_league(opened, goes_on).problems

    worker = threading.Thread(target=checks)
    worker.start()
    worker.join()
    opened.close()
    assert problems == []
    while missing:
        goes_on()
    assert check(out).problems == []


WRONG = ["{}", "no JSON", '"text"', "[]", "null", '{"winner": 5}']


@pytest.mark.slow
@pytest.mark.parametrize("result", WRONG)
def test_a_result_that_cannot_be_read_is_a_sentence(result: str, referee: Referee, played: Callable[[int], Path]) -> None:
    out = played(2)
    change(out, "update records set result = ? where number = 1", result)
    opened = open_league(out)
    with pytest.raises(StoreError, match=r"can.t be read .*Restore the file from a copy"):
        opened.view.state()
    opened.close()
    if result != WRONG[0]:
        return
    for words in (("standings", out), ("report", out), ("export", out, "--csv"), ("verify", out), ("resume", out)):
        told = referee("league", *words)
        assert (told.returncode, "Traceback" in told.stderr) == (4, False), told.stderr


BAD_ROWS = [
    "update league set league = '{'",
    "update league set league = '[]'",
    "update league set league = json_remove(league, '$.name')",
    "update records set result = json_remove(result, '$.hit')",
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
    change(tmp_path / "out", "update league set league = json_set(league, '$.teams[2].files.hunter.\".\"', 'x')")
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
