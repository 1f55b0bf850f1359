"""What an answer costs and what follows from it: tables over the two pure functions of the clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.players.clock import (
    CPU,
    FAIR,
    GUARDED,
    IN_TIME,
    LATE,
    RESCUED,
    VOID,
    WAIT,
    WALL,
    Clock,
    Kind,
    LongWait,
    TimeControl,
    Verdict,
    bill,
    verdict,
)
from referee.replay.faults import limit_words

SECONDS = st.floats(0.0, 1000.0)


@pytest.mark.parametrize(
    ("kind", "wall", "cpu", "waited", "aside", "beside", "seconds"),
    [
        (WALL, 0.3, 0.1, 0.0, 0.0, 0.0, 0.3),
        (WALL, 0.3, 0.1, 0.2, 0.0, 0.0, 0.3),  # the wall clock bills waits, too
        (WALL, 0.3, 0.1, 0.0, 0.5, 0.0, 0.8),  # work out of turn
        (WALL, 0.005, 0.001, 0.0, 0.0, 0.004, 0.001),  # another bot worked meanwhile
        (WALL, 0.005, 0.001, 0.0, 0.5, 0.02, 0.5),  # never more than the wall time is given back
        (CPU, 9.0, 0.2, 0.0, 0.0, 0.0, 0.2),
        (CPU, 0.1, 0.2, 0.0, 0.0, 0.0, 0.2),  # two threads on two cores
        (CPU, 0.1, 0.2, 0.0, 0.0, 0.1, 0.2),  # others use none of its processor time
        (FAIR, 0.02, 0.02, 0.0, 0.0, 0.0, 0.02),  # an idle machine
        (FAIR, 0.12, 0.02, 0.1, 0.0, 0.0, 0.02),  # starved
        (FAIR, 0.12, 0.0, 0.0, 0.0, 0.0, 0.12),  # asleep
        (FAIR, 0.12, 0.02, 0.04, 0.0, 0.0, 0.08),  # starved for a part, asleep for another
        (FAIR, 0.05, 0.02, 0.05, 0.0, 0.0, 0.02),  # waits overlap: nobody computes for less than the processor time
        (FAIR, 0.02, 0.04, 0.0, 0.0, 0.0, 0.02),  # two threads on two cores
        (FAIR, 0.02, 0.0, 0.5, 0.0, 0.0, 0.0),  # a wait of an earlier answer earns nothing
        (FAIR, 0.001, 0.001, 0.0, 0.5, 0.0, 0.501),  # work out of turn
        (FAIR, 0.12, 0.02, 0.03, 0.0, 0.05, 0.04),
    ],
)
def test_the_bill(kind: Kind, wall: float, cpu: float, waited: float, aside: float, beside: float, seconds: float) -> None:
    assert bill(kind, wall, cpu, waited, aside, beside) == pytest.approx(seconds)


@given(SECONDS, SECONDS, SECONDS)
def test_a_fair_bill_is_at_most_the_wall_time_and_at_least_the_processor_time(wall: float, cpu: float, waited: float) -> None:
    assert min(wall, cpu) <= bill(FAIR, wall, cpu, waited) <= wall
    assert bill(FAIR, wall, cpu) == wall == bill(WALL, wall, cpu, waited)


@pytest.mark.parametrize(
    ("kind", "wall", "cpu", "seconds", "judged"),
    [
        (WALL, 0.3, 0.3, 0.3, IN_TIME),
        (WALL, 1.0, 0.3, 1.0, IN_TIME),
        (WALL, 1.2, 0.3, 1.2, RESCUED),  # the referee woke up late
        (CPU, 9.0, 0.2, 0.2, IN_TIME),
        (CPU, 1.5, 1.2, 1.2, LATE),
        (CPU, 30.0, 0.2, 0.2, RESCUED),  # an answer that is there counts, also beyond the guard
        (FAIR, 1.164, 0.2, 0.2, IN_TIME),
        (FAIR, 3.0, 0.2, 3.0, LATE),
        (FAIR, 0.1, 0.18, 0.1, IN_TIME),
        (FAIR, 0.001, 0.001, 0.501, IN_TIME),
        (FAIR, 0.001, 0.001, 1.001, LATE),
    ],
)
def test_the_verdict_on_an_answer(kind: Kind, wall: float, cpu: float, seconds: float, judged: Verdict) -> None:
    assert verdict(kind, wall, cpu, seconds, 1.0, 20.0, has_answered=True) == judged
    assert verdict(kind, wall, cpu, seconds, None, None, has_answered=True) == IN_TIME


@pytest.mark.parametrize(
    ("kind", "wall", "cpu", "seconds", "is_ready", "is_starved", "judged"),
    [
        (WALL, 0.9, 0.1, 0.9, False, False, WAIT),
        (WALL, 1.2, 0.1, 1.2, False, False, LATE),
        (WALL, 1.2, 0.1, 0.7, False, False, WAIT),  # other bots started meanwhile
        (WALL, 20.0, 0.1, 0.7, False, False, LATE),  # the longest time for that
        (CPU, 5.0, 0.2, 0.2, False, False, WAIT),
        (CPU, 5.0, 1.0, 1.0, False, False, LATE),
        (CPU, 21.0, 0.2, 0.2, False, False, GUARDED),
        (CPU, 21.0, 1.2, 1.2, False, False, LATE),
        (FAIR, 1.1, 0.3, 0.6, False, False, WAIT),
        (FAIR, 2.0, 0.4, 0.4, False, False, WAIT),  # starved: the rest of the limit
        (FAIR, 1.0, 0.2, 1.0, False, False, LATE),  # asleep
        (FAIR, 1.0, 0.2, 1.0, True, True, WAIT),  # its present wait isn't counted yet
        (FAIR, 1.0, 0.2, 1.0, True, False, WAIT),  # it has run since the last look and waits again
        (FAIR, 1.0, 1.0, 1.0, True, True, LATE),  # nobody computes for more than the limit
        (FAIR, 25.0, 0.4, 0.4, False, False, VOID),  # the machine explains the guard
        (FAIR, 25.0, 0.4, 2.0, True, False, VOID),  # also where a part of the wait isn't counted yet
        (FAIR, 25.0, 0.0, 25.0, True, True, VOID),  # it never got the processor
        (FAIR, 25.0, 0.4, 25.0, False, False, LATE),
        (FAIR, 25.0, 0.4, 25.0, True, False, LATE),
        (FAIR, 25.0, 1.5, 1.5, True, True, LATE),
    ],
)
def test_the_verdict_on_a_silent_bot(
    kind: Kind, wall: float, cpu: float, seconds: float, is_ready: bool, is_starved: bool, judged: Verdict
) -> None:
    states = {"is_ready": is_ready, "is_starved": is_starved}
    assert verdict(kind, wall, cpu, seconds, 1.0, 20.0, has_answered=False, **states) == judged
    assert verdict(kind, wall, cpu, seconds, None, None, has_answered=False, **states) == WAIT


def test_a_clock_with_a_long_wait_bills_but_limits_nothing() -> None:
    clock = Clock(TimeControl(move=1.0, bank=3.0, kind="fair"), wait=LongWait(60.0, "that a check waits"), answers=2)
    clock.spend(2.5)
    assert (clock.limit, clock.guard, clock.match_limit, clock.bank, clock.answers) == (60.0, None, 0.5, 0.5, 3)
    assert limit_words(**clock.limit_values()) == "the 60 s that a check waits"
    assert Clock(clock.control, wait=LongWait(), bank=0.0).limit is None
