"""While one bot's clock runs, the others stand still, also where they were at work inside the kernel."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from sandboxes import INTRUDERS, PATIENT, UNHURRIED, Planted, intrude

from referee.isolation.bot_process import BotProcess
from referee.isolation.sandboxed_process import SandboxedProcess
from referee.players.exchange import Exchange
from referee.players.meter import BotMeter, CpuMeter
from referee.players.scheduling import BEING_FROZEN, GOING_TO_SLEEP, Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.level import Level
    from referee.players.clock import Clock
    from referee.players.player import Reply

#: Computes for 20 ms of its own processor time.
THINKER = (
    "import time\nfrom sdk import HunterBot\nclass Thinks(HunterBot):\n    def hunt(self, state):\n"
    "        end = time.process_time() + 0.02\n        while time.process_time() < end:\n            pass\nThinks.main()\n"
)


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["wall", pytest.param("cpu", marks=pytest.mark.slow)])
def test_no_clock_runs_while_the_other_works_in_the_kernel(
    kind: str, best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not best.holds:
        pytest.skip("a stop is a courtesy without a freezer, as the report says")
    thinker = planted.folder / "thinker"
    thinker.mkdir()
    (thinker / "hunter.py").write_text(THINKER)
    met = 0
    stood: dict[SandboxedProcess, float] = {}
    worked: list[float] = []
    owed: list[tuple[float, float]] = []
    used = 0.0
    stand_still, ask = SandboxedProcess.stand_still, Exchange.ask

    def standing(self: SandboxedProcess) -> None:
        nonlocal met
        met += self.is_moving()
        stand_still(self)
        assert not self.is_moving()
        stood[self] = self.seconds()

    def asking(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        nonlocal used
        stood.clear()
        prey = self.processes["prey"]
        aside, is_found = prey.seconds() - used, not self._turns.of("prey").is_watched
        begun = time.perf_counter()
        reply = ask(self, seat, data, clock)
        answering = time.perf_counter() - begun if kind == "wall" else 0.0
        if seat == "prey":
            used = prey.seconds()
            if is_found:
                owed.append((aside, reply.seconds - answering))
        if seat == "hunter":
            worked.extend(sandbox.seconds() - before for sandbox, before in stood.items())
        return reply

    monkeypatch.setattr(SandboxedProcess, "stand_still", standing)
    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": asking}))
    options = UNHURRIED._replace(time=PATIENT.replace(kind=kind))
    played = intrude(INTRUDERS / "works_in_the_kernel.py", planted, best, options=options, hunter=str(thinker), steps=12)
    assert not played.result.faults
    assert met > 3, "it was at work when it was frozen"
    assert len(worked) > 3
    assert max(worked) < 0.001, "and did nothing more once the hunter's clock ran"
    assert sum(aside > 2 * BEING_FROZEN for aside, _ in owed) > 2
    assert sum(billed for _, billed in owed) > 0.5 * sum(aside for aside, _ in owed), "its author paid for that work"


def test_a_reading_that_falls_bills_nothing_twice() -> None:
    """A walk through processes misses one that ends meanwhile: its time is gone for a moment."""
    readings = iter([0.5, 1.0, 0.2, 0.9, 1.03, 1.03, 1.05])

    class Dips(BotProcess):
        def seconds(self) -> float:
            return next(readings)

        def clock(self) -> Callable[[], float]:
            return lambda: 0.0

    meter = BotMeter(Dips.__new__(Dips))
    assert [round(meter.newly_used(is_thorough=True), 3) for _ in range(6)] == [0.5, 0.5, 0.0, 0.0, 0.03, 0.0]
    assert meter.uses(is_thorough=True) == pytest.approx(0.02)


def test_a_bot_that_was_found_at_work_pays_for_what_a_freeze_did_not_interrupt() -> None:
    class Held(BotProcess):
        holds = is_exact = True
        used = 6.0

        def seconds(self) -> float:
            return self.used

        quick_seconds = seconds

        def clock(self) -> Callable[[], float]:
            return self.seconds

        def stop(self) -> None:
            pass

        go_on = stop

    sandbox = Held.__new__(Held)
    meter = BotMeter(sandbox)
    turns = Turns({"prey": meter}, is_enabled=True)
    debts = []
    for used in (6.0, 6.5, 6.5 + BEING_FROZEN, 7.5):
        sandbox.used = used
        with turns.of("prey") as turn:
            debts.append(turn.aside)
            meter.newly_used()
    assert debts == pytest.approx([0.0, 0.5 - GOING_TO_SLEEP, 0.0, 1.0 - 2 * BEING_FROZEN], abs=1e-6)
    assert not turn.is_watched


def test_children_of_a_quick_bot_are_billed_a_little_later() -> None:
    """Reading all processes takes longer than a quick answer; nothing is lost, and nothing is billed twice."""
    own = total = 0.0

    class Counts(BotProcess):
        def seconds(self) -> float:
            return total

        quick_seconds = seconds

        def clock(self) -> Callable[[], float]:
            return lambda: own

    meter = CpuMeter(Counts.__new__(Counts))
    billed = 0.0
    for answer in range(200):
        # A tenth of a millisecond of its own for each answer, and as much of its children's.
        own, total = own + 0.0001, total + 0.0002
        billed += meter.finish_quickly(0.0005)
        assert billed <= total + 1e-9
        assert total - billed < 65 * 0.0001 + 1e-9, answer
    billed += meter.finish(0.002, 0.0)[0]
    assert billed == pytest.approx(total), "an answer that takes longer is billed with all that came before"
