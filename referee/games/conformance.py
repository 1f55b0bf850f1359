"""The results of playing a recorded game again, for all games."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class Difference(NamedTuple):
    """The first difference between a record and the engine: the step's index, the field, the recorded value and the engine's value."""

    step: int
    field: str
    expected: Any
    got: Any


class Played(NamedTuple):
    """The result of one record: the number of equal steps, the first difference or None, and whether it is a single position."""

    steps: int
    difference: Difference | None
    is_position: bool = False
