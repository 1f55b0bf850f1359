"""Teams that withdraw or get another program: a deleted file stops no league for ever, and what was replaced counts nowhere."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest
from leagues import IDLE, Notes, PretendPool, move_store, open_new, play, write_league

from referee.errors import UsageError
from referee.gallery.listing import scan
from referee.league.changes import REPLACED, changed_teams, replace_team, replacement, start_anew, withdraw_team
from referee.league.engine import Engine
from referee.league.schedule import ROUND_BY_ROUND

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    from referee.league.league import OpenLeague
    from referee.league.values import MatchTask
    from referee.league.worker import Report

    Referee = Callable[..., subprocess.CompletedProcess[str]]

FORMATS = ("round-robin", "gauntlet", "swiss", "elimination")


def run(opened: OpenLeague, most: int = 1000) -> PretendPool:
    """Play what is left of a league with workers that pretend; it is stopped when so many matches are done."""
    left = iter(range(most))

    def play_some(task: MatchTask) -> Report:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return play(task)

    pool = PretendPool(play_some)
    with contextlib.suppress(KeyboardInterrupt):
        Engine(opened.store, pool, opened.schedule, Notes()).run()
    return pool


def played(opened: OpenLeague) -> dict[str, int]:
    return {row.team: row.played for row in opened.rows(opened.state().results)}


@pytest.fixture(scope="module")
def finished(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league of three teams with real matches, and a fourth team's program beside them; nobody changes it."""
    home = tmp_path_factory.mktemp("league")
    file = write_league(home / "in", 3)
    (home / "in" / "other.py").write_text(f"# another one\n{IDLE}")
    assert commands.run("league", "run", file, "--out", "out", "--quiet", cwd=home).returncode == 0
    return home


