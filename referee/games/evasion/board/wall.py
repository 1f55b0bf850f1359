"""One wall: its kind, its ends, and the cells that it covers.

Every wall lies on straight *lines* of four families: ``row`` (y constant), ``column`` (x), ``rising`` (y - x) and ``falling`` (x + y). A
horizontal or vertical wall is one interval on one line; a diagonal or counter-diagonal one is two cells thick and lies on two
neighbouring lines, *main* (through its anchor) and *side*.

Source: rules of Evasion, section "Cells, walls, borders".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

Kind = Literal["horizontal", "vertical", "diagonal", "counter-diagonal"]

HORIZONTAL: Literal["horizontal"] = "horizontal"
VERTICAL: Literal["vertical"] = "vertical"
DIAGONAL: Literal["diagonal"] = "diagonal"
COUNTER_DIAGONAL: Literal["counter-diagonal"] = "counter-diagonal"
KINDS: tuple[Kind, ...] = (HORIZONTAL, VERTICAL, DIAGONAL, COUNTER_DIAGONAL)

ROW, COLUMN, RISING, FALLING = range(4)

#: The family of lines that walls of each kind lie on.
FAMILY = {HORIZONTAL: ROW, VERTICAL: COLUMN, DIAGONAL: RISING, COUNTER_DIAGONAL: FALLING}
#: A cell (x, y) lies on a line of a family if a * x + b * y is the line's number.
NORMAL = ((0, 1), (1, 0), (-1, 1), (1, 1))
#: Offset from the main line of a two-cell-thick wall to its side line: y - x grows by one, x + y falls by one.
SIDE = {DIAGONAL: 1, COUNTER_DIAGONAL: -1}


class Stretch(NamedTuple):
    """The cells of one line from ``low`` to ``high``, both included, measured in x (in y on a column)."""

    family: int
    line: int
    low: int
    high: int

    def path(self) -> tuple[int, int, int, int]:
        """Return the first cell (x, y), row by row, and the step (dx, dy) from a cell to the next one."""
        family, line, low, high = self
        if family == ROW:
            return low, line, 1, 0
        if family == COLUMN:
            return line, low, 0, 1
        return (low, low + line, 1, 1) if family == RISING else (high, line - high, -1, 1)


class Wall(NamedTuple):
    """A wall of the game: ``id``, ``kind`` and its two ends; x (y for a vertical wall) never falls from the first to the second.

    ``first`` is the axis, "x" or "y", of the step from the first end of a diagonal or counter-diagonal wall; it is empty for the other
    kinds. ``is_flipped`` is true if its builder named the ends in the opposite order, which only some protocols show.
    """

    id: int
    kind: Kind
    x1: int
    y1: int
    x2: int
    y2: int
    first: str = ""
    is_flipped: bool = False

    def stretches(self) -> tuple[Stretch, ...]:
        """The cells of the wall as one or two stretches."""
        if self.kind == HORIZONTAL:
            return (Stretch(ROW, self.y1, self.x1, self.x2),)
        if self.kind == VERTICAL:
            return (Stretch(COLUMN, self.x1, self.y1, self.y2),)
        family, side = FAMILY[self.kind], SIDE[self.kind]
        starts_aside = self.first == "x"
        a, b = NORMAL[family]
        start, end = a * self.x1 + b * self.y1, a * self.x2 + b * self.y2
        main = start - side if starts_aside else start
        both = (
            Stretch(family, main, self.x1 + starts_aside, self.x2),
            Stretch(family, main + side, self.x1, self.x2 - (end == main)),
        )
        return tuple(stretch for stretch in both if stretch.low <= stretch.high)

    def cells(self) -> Iterator[tuple[int, int]]:
        """Every cell (x, y) of the wall."""
        for stretch in self.stretches():
            x, y, dx, dy = stretch.path()
            for at in range(stretch.high - stretch.low + 1):
                yield x + at * dx, y + at * dy

    def covers(self, x: int, y: int) -> bool:
        """Whether the wall holds the cell."""
        for family, line, low, high in self.stretches():
            a, b = NORMAL[family]
            if a * x + b * y == line and low <= (y if family == COLUMN else x) <= high:
                return True
        return False

    def to_json(self) -> dict[str, object]:
        """Return the wall as JSON data, as in questions and replays."""
        record: dict[str, object] = {"id": self.id, "kind": self.kind, "x1": self.x1, "y1": self.y1, "x2": self.x2, "y2": self.y2}
        if self.first:
            record["first"] = self.first
        return record

    def to_numbers(self) -> list[int]:
        """Return the wall as the numbers that old programs write: the kind's index, the ends, the axis."""
        kind = KINDS.index(self.kind)
        if kind == 0:
            return [0, self.y1, self.x1, self.x2]
        if kind == 1:
            return [1, self.x1, self.y1, self.y2]
        return [kind, self.x1, self.x2, self.y1, self.y2, int(self.first == "y")]


def wall_between(number: int, x1: int, y1: int, x2: int, y2: int) -> Wall:
    """The wall of ``gameserver`` between two ends on one row or column, which may come in either order."""
    low = min(x1, x2), min(y1, y2)
    return Wall(number, HORIZONTAL if y1 == y2 else VERTICAL, *low, max(x1, x2), max(y1, y2), "", (x1, y1) != low)


class Blocked(NamedTuple):
    """The reason for which a wall can't be built: ``reason`` is a code of the rules (see ``referee.games.evasion.rules.stepwise``)."""

    reason: str
    text: str
