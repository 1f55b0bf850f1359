"""The fair clock: whoever sleeps pays, whoever is starved doesn't."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from sandboxes import UNHURRIED, busy, match_between

from referee import games
from referee.errors import MatchVoid
from referee.match.options import FAIR, TimeControl
from referee.players import fair_meter
from referee.players.clock import LATE, WAIT
from referee.players.fair_meter import FairMeter, RefereeWaits, busiest_delay
from referee.players.names import resolve
from referee.players.pending import PendingQuestion, out_of_time
from referee.replay.events import Listener
from referee.support import delays
from referee.support.delays import TaskTimes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.isolation.bot_process import BotProcess
    from referee.isolation.level import Level
    from referee.replay.answers import JudgedAnswer
    from referee.replay.events import MatchResult, StepTaken

pytestmark = pytest.mark.skipif(not delays.is_counted(), reason="this kernel doesn't count waits for a processor")


@pytest.mark.parametrize(
    ("before", "now", "delay"),
    [
        ({}, {}, 0.0),
        ({1: (1.0, 5.0)}, {1: (1.2, 5.5)}, 0.5),
        ({1: (1.0, 5.0)}, {1: (1.0, 5.0), 2: (0.2, 0.4)}, 0.4),  # a new child did the work
        ({1: (1.0, 5.0), 2: (0.0, 0.0)}, {1: (1.5, 5.25), 2: (0.1, 9.0)}, 0.25),  # a helper waited, and worked little
        ({1: (9.0, 9.0), 2: (1.0, 1.0)}, {1: (9.0, 9.0), 2: (1.5, 1.75)}, 0.75),  # only growth counts
    ],
)
def test_the_wait_of_the_task_that_worked_most_counts(
    before: Mapping[int, tuple[float, float]], now: Mapping[int, tuple[float, float]], delay: float
) -> None:
    given_before, given_now = ({task: TaskTimes(*times) for task, times in seen.items()} for seen in (before, now))
    assert busiest_delay(given_before, given_now) == pytest.approx(delay)


HUNTER = """
import ctypes, os, threading, time
from sdk import HunterBot
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def in_child(seconds):
    child = os.fork()
    if not child:
        work(seconds)
        os._exit(0)
    os.waitpid(child, 0)
def in_thread(seconds):
    thread = threading.Thread(target=work, args=(seconds,))
    thread.start()
    thread.join()
def idle_helper():
    os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
    while True:
        pass
class Hunter(HunterBot):
    def hunt(self, state):
        {body}
Hunter.main()
"""


class Answers(Listener):
    """Keeps the hunter's answers."""

    def __init__(self) -> None:
        self.given: list[JudgedAnswer] = []

    def stepped(self, event: StepTaken) -> None:
        self.given.append(event.answers["hunter"])


def play(folder: Path, body: str, isolation: Level | None, *, move: float, steps: int = 10) -> tuple[MatchResult, list[JudgedAnswer]]:
    """Play a hunter by the fair clock, which alone has a limit."""
    home = folder / "hunter"
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    (home / "hunter.py").write_text(HUNTER.format(body=body))
    bots = {seat: resolve(name, seat, "evasion") for seat, name in (("hunter", str(home)), ("prey", "still"))}
    options = UNHURRIED._replace(time=TimeControl(startup=600.0, move=600.0, bank=None, kind=FAIR))
    limited = options.time.replace(move=move)
    settings = games.get("evasion").codec.settings("classic", {"max_steps": steps, "hunter": [0, 0, 1, 1], "prey": [230, 100]})
    answers = Answers()
    if isolation is not None:
        options = options._replace(isolation=isolation)
    match = match_between(games.get("evasion"), settings, bots, options, seed=1, listeners=[answers], times={"hunter": limited})
    return match.run(), answers.given


@pytest.fixture(params=["none", "sandbox"])
def level(request: pytest.FixtureRequest) -> Level | None:
    return None if request.param == "none" else request.getfixturevalue("best")


@pytest.mark.parametrize("body", ["time.sleep(600)", "os.kill(os.getpid(), 19)", "work(600)", "in_thread(600)"])
def test_a_bot_that_sleeps_stops_or_works_too_long_is_late(body: str, level: Level | None, tmp_path: Path) -> None:
    result, answers = play(tmp_path, body, level, move=0.2)
    assert not answers
    assert result.failures["hunter"].kind == "late"
    assert "within the move limit of 0.2 s" in result.failures["hunter"].text


def test_an_honest_bot_beside_busy_programs_is_never_late(level: Level | None, tmp_path: Path) -> None:
    with busy(4 * (os.cpu_count() or 1)):
        result, answers = play(tmp_path, "work(0.005)", level, move=0.01, steps=40)
    assert not result.faults
    assert len(answers) == 40
    assert all(0.0049 < answer.seconds <= 0.01 for answer in answers)
    assert sum(answer.other or 0.0 for answer in answers) > sum(answer.seconds for answer in answers)


