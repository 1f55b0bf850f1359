"""Teams that join and files that change, in leagues that end early or are running: nothing is half done."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from leagues import IDLE, Notes, PretendPool, open_new, record, write_league

from referee.errors import UsageError
from referee.league.changes import add_team, changed_teams, joining, start_anew
from referee.league.engine import Engine
from referee.league.results import comparisons
from referee.league.store import Store
from referee.league.values import Duel, DuelResult, MatchTask
from referee.league.worker import Played, Report

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from referee.league.league import OpenLeague

    Referee = Callable[..., subprocess.CompletedProcess[str]]

#: Ends as soon as the first place is certain.
EARLY: dict[str, Any] = {"extra": 'stop = "top 1"\n[starts]\ncount = 30\n', "settings": "width = 30\nheight = 30\n"}


def strength(task: MatchTask) -> Report:
    """T0 catches everybody at once, and the others are level."""
    fast = task.seats["hunter"] == "T0"
    return Played(record(task, 5 if fast else 20 + (task.duel + task.game_number) % 5))


def run(opened: OpenLeague) -> tuple[PretendPool, Notes]:
    """Play a league with workers that pretend."""
    pool, notes = PretendPool(strength), Notes()
    Engine(opened.store, pool, opened.schedule, notes).run()
    return pool, notes


def decided_league(folder: Path) -> OpenLeague:
    """A league of three teams that has ended early."""
    opened = open_new(folder, teams=3, **EARLY)
    run(opened)
    assert opened.store.fact("decided") is not None
    assert opened.store.counts().stopped > 0
    return opened


def rows(opened: OpenLeague) -> dict[str, tuple[float, int]]:
    """The points and the duels of each team."""
    return {place.row.team: (place.row.points, place.row.played) for place in opened.standings(opened.state().results, resamples=50)}


def test_a_team_that_joins_opens_a_decided_league_again(tmp_path: Path) -> None:
    opened = decided_league(tmp_path)
    before = opened.store.counts()
    (tmp_path / "late.py").write_text(IDLE)
    opened = add_team(opened, joining(opened, str(tmp_path / "late.py"), "Late"))
    after = opened.store.counts()
    assert (opened.store.fact("decided"), after.stopped, after.done) == (None, 0, before.done)
    assert after.planned == before.stopped
    assert opened.store.duel_notes() == {}
    run(opened)
    # The standings are those of all duels: the results from before count as well. T0 has won them all, so this league ends early, too.
    assert opened.store.fact("decided") is not None
    assert set(rows(opened)) == {"T0", "T1", "T2", "Late"}
    assert all(played >= 24 for _, played in rows(opened).values())
    points, played = rows(opened)["T0"]
    assert points == played


def test_changed_files_open_a_decided_league_again_for_all(tmp_path: Path) -> None:
    opened = decided_league(tmp_path)
    (tmp_path / "in" / "bot1.py").write_text(IDLE + "# changed\n")
    opened = start_anew(opened, {name: found.team for name, found in changed_teams(opened).items() if found.team is not None})
    assert (opened.store.fact("decided"), opened.store.duel_notes(), opened.store.counts().stopped) == (None, {}, 0)
    run(opened)
    played = [count for _, count in rows(opened).values()]
    assert max(played) - min(played) <= 2


NAMES = [
    ("  ", "is empty"),
    ("x" * 90, "the limit is 40"),
    ("\x1b[31mred", "control character"),
    ("\u202etfel", "control character or an invisible one"),
    ("!!!", "no letter and no digit"),
    (" edge", "begins or ends with a space"),
    ("t0", "There is a team T0 already"),
]


@pytest.mark.parametrize(("name", "told"), NAMES)
def test_the_name_of_a_team_that_joins_is_checked_as_in_the_file(name: str, told: str, tmp_path: Path) -> None:
    opened = open_new(tmp_path, teams=2)
    (tmp_path / "late.py").write_text(IDLE)
    with pytest.raises(UsageError, match=told) as caught:
        joining(opened, str(tmp_path / "late.py"), name)
    assert str(caught.value).isprintable()


def test_a_name_of_mixed_alphabets_that_looks_like_a_teams_is_refused_with_both_named(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(IDLE)
    opened = open_new(tmp_path, teams=2)
    opened = add_team(opened, joining(opened, str(tmp_path / "late.py"), "Ada"))
    with pytest.raises(UsageError, match="There is a team Ada already, and \u0410da looks like it"):
        joining(opened, str(tmp_path / "late.py"), "\u0410da")


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
    (tmp_path / "late.py").write_text(IDLE)
    for command in (("add", out, tmp_path / "late.py"), ("resume", out)):
        refused = referee("league", *command, *words)
        assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
    (tmp_path / "in" / "bot1.py").write_text(IDLE + "# changed\n")
    refused = referee("league", "resume", out, "--force", *words)
    assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr
    assert rows_of(out) == before


def rows_of(folder: Path) -> list[Any]:
    """All that a league's store holds of its teams and matches."""
    with contextlib.closing(sqlite3.connect(folder / "league.sqlite")) as store, store:
        return [store.execute(f"select * from {table}").fetchall() for table in ("facts", "teams", "duels", "matches")]


def test_a_league_that_another_process_plays_is_not_changed(referee: Referee, tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out = tmp_path / "out"
    (tmp_path / "late.py").write_text(IDLE)
    (tmp_path / "in" / "bot1.py").write_text(IDLE + "# changed\n")
    before = rows_of(out)
    with Store.open(out) as store, store.claim():
        for words in (("add", out, tmp_path / "late.py"), ("resume", out, "--force"), ("rebuild", out)):
            refused = referee("league", *words)
            assert (refused.returncode, "Another process plays the league" in refused.stderr) == (2, True), refused.stderr
    assert rows_of(out) == before


@pytest.mark.slow
def test_the_decision_is_told_once(referee: Referee, tmp_path: Path) -> None:
    file = write_league(
        tmp_path / "in", 2, extra='stop = "top 1"\n[starts]\ncount = 30\n', settings="width = 60\nheight = 60\nmax_steps = 200\n"
    )
    file.write_text(file.read_text() + '[[teams]]\nname = "Strong"\nhunter = "boxer"\nprey = "evader"\n')
    done = referee("league", "run", file, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("The first place is decided.") == 1


def test_two_teams_that_cannot_start_are_level() -> None:
    duel = Duel(0, 0, ("A", "B"))
    (both,) = comparisons(DuelResult(duel, {"A": 0.0, "B": 0.0}, {}, forfeits=("A", "B")))
    (one,) = comparisons(DuelResult(duel, {"A": 0.0, "B": 1.0}, {}, forfeits=("A",)))
    assert (both.score, one.score) == (0.5, 0.0)
