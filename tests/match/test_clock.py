"""Time controls."""

from __future__ import annotations

import math
from typing import Any

import pytest

from referee.match.clock import Clock
from referee.match.options import TimeControl


@pytest.mark.parametrize(
    ("control", "spent", "limit"),
    [
        (TimeControl(), [], 1.0),
        (TimeControl(move=None), [], 120.0),
        (TimeControl(bank=None), [5.0], 1.0),
        (TimeControl(move=None, bank=None), [5.0], None),
        (TimeControl(bank=3.0), [1.0, 1.0, 0.5], 0.5),
        (TimeControl(bank=3.0, increment=1.0), [1.0, 1.0, 0.5], 1.0),
        (TimeControl(bank=1.0, move=None, increment=0.25), [1.0], 0.25),
    ],
)
def test_the_next_limit(control: TimeControl, spent: list[float], limit: float | None) -> None:
    clock = Clock(control)
    for seconds in spent:
        clock.spend(seconds)
    assert clock.limit == limit
    assert clock.used == sum(spent)
    assert clock.longest == max(spent, default=0.0)


def test_the_limit_is_named() -> None:
    clock = Clock(TimeControl(move=1.0, bank=1.5))
    assert clock.limit_name() == "the move limit of 1 s"
    clock.spend(1.0)
    assert clock.limit_name() == "what was left of its bank of 1.5 s"


@pytest.mark.parametrize(
    "change",
    [{"move": 0.0}, {"move": -1.0}, {"bank": math.nan}, {"startup": math.inf}, {"move": 1e9}, {"increment": -1.0}, {"increment": math.nan}],
)
def test_senseless_limits_are_refused_by_name(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        TimeControl(**change)


def test_none_is_no_limit() -> None:
    control = TimeControl(startup=None, move=None, bank=None)
    assert control.to_json() == {"kind": "wall", "startup": None, "move": None, "bank": None, "increment": 0.0}