@pytest.fixture
def league(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished league."""
    for folder in ("in", "out"):
        shutil.copytree(finished / folder, tmp_path / folder)
    move_store(tmp_path / "out" / "league.sqlite", finished, tmp_path)
    return tmp_path / "out"


def test_a_team_without_its_file_can_withdraw_and_come_back(referee: Referee, league: Path) -> None:
    gone = league.parent / "in" / "bot1.py"
    text = gone.read_text()
    gone.unlink()
    refused = referee("league", "resume", league, "--force")
    assert refused.returncode == 2
    assert "can't play" in refused.stderr
    assert f"league replace {league} T1 PROGRAM" in refused.stderr
    assert f"league withdraw {league} T1" in refused.stderr
    left = referee("league", "withdraw", league, "T1")
    assert (left.returncode, left.stdout) == (0, "T1 has withdrawn: its duels count for nobody.\n")
    again = referee("league", "withdraw", league, "T1")
    assert (again.returncode, "has withdrawn already" in again.stderr) == (2, True)
    resumed = referee("league", "resume", league)
    assert resumed.returncode == 0, resumed.stderr
    assert "note: T1 has withdrawn" in resumed.stdout
    rows = json.loads(referee("league", "standings", league, "--json").stdout)["standings"]
    assert [(row["team"], row["played"]) for row in rows] == [("T0", 1), ("T2", 1)]
    assert referee("league", "verify", league).stdout.endswith("6 replays checked, 0 problems.\n")
    assert referee("league", "report", league).returncode == 0
    assert "T1 has withdrawn" in (league / "report.html").read_text()
    gone.write_text(text)
    back = referee("league", "replace", league, "T1")
    assert back.returncode == 0, back.stderr
    rows = json.loads(referee("league", "standings", league, "--json").stdout)["standings"]
    assert sorted((row["team"], row["played"], row["withdrawn"]) for row in rows) == [(f"T{team}", 2, False) for team in range(3)]
    assert referee("league", "verify", league).stdout == "6 replays checked, 0 problems.\n"


@pytest.mark.parametrize("words", [("T1", "in/other.py"), ("in/other.py", "--name", "T1"), ("in/T1.py",)])
def test_another_program_takes_the_place_of_a_teams(words: tuple[str, ...], referee: Referee, league: Path) -> None:
    (league.parent / "in" / "bot1.py").unlink()
    (league.parent / "in" / "T1.py").write_text(f"# another one\n{IDLE}")
    before = {found.path.name for found in scan(league)[0]}
    done = referee("league", "replace", league, *words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["complete"], found["matches"]["done"]) == (True, 6)
    # The four matches of before are in no gallery and no report, and aren't lost.
    after = {found.path.name for found in scan(league)[0]}
    assert (len(after), len(before & after)) == (6, 2)
    assert {path.name for path in (league / REPLACED).glob("*.gz")} == before - after
    assert referee("league", "verify", league).stdout == "6 replays checked, 0 problems.\n"
    assert referee("league", "resume", league).returncode == 0


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_team_that_can_not_play_does_not_keep_another_one_from_a_new_program(is_deleted: bool, referee: Referee, league: Path) -> None:
    other = league.parent / "in" / "bot1.py"
    text = other.read_text()
    if is_deleted:
        other.unlink()
    else:
        other.write_text(f"{text}# changed\n")
    done = referee("league", "replace", league, "T0", league.parent / "in" / "other.py")
    assert done.returncode == 0, done.stderr
    told = next(line for line in done.stderr.splitlines() if line.startswith("The matches of T1 were not played: "))
    assert (f"league withdraw {league} T1" if is_deleted else f"league resume {league} --force") in told
    assert ("?." in told, "''" in told) == (False, False)
    rows = json.loads(referee("league", "standings", league, "--json").stdout)["standings"]
    assert {row["team"]: row["played"] for row in rows} == {"T0": 1, "T1": 1, "T2": 2}
    other.write_text(text)
    assert referee("league", "resume", league).returncode == 0
    rows = json.loads(referee("league", "standings", league, "--json").stdout)["standings"]
    assert {row["team"]: row["played"] for row in rows} == {"T0": 2, "T1": 2, "T2": 2}
    assert referee("league", "verify", league).stdout.endswith("6 replays checked, 0 problems.\n")


def test_names_that_the_league_does_not_have_are_refused(referee: Referee, league: Path) -> None:
    for words, told in (
        (("withdraw", league, "t1"), "did you mean T1?"),
        (("withdraw", league, "Eve"), "there are T0, T1, T2."),
        (("replace", league, "in/other.py"), "has no team other"),
        (("replace", league, "T1", "in/other.py", "--name", "T1"), "leave PROGRAM out"),
        (("replace", league, "T1", "in/none.py"), "can't play"),
    ):
        refused = referee("league", *words)
        assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
    assert referee("league", "withdraw", league, "T1").returncode == 0
    refused = referee("league", "withdraw", league, "T2")
    assert (refused.returncode, "a league needs two teams" in refused.stderr) == (2, True)


def begun(folder: Path, kind: str, done: int = 1000) -> OpenLeague:
    """A league of six teams, of which so many matches are done; a Swiss one has three rounds."""
    opened = open_new(folder, teams=6, extra=f'format = "{kind}"\n[starts]\ncount = 2\n', settings="width = 30\nheight = 30\n")
    run(opened, done)
    return opened


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("done", [0, 7, 15])
def test_a_league_goes_on_without_a_team(kind: str, done: int, tmp_path: Path) -> None:
    opened = begun(tmp_path, kind, done)
    before = played(opened)
    opened = withdraw_team(opened, "T3")
    pool = run(opened)
    assert opened.store.counts().planned == 0
    assert not [task for task in pool.played if "T3" in task.seats.values()]
    if kind in ("swiss", "elimination"):
        # The teams that it met keep these results, and win the others.
        assert played(opened)["T3"] >= before["T3"]
    else:
        assert "T3" not in played(opened)
    assert any("T3 has withdrawn" in note for note in opened.notes(opened.state().results))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("done", [0, 7, 15, 1000])
def test_changed_files_are_played_again_in_every_format(kind: str, done: int, tmp_path: Path) -> None:
    """Pairs of later rounds depend on the matches that are played again: those rounds are played anew."""
    opened = begun(tmp_path, kind, done)
    (tmp_path / "in" / "bot3.py").write_text(IDLE + "# changed\n")
    teams = {name: one.team for name, one in changed_teams(opened).items() if one.team is not None}
    again = start_anew(opened, teams)
    assert all("T3" not in {*stored.task.seats.values()} for stored in again.store.matches(done=True))
    if kind in ROUND_BY_ROUND:
        first = min((duel.round for duel in again.store.duels() if "T3" in duel.teams), default=0)
        assert max(duel.round for duel in again.store.duels()) == first, "later pairs would contradict the new results"
    run(again)
    fresh = begun(tmp_path / "fresh", kind)
    assert (again.store.counts().done, again.store.counts().planned) == (fresh.store.counts().done, 0)
    keys = {task.key for duel in again.store.duels() for task in again.schedule.tasks(duel)}
    assert keys == {stored.task.key for stored in again.store.matches()}


def test_equal_files_at_another_place_keep_their_results(tmp_path: Path) -> None:
    opened = begun(tmp_path, "round-robin")
    (tmp_path / "moved").mkdir()
    (tmp_path / "in" / "bot3.py").rename(tmp_path / "moved" / "bot3.py")
    before = opened.store.counts()
    moved = replace_team(opened, replacement(opened, "T3", str(tmp_path / "moved" / "bot3.py")))
    assert (moved.store.counts(), changed_teams(moved)) == (before, {})


def test_the_last_champion_of_a_gauntlet_stays(tmp_path: Path) -> None:
    opened = begun(tmp_path, "gauntlet")
    with pytest.raises(UsageError, match="it is the last champion"):
        withdraw_team(opened, "T0")
