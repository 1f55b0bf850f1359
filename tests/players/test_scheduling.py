"""Who runs while a bot is asked: turns of bots whose processor time the test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from referee.players.meter import UNBILLED, BotMeter
from referee.players.scheduling import CHECK_EVERY, GOING_TO_SLEEP, Turns

if TYPE_CHECKING:
    from collections.abc import Callable

SEATS = ("hunter", "prey", "third")


class FakeBot:
    """A running bot. ``holds``: a freezer holds it; ``is_exact``: its processor time is exact."""

    pid = 0

    def __init__(self, *, holds: bool) -> None:
        self.sandbox = self
        self.holds = self.is_exact = holds
        self.is_stopped = False
        self.used = 0.0

    def stop(self) -> None:
        self.is_stopped = True

    def go_on(self) -> None:
        self.is_stopped = False

    def is_moving(self) -> bool:
        return False

    def has_children(self) -> bool:
        return False

    def stand_still(self) -> None:
        assert self.is_stopped

    def seconds(self) -> float:
        return self.used

    quick_seconds = seconds

    def clock(self) -> Callable[[], float]:
        return self.seconds


def turns_of(*, holds: bool, is_enabled: bool = True) -> tuple[dict[str, Any], Turns]:
    bots: dict[str, Any] = {seat: FakeBot(holds=holds) for seat in SEATS}
    return bots, Turns({seat: BotMeter(bot) for seat, bot in bots.items()}, is_enabled=is_enabled)


def stopped(bots: dict[str, Any]) -> set[str]:
    return {seat for seat, bot in bots.items() if bot.is_stopped}


@pytest.mark.parametrize("holds", [False, True])
def test_others_are_stopped_in_a_long_wait_only(holds: bool) -> None:
    bots, turns = turns_of(holds=holds)
    with turns.of("hunter") as turn:
        assert turn.freeze_workers() == 0.0
        assert not stopped(bots)
        turn.last_long()
        assert stopped(bots) == {"prey", "third"}
    with turns.of("prey"):
        assert stopped(bots) == {"third"}, "the bot that is asked goes on"


def test_who_works_meanwhile_is_frozen_and_its_time_is_given_back() -> None:
    bots, turns = turns_of(holds=True)
    with turns.of("hunter") as turn:
        bots["prey"].used, bots["third"].used = 0.004, UNBILLED / 2
        assert turn.used_beside() == pytest.approx(0.004 + UNBILLED / 2)
        assert turn.freeze_workers() == pytest.approx(0.004)
        assert stopped(bots) == {"prey"}
        assert turn.used_beside() == 0.0, "going to sleep is no work"


def test_a_bot_that_works_out_of_turn_owes_that_and_is_stopped_in_every_turn_from_then_on() -> None:
    bots, turns = turns_of(holds=True)
    debts = []
    for _ in range(3):
        with turns.of("prey") as turn:
            debts.append(turn.aside)
            turn.meter.newly_used()
        bots["prey"].used += 0.5
    assert debts[:2] == pytest.approx([0.0, 0.5 - GOING_TO_SLEEP])
    with turns.of("hunter"):
        assert stopped(bots) == {"prey"}


def test_without_a_freezer_a_bot_that_works_out_of_turn_is_found_now_and_then() -> None:
    bots, turns = turns_of(holds=False)
    for _ in range(CHECK_EVERY + 1):
        with turns.of("prey") as turn:
            turn.meter.finish_quickly(0.0001)
        bots["prey"].used += 0.001
        with turns.of("hunter") as turn:
            turn.meter.finish_quickly(0.0001)
    assert stopped(bots) == {"prey"}


def test_who_has_answered_is_stopped_while_others_still_think() -> None:
    bots, turns = turns_of(holds=False)
    for bot in bots.values():
        bot.stop()
    with turns.shared(["hunter", "prey"]) as turn:
        assert stopped(bots) == {"third"}
        turn.end(turns.of("hunter"))
        turn.stop_others()
        assert stopped(bots) == {"hunter", "third"}


def test_nobody_is_stopped_where_bots_may_run_and_an_ended_bot_is_left_alone() -> None:
    bots, turns = turns_of(holds=True, is_enabled=False)
    with turns.of("hunter") as turn:
        bots["prey"].used = 1.0
        turn.last_long()
        assert turn.used_beside() == 0.0
    assert not stopped(bots)
    bots, turns = turns_of(holds=True)
    turns.forget("prey")
    with turns.of("hunter") as turn:
        turn.last_long()
    assert stopped(bots) == {"third"}
