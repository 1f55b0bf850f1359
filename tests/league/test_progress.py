"""The speed of a league and the time that is left, as its progress tells them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from leagues import record, task_of

from referee.tournament.progress import MatchCounts, Pace, ProgressLines
from referee.tournament.worker import replay_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def paced(ends: Sequence[float], begun: float = 0.0) -> Pace:
    pace = Pace(begun)
    for end in ends:
        pace.note(end)
    return pace


def test_the_speed_is_that_of_the_last_minute() -> None:
    slow, fast = range(0, 600, 10), [600 + number / 10 for number in range(1, 601)]
    assert paced([*slow, *fast]).rate(660.0) == pytest.approx(10.0, rel=0.01)
    # The other way round nothing of the fast time is left, either.
    assert paced([*[each - 600 for each in fast], *range(70, 600, 5)]).rate(599.0) == pytest.approx(0.2, rel=0.1)


def test_the_speed_of_slow_matches_is_that_of_the_last_ten() -> None:
    assert paced([*range(1, 100), *range(400, 4000, 240)]).rate(3800.0) == pytest.approx(1 / 240, rel=0.1)
    assert paced([30.0]).rate(40.0) == pytest.approx(1 / 40)


def test_nothing_is_known_before_the_first_end_and_after_a_long_silence() -> None:
    assert paced([]).rate(5.0) is None
    pace = paced(range(1, 50))
    assert pace.rate(59.0) is not None
    assert pace.rate(170.0) is None


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Played:
    """A league of 30 matches, of which so many are done."""

    done = 0

    def counts(self) -> MatchCounts:
        return MatchCounts(30 - self.done, self.done, 0, 0)


TASKS = [task_of(f"{number}", {"hunter": f"A{number}", "prey": f"B{number}"}, {}, 1) for number in range(30)]


def test_the_progress_waits_for_results_and_tells_no_time_without_workers() -> None:
    clock, league, tasks = Clock(), Played(), [*TASKS]
    shown = ProgressLines(league.counts, print, clock=clock)

    def play(count: int, seconds: float) -> str:
        for _ in range(count):
            clock.now += seconds
            task = tasks.pop(0)
            league.done += 1
            shown.finished(task, record(task))
            shown.tick(tasks[:3])
        return shown.line()

    shown.tick(tasks[:3])
    assert shown.line() == "0 of 30 matches, waiting for results"
    # What the start of the workers costs is most of the first seconds, so the time left isn't told yet.
    assert play(1, 3.0) == "1 of 30 matches, 20 a minute"
    assert play(4, 3.0) == "5 of 30 matches, 20 a minute, 1 min 15 s left"
    shown.tick(None)
    clock.now += 600.0
    shown.tick(None)
    assert shown.line() == "5 of 30 matches, waiting for workers"
    # The pause doesn't count.
    shown.tick(tasks[:3])
    assert shown.line() == "5 of 30 matches, waiting for results"
    assert play(10, 1.0) == "15 of 30 matches, 60 a minute, 15 s left"
    assert play(15, 1.0) == "30 of 30 matches, 60 a minute"


def test_a_match_that_takes_long_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    shown = ProgressLines(Played().counts, print, clock=clock)
    first, second, *_ = TASKS
    shown.tick([first])
    clock.now += 11.0
    shown.tick([first, second])
    teams = " against ".join(first.names.values())
    assert capsys.readouterr().out == f"0 of 30 matches, waiting for results, waiting for {teams} (11 s so far)\n"
    clock.now += 10.5
    shown.tick([second])
    assert "waiting for " + " against ".join(second.names.values()) in capsys.readouterr().out
    clock.now += 10.5
    shown.tick([])
    assert capsys.readouterr().out == "0 of 30 matches, waiting for results\n"


def test_a_match_in_which_nobody_answers_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its replay grows with every second in which somebody answers."""
    clock, task = Clock(), TASKS[0]
    shown = ProgressLines(Played().counts, print, replays=tmp_path, clock=clock)
    replay = replay_path(tmp_path, task.key)
    replay.parent.mkdir()
    replay.touch()
    os.utime(replay, (time.time() + 600, time.time() + 600))
    shown.tick([task])
    clock.now += 85.0
    shown.tick([task])
    teams = " against ".join(task.names.values())
    assert capsys.readouterr().out == f"0 of 30 matches, waiting for results, waiting for {teams} (1 min 25 s so far)\n"
    os.utime(replay, (time.time() - 7200, time.time() - 7200))
    clock.now += 11.0
    shown.tick([task])
    assert f"waiting for {teams} (1 min 36 s so far, no answer for 2 h 0" in capsys.readouterr().out