@pytest.mark.parametrize("work", ["in_child", "in_thread"])
def test_a_thread_or_a_child_for_each_answer_costs_at_most_the_wall_time(work: str, level: Level | None, tmp_path: Path) -> None:
    with busy(2 * (os.cpu_count() or 1)):
        result, answers = play(tmp_path, f"{work}(0.02)", level, move=60.0)
    assert not result.faults
    # Without an account, the processor time of ended children is known to 10 ms.
    assert all(0.009 < answer.seconds <= (answer.other or 0.0) for answer in answers)


def test_a_helper_that_gave_its_priority_away_earns_no_sleep(tmp_path: Path) -> None:
    body = "threading.Thread(target=idle_helper, daemon=True).start(); time.sleep(600)"
    with busy(2 * (os.cpu_count() or 1)):
        result, _ = play(tmp_path, body, None, move=0.2)
    assert result.failures["hunter"].kind == "late"


class Kernel:
    """What the kernel says of a bot with the task 7, and of the referee."""

    is_exact, is_sandbox = True, False

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sandbox = self
        self.cpu = 0.0
        self.times = {"7": TaskTimes(), "thread-self": TaskTimes()}
        self.ready: set[int] = set()
        self.priority = (0, 0)
        monkeypatch.setattr(fair_meter, "DelayReader", self.reader)
        monkeypatch.setattr(fair_meter, "tasks_of", lambda _: {7: self.times["7"]})
        monkeypatch.setattr(fair_meter, "is_ready", lambda task: task in self.ready)
        monkeypatch.setattr(fair_meter, "priority", lambda _: self.priority)
        self.meter = FairMeter(cast("BotProcess", self), (0, 0))
        self.meter.renew()
        self.waits = RefereeWaits()

    def reader(self, task: str) -> Any:
        return SimpleNamespace(read=lambda: self.times[task], close=lambda: None)

    def first_pid(self) -> int:
        return 7

    def pids(self) -> list[int]:
        return [7]

    def seconds(self) -> float:
        return self.cpu

    quick_seconds = seconds

    def clock(self) -> Callable[[], float]:
        return self.seconds

    def pass_time(self, cpu: float, delay: float, own: float = 0.0) -> None:
        """Let the bot use ``cpu`` seconds and wait ``delay`` seconds, and the referee wait ``own`` seconds."""
        self.cpu += cpu
        self.times = {"7": TaskTimes(cpu, delay), "thread-self": TaskTimes(0.0, own)}

    def question(self, limit: float = 1.0, guard: float = 25.0) -> PendingQuestion:
        player: Any = SimpleNamespace(seat="hunter", process=self)
        link: Any = SimpleNamespace(unsent=b"", lines=SimpleNamespace(has_bytes=False))
        return PendingQuestion(player, link, self.meter, 100.0, limit, guard)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


@pytest.mark.parametrize(
    ("cpu", "delay", "own", "priority", "seconds"),
    [
        (0.5, 1.5, 0.0, (0, 0), 0.5),
        (0.5, 1.0, 0.0, (0, 0), 1.0),
        (0.5, 0.0, 1.4, (0, 0), 0.6),  # the referee was starved after the answer
        (0.5, 1.5, 0.0, (0, 5), None),  # it gave its priority away: the wall time is above the limit
        (0.5, 1.5, 0.0, (os.SCHED_IDLE, 0), None),
        (0.5, 0.1, 0.0, (0, 0), None),
    ],
)
def test_the_bill_of_an_answer(
    kernel: Kernel, cpu: float, delay: float, own: float, priority: tuple[int, int], seconds: float | None
) -> None:
    kernel.pass_time(cpu, delay, own)
    kernel.priority = priority
    reply = kernel.question().reply(102.0, b"{}", None, kernel.waits.seconds())
    assert reply.other == pytest.approx(2.0)
    if seconds is None:
        assert reply.line is None
        assert reply.failure is not None
        assert reply.failure.reason == "silent"
    else:
        assert reply.line == b"{}"
        assert reply.seconds == pytest.approx(seconds)


def test_a_deadline_is_postponed_by_what_is_left_of_the_limit(kernel: Kernel) -> None:
    question = kernel.question()
    kernel.pass_time(0.3, 0.6)
    assert question.verdict(101.0) == WAIT
    assert question.deadline == pytest.approx(101.6)
    kernel.pass_time(0.3, 0.6)
    kernel.ready.add(7)
    assert question.verdict(101.7) == WAIT
    assert question.deadline == pytest.approx(101.704)
    kernel.ready.clear()
    assert question.verdict(101.7) == LATE


def test_at_the_guard_a_starved_bot_makes_the_match_void(kernel: Kernel) -> None:
    kernel.pass_time(0.3, 24.5)
    with pytest.raises(MatchVoid, match=r"no processor for 24.5 of the 25.0 s in which it was asked: the machine is too busy") as caught:
        kernel.question().verdict(125.0)
    assert (caught.value.reason, caught.value.seats) == ("busy", ("hunter",))


def test_the_guard_of_a_whole_match_makes_it_void(kernel: Kernel) -> None:
    question = kernel.question()
    assert out_of_time(question.player, question.link, kernel.meter, 0.0).reason == "silent"
    with pytest.raises(MatchVoid):
        out_of_time(question.player, question.link, kernel.meter, 1.0)
