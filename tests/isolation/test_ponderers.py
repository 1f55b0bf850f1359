"""Bots that work out of turn, in every way: each is found out, owes that work, and stands still from then on while the other is asked."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from sandboxes import PATIENT, UNHURRIED, Planted, intrude, need

from referee.players.exchange import Exchange
from referee.players.meter import UNBILLED
from referee.players.scheduling import BEING_FROZEN, GOING_TO_SLEEP, BotTurn

if TYPE_CHECKING:
    from pathlib import Path

    from referee.isolation.bot_process import BotProcess
    from referee.isolation.level import Level
    from referee.players.clock import Clock
    from referee.players.player import Reply

#: Processor time is what these tests are about.
pytestmark = pytest.mark.alone

#: How long the other one computes for each answer, in seconds: too short for a second look at who works, and too short for a long wait.
THOUGHT, LONGER = 0.0005, 0.004
THINKER = """
import time
from sdk import HunterBot
class Thinks(HunterBot):
    def hunt(self, state):
        end = time.process_time() + SECONDS
        while time.process_time() < end:
            pass
Thinks.main()
"""
HEAD = """
import mmap, os, signal, sys, threading, time
from _wire import answer, ready, turns
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def spin_on():
    while True:
        pass
sys.setswitchinterval(0.0001)
ready()
"""
#: The bots begin to work out of turn with their fifth question.
BEGIN = "for count, message in enumerate(turns()):\n"
PONDERERS = {
    "a thread": BEGIN + "    if count == 5:\n        threading.Thread(target=spin_on, daemon=True).start()\n    answer(message['turn'])\n",
    "a child": BEGIN + "    if count == 5 and os.fork() == 0:\n        os.setsid()\n        spin_on()\n    answer(message['turn'])\n",
    "bursts of 5 ms": BEGIN + "    answer(message['turn'])\n    if count >= 5:\n        spin(0.005)\n",
    "bursts of 0.2 ms": BEGIN + "    answer(message['turn'])\n    if count >= 5:\n        spin(0.0002)\n",
    "a burst now and then": BEGIN + "    answer(message['turn'])\n    if count % 7 == 6:\n        spin(0.002)\n",
    "sleep in turn, work out of it": BEGIN
    + "    if count >= 5:\n        time.sleep(0.002)\n    answer(message['turn'])\n    if count >= 5:\n        spin(0.002)\n",
    "children that go": BEGIN
    + "    if count >= 5 and os.fork() == 0:\n        time.sleep(0.0002)\n        spin(0.001)\n        os._exit(0)\n    answer(message['turn'])\n",
}
#: The same with work in the kernel, which a freeze doesn't interrupt.
SIZE = "64 << 20"
IN_THE_KERNEL = {
    "memory that it asks for": BEGIN
    + "    answer(message['turn'])\n    if count >= 5:\n"
    + f"        mmap.mmap(-1, {SIZE}, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE).close()\n",
    "memory that it gives back": BEGIN
    + f"    if count >= 5:\n        shared = mmap.mmap(-1, {SIZE})\n        shared[::4096] = bytes(len(shared) // 4096)\n"
    + "    answer(message['turn'])\n    if count >= 5:\n        shared.close()\n",
    "memory of children that end": f"shared = mmap.mmap(-1, {SIZE})\nshared[::4096] = bytes(len(shared) // 4096)\n"
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    + BEGIN
    + "    told, tell = os.pipe()\n    done, say = os.pipe()\n"
    + "    for _ in range(8 * (count >= 5)):\n        if os.fork() == 0:\n"
    + "            os.close(tell)\n            shared[::4096]\n            os.write(say, b'.')\n            os.read(told, 1)\n"
    + "            os._exit(0)\n"
    + "    left = 8 * (count >= 5)\n    while left:\n        left -= len(os.read(done, left))\n"
    + "    answer(message['turn'])\n    for fd in (told, tell, done, say):\n        os.close(fd)\n",
}


class Turn(NamedTuple):
    """One question: who was asked, how long that took, what the prey worked before it and during it, what it was billed, and whether it was watched still.

    ``after_stop`` is what the prey worked during it once the referee had stopped whom it stops.
    """

    seat: str
    wall: float
    before: float
    during: float
    billed: float
    is_watched: bool
    after_stop: float


def turns_against(
    source: str, isolation: Level, planted: Planted, kind: str, monkeypatch: pytest.MonkeyPatch, steps: int, thought: float = THOUGHT
) -> list[Turn]:
    thinker = planted.folder / "thinker"
    thinker.mkdir()
    (thinker / "hunter.py").write_text(THINKER.replace("SECONDS", str(thought)))
    bot: Path = planted.folder / "ponders.py"
    bot.write_text(HEAD + source)
    seen: list[Turn] = []
    last = 0.0
    stopped_at = 0.0
    ask, enter = Exchange.ask, BotTurn.__enter__

    def entering(self: BotTurn) -> BotTurn:
        nonlocal stopped_at
        enter(self)
        stopped_at = self._turns.of("prey").process.seconds()
        return self

    def asking(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        nonlocal last
        prey: BotProcess = self.processes["prey"]
        # The prey may work while this process is kept off the processor between two of these lines; the wall clock must see that, too.
        begun = time.perf_counter()
        before = prey.seconds()
        reply = ask(self, seat, data, clock)
        after = prey.seconds()
        wall = time.perf_counter() - begun
        is_watched = self._turns.of("prey").is_watched
        seen.append(Turn(seat, wall, before - last, after - before, reply.seconds, is_watched, after - stopped_at))
        last = after
        return reply

    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": asking}))
    monkeypatch.setattr(BotTurn, "__enter__", entering)
    options = UNHURRIED._replace(time=PATIENT.replace(kind=kind))
    played = intrude(bot, planted, isolation, options=options, hunter=str(thinker), steps=steps)
    assert not played.result.faults
    return seen


def worked_aside(seen: list[Turn]) -> tuple[list[int], dict[int, float]]:
    """The indices of the prey's questions, and what it worked between its answer before and each of them."""
    asked = [index for index, turn in enumerate(seen) if turn.seat == "prey"]
    aside = {
        index: seen[index].before + sum(turn.before + turn.during for turn in seen[before + 1 : index])
        for before, index in itertools.pairwise(asked)
    }
    return asked, aside


