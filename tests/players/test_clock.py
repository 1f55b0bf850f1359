"""Time controls."""

from __future__ import annotations

import math
from typing import Any

import pytest

from referee.errors import UsageError
from referee.match.options import MatchOptions, TimeControl
from referee.players.clock import Clock
from referee.replay.faults import limit_words
from referee.support import delays


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
    assert limit_words(**clock.limit_values()) == "the move limit of 1 s"
    clock.spend(1.0)
    assert limit_words(**clock.limit_values()) == "what was left of its bank of 1.5 s"


@pytest.mark.parametrize(
    "change",
    [{"move": 0.0}, {"move": -1.0}, {"bank": math.nan}, {"startup": math.inf}, {"move": 1e9}, {"increment": -1.0}, {"increment": math.nan}],
)
def test_senseless_limits_are_refused_by_name(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        TimeControl(**change)


def test_none_is_no_limit() -> None:
    control = TimeControl(startup=None, move=None, bank=None)
    assert control.replace(kind="wall").to_json() == {"kind": "wall", "startup": None, "move": None, "bank": None, "increment": 0.0}


@pytest.mark.parametrize(
    ("kind", "is_counted", "is_strict", "settled"),
    [
        ("auto", True, True, "fair"),
        ("auto", True, False, "fair"),
        ("auto", False, True, "cpu"),
        ("auto", False, False, "wall"),
        ("fair", True, False, "fair"),
        ("fair", False, False, None),
        ("wall", True, True, "wall"),
        ("cpu", True, False, "cpu"),
    ],
)
def test_the_best_clock_of_the_machine(
    kind: Any, is_counted: bool, is_strict: bool, settled: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delays, "is_counted", lambda: is_counted)
    options = MatchOptions(time=TimeControl(kind=kind), isolation="strict" if is_strict else "auto")
    if settled is None:
        with pytest.raises(UsageError, match="Write --clock cpu or --clock wall"):
            options.settled()
        return
    assert options.settled().time.kind == settled
    assert TimeControl(kind=kind).to_json()["kind"] in (settled, "wall")


@pytest.mark.parametrize(
    ("kind", "guards", "startup", "name"),
    [
        ("wall", (None, None), 51.0, "the move limit of 1 s"),
        ("cpu", (6.0, 5.0), 51.0, "the move limit of 1 s of processor time"),
        ("fair", (25.0, 25.0), 205.0, "the move limit of 1 s"),
    ],
)
def test_the_guards_by_the_wall_clock(kind: Any, guards: tuple[float | None, ...], startup: float, name: str) -> None:
    clock = Clock(TimeControl(move=1.0, bank=2.0, kind=kind))
    assert clock.control.startup_guard() == startup
    before, limit_name = clock.guard, limit_words(**clock.limit_values())
    clock.spend(0.1, 1.0)
    assert (before, clock.guard) == guards
    assert limit_name == name
    assert Clock(TimeControl(move=None, bank=2.0, kind=kind)).guard == {"wall": None, "cpu": 6.0, "fair": 80.0}[kind]
