"""The clock by processor time: a busy machine costs nobody a game, and neither sleep nor work out of turn is free."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from sandboxes import Options, busy, match_between

from referee import games
from referee.match.options import RunOptions, TimeControl
from referee.players.names import resolve

if TYPE_CHECKING:
    from sandboxes import Planted

    from referee.isolation.level import Level
    from referee.replay.events import MatchResult, StepTaken

#: Processor time and busy neighbours are what these tests are about.
pytestmark = pytest.mark.alone

#: A hunter that computes so many seconds for each answer, by its own processor clock.
COMPUTES = """
import time
from sdk import HunterBot
class Computes(HunterBot):
    def hunt(self, state):
        end = time.thread_time() + {seconds}
        while time.thread_time() < end:
            pass
Computes.main()
"""
SLEEPS = """
import time
from sdk import HunterBot
class Sleeps(HunterBot):
    def hunt(self, state):
        if state.step == 2:
            time.sleep(60)
Sleeps.main()
"""
#: Lets children do the work, so that its own process uses nothing.
DELEGATES = """
import os, time
from sdk import HunterBot
class Delegates(HunterBot):
    def hunt(self, state):
        pid = os.fork()
        if pid == 0:
            end = time.process_time() + 0.5
            while time.process_time() < end:
                pass
            os._exit(0)
        os.waitpid(pid, 0)
Delegates.main()
"""


def play(source: str, planted: Planted, isolation: Level, steps: int, time: TimeControl) -> tuple[MatchResult, list[StepTaken]]:
    folder = planted.folder / "computes"
    folder.mkdir(exist_ok=True)
    (folder / "hunter.py").write_text(source)
    bots = {seat: resolve(text, seat, "evasion") for seat, text in (("hunter", str(folder)), ("prey", "still"))}
    game = games.get("evasion")
    seen: list[StepTaken] = []

    from referee.replay.events import Listener

    class Recorder(Listener):
        def stepped(self, event: StepTaken) -> None:
            seen.append(event)

    settings = game.codec.settings("classic", {"max_steps": steps, "hunter": [0, 0, 1, 1], "prey": [230, 100]})
    result = match_between(
        game, settings, bots, Options(time, RunOptions(max_lateness=3600.0), isolation=isolation), seed=1, listeners=[Recorder()]
    ).run()
    return result, seen


LIMIT = TimeControl(startup=30.0, move=0.1, bank=None, kind="cpu")


@pytest.mark.soak
def test_three_hundred_moves_beside_twice_as_many_busy_processes_as_cores(best: Level, planted: Planted) -> None:
    with busy(2 * (os.cpu_count() or 1)):
        result, seen = play(COMPUTES.format(seconds=0.02), planted, best, 300, LIMIT.replace(move=0.04))
        assert not result.faults
        assert result.steps == 300
        assert all(0.0199 < event.answers["hunter"].seconds <= 0.04 for event in seen)
        # The wall clock would have lost it many of them.
        assert result.times["hunter"].wall > result.times["hunter"].used


def test_who_computes_longer_than_the_limit_is_late_beside_busy_processes_too(best: Level, planted: Planted) -> None:
    with busy(2 * (os.cpu_count() or 1)):
        for _ in range(3):
            result, seen = play(COMPUTES.format(seconds=0.13), planted, best, 30, LIMIT)
            assert not seen
            assert result.failures["hunter"].kind == "late"
            assert result.failures["hunter"].text.split(" It was at ")[0].endswith("within the move limit of 0.1 s of processor time.")


def test_sleep_is_caught_by_the_guard(best: Level, planted: Planted) -> None:
    result, _ = play(SLEEPS, planted, best, 30, LIMIT)
    assert result.steps == 2
    fault = result.failures["hunter"]
    assert fault.kind == "late"
    assert "within the wall-clock guard of 1.5 s (5 times the move limit and 1 s more," in fault.text
    assert result.times["hunter"].used < 0.1


def test_work_of_children_is_billed(isolation: Level, planted: Planted) -> None:
    result, seen = play(DELEGATES, planted, isolation, 30, LIMIT)
    assert not seen
    assert result.failures["hunter"].cause == "time"


def test_both_times_are_recorded_for_every_move(best: Level, planted: Planted) -> None:
    for kind in ("wall", "cpu"):
        result, seen = play(COMPUTES.format(seconds=0.01), planted, best, 10, LIMIT.replace(kind=kind, move=5.0))
        assert not result.faults
        for event in seen:
            answer = event.answers["hunter"]
            assert answer.seconds >= 0.0099
            assert answer.other is not None
            assert answer.other >= 0.0099
        told = result.to_json()["players"]["hunter"]["time"]
        assert told["wall_seconds"] >= 0.099
        assert told["cpu_seconds"] >= 0.099