QUICK = ("a thread", "bursts of 5 ms", "memory that it asks for")


@pytest.mark.parametrize("kind", ["wall", pytest.param("cpu", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PONDERERS])
def test_who_works_out_of_turn_is_found_out_and_gains_nothing(
    name: str, kind: str, best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(best.holds, "no freezer", of_kernel=True)
    seen = turns_against(PONDERERS[name], best, planted, kind, monkeypatch, 120)
    asked, aside = worked_aside(seen)
    found = next((index for index in asked if not seen[index].is_watched), None)
    if found is None:
        # On a busy machine the kernel may let it work in its own turn alone, where it pays for that.
        assert "burst" in name or "sleep" in name, "it is found out"
        assert sum(aside.values()) < len(aside) * GOING_TO_SLEEP + UNBILLED, "it takes no longer than others to go to sleep"
        return
    assert seen[found].billed > aside[found] - 1.1 * GOING_TO_SLEEP, "what it worked out of turn is billed"
    later = [turn.after_stop for turn in seen[found + 1 :] if turn.seat == "hunter"]
    assert sum(later) < 0.1 * THOUGHT * len(later) + UNBILLED, "and from then on it stands still while the other thinks"
    # On a busy machine the referee may be kept from stopping it for a while.
    after = [index for index in asked if index > found]
    assert all(seen[index].billed > aside[index] - 1.1 * BEING_FROZEN for index in after), "what it works until it stands still is billed"


@pytest.mark.parametrize("kind", ["wall", pytest.param("cpu", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in IN_THE_KERNEL])
def test_work_in_the_kernel_is_billed_to_its_author(
    name: str, kind: str, best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(best.holds, "no freezer", of_kernel=True)
    seen = turns_against(IN_THE_KERNEL[name], best, planted, kind, monkeypatch, 40)
    asked, aside = worked_aside(seen)
    found = next((index for index in asked if not seen[index].is_watched), None)
    if found is None:
        # The kernel may let it work in its own turn alone, where it pays for that.
        assert sum(aside.values()) < len(aside) * GOING_TO_SLEEP + UNBILLED
        return
    assert seen[found].billed > aside[found] - 1.1 * GOING_TO_SLEEP, "what it worked out of turn is billed"
    later = [index for index in asked if index > found]
    assert all(seen[index].billed > aside[index] - 1.1 * BEING_FROZEN for index in later), "also what a freeze didn't interrupt"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a thread", "a child", "children that go", "bursts of 5 ms"])
def test_who_thinks_longer_is_not_billed_for_the_work_of_another_bot(
    name: str, best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(best.holds, "no freezer", of_kernel=True)
    seen = turns_against(PONDERERS[name], best, planted, "wall", monkeypatch, 60, LONGER)
    # What a bot may use unseen: the time to go to sleep, and what was used before the first look.
    unseen = UNBILLED + 0.001
    wronged = [turn for turn in seen if turn.seat == "hunter" and turn.billed > max(0.001, turn.wall - turn.during + unseen)]
    assert not wronged


@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_who_only_answers_is_never_stopped_for_short_waits(
    kind: str, best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(best.holds, "no freezer", of_kernel=True)
    seen = turns_against(BEGIN + "    answer(message['turn'])\n", best, planted, kind, monkeypatch, 120)
    assert all(turn.is_watched for turn in seen[:-1])
