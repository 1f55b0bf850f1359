"""What comes of playing a recorded game again, in any room."""

from __future__ import annotations

from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class Difference(NamedTuple):
    """Where the engine and a record part: the step's index, the field, what was recorded and what the engine has."""

    step: int
    field: str
    expected: Any
    got: Any


class Played(NamedTuple):
    """What came of one record: the steps that agree, the first difference if there is one, and whether it is a position alone."""

    steps: int
    difference: Difference | None
    is_position: bool = False
