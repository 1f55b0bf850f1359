"""The walls on a board, and the possible extent of a new wall.

Every wall lies on straight lines (see ``wall``), so questions about it are arithmetic on a few intervals and cost the same on any board.

Source: rules of Evasion, section "Cells, walls, borders".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from referee.games.evasion.board.wall import COLUMN, DIAGONAL, FAMILY, HORIZONTAL, NORMAL, ROW, SIDE, VERTICAL, Blocked, Wall
from referee.games.values import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.games.evasion.board.wall import Kind, Span, Stretch


def _meeting(family: int, line: int, other: Stretch) -> Span | None:
    """Where a stretch lies on a line: the first and last measure on that line, or None if they don't meet."""
    other_family, other_line, low, high = other
    if family == other_family:
        return (low, high) if line == other_line else None
    (a, b), (c, d) = NORMAL[family], NORMAL[other_family]
    # Cramer's rule. Two diagonals can pass between cells.
    determinant = a * d - b * c
    x, rest = divmod(line * d - other_line * b, determinant)
    y = (a * other_line - c * line) // determinant
    if rest or not low <= (y if other_family == COLUMN else x) <= high:
        return None
    at = y if family == COLUMN else x
    return at, at


class Walls:
    """The walls that stand on a board of ``width`` x ``height`` cells, in building order. A frozen value."""

    __slots__ = ("_by_line", "_json", "all", "height", "stretches", "width")

    width: int
    height: int
    all: tuple[Wall, ...]
    stretches: tuple[Stretch, ...]
    _by_line: tuple[dict[int, tuple[Span, ...]], ...]
    _json: str | None

    def __init__(self, width: int, height: int, walls: Iterable[Wall] = ()) -> None:
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "height", height)
        object.__setattr__(self, "all", tuple(walls))
        object.__setattr__(self, "stretches", tuple(stretch for wall in self.all for stretch in wall.stretches()))
        by_line: tuple[dict[int, tuple[Span, ...]], ...] = ({}, {}, {}, {})
        for family, line, low, high in self.stretches:
            by_line[family][line] = (*by_line[family].get(line, ()), (low, high))
        object.__setattr__(self, "_by_line", by_line)
        object.__setattr__(self, "_json", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Walls is frozen: {name} can't be set")

    def __reduce__(self) -> tuple[type[Walls], tuple[int, int, tuple[Wall, ...]]]:
        return Walls, (self.width, self.height, self.all)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Walls):
            return NotImplemented
        return self.all == other.all and self.width == other.width and self.height == other.height

    def __hash__(self) -> int:
        return hash((self.width, self.height, self.all))

    def __repr__(self) -> str:
        return f"Walls({self.width}, {self.height}, {list(self.all)!r})"

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Wall]:
        return iter(self.all)

    def adding(self, wall: Wall) -> Walls:
        """Return these walls with one more."""
        return Walls(self.width, self.height, (*self.all, wall))

    def without(self, ids: frozenset[int]) -> Walls:
        """Return these walls without those with the given ids."""
        return Walls(self.width, self.height, (wall for wall in self.all if wall.id not in ids))

    def is_free(self, x: int, y: int) -> bool:  # noqa: C901, PLR0912 - written out: it is called several times a step
        """Whether a cell is on the board and no wall covers it."""
        if x < 0 or y < 0 or x >= self.width or y >= self.height:
            return False
        if not self.all:
            return True
        rows, columns, rising, falling = self._by_line
        if y in rows:
            for low, high in rows[y]:
                if low <= x <= high:
                    return False
        if x in columns:
            for low, high in columns[x]:
                if low <= y <= high:
                    return False
        if rising and y - x in rising:
            for low, high in rising[y - x]:
                if low <= x <= high:
                    return False
        if falling and x + y in falling:
            for low, high in falling[x + y]:
                if low <= x <= high:
                    return False
        return True

    def is_horizontal(self, x: int, y: int) -> bool:
        """Whether the obstacle in an occupied cell counts as horizontal: a horizontal wall, or a row outside the board."""
        if y < 0 or y >= self.height:
            return True
        return any(low <= x <= high for low, high in self._by_line[ROW].get(y, ()))

    def json_text(self) -> str:
        """All walls as a JSON array, made once."""
        if self._json is None:
            object.__setattr__(self, "_json", json.dumps([wall.to_json() for wall in self.all], separators=(",", ":")))
        return self._json or "[]"


def trace(walls: Walls, kind: Kind, x: int, y: int, span: Span | None, new_id: int) -> Wall | Blocked:
    """Return the wall of a kind through the anchor (x, y), with the given ``span`` or else as long as possible.

    Returns ``Blocked`` for a span that misses the anchor, leaves the board or meets a wall: a span is never trimmed.
    """
    if not walls.is_free(x, y):
        return Blocked("occupied", f"the anchor ({x}, {y}) is not a free cell")
    thick = kind in SIDE
    axis, anchor = ("y", y) if kind == VERTICAL else ("x", x)
    if span is not None and not span[0] <= anchor <= span[1]:
        return Blocked("span", f"its span {_shown(span)} does not hold the hunter's {axis} {anchor}")
    first, last = _border(walls, kind, x, y)
    if span is not None:
        scale = 2 if thick else 1
        ends = (span[0] - anchor) * scale, (span[1] - anchor) * scale + thick
        if ends[0] < first or ends[1] > last:
            return Blocked("off-board", f"its span {_shown(span)} leaves the board")
    low, high = _room(walls, kind, x, y, first, last)
    if span is not None:
        if ends[0] < low or ends[1] > high:
            return Blocked("occupied", f"its span {_shown(span)} meets another wall")
        low, high = ends
    x1, y1, aside = _place(kind, x, y, low)
    x2, y2, _ = _place(kind, x, y, high)
    return Wall(new_id, kind, x1, y1, x2, y2, ("x" if aside else "y") if thick else "")


def _shown(span: Span) -> str:
    return f"[{short(span[0])}, {short(span[1])}]"


def _place(kind: Kind, x: int, y: int, at: int) -> tuple[int, int, bool]:
    """The cell at a place of a wall counted from its anchor, and whether it lies on the side line."""
    if kind == HORIZONTAL:
        return x + at, y, False
    if kind == VERTICAL:
        return x, y + at, False
    along, aside = at >> 1, bool(at & 1)
    if kind == DIAGONAL:
        return x + along, y + along + aside, aside
    return x + along, y - along - aside, aside


def _room(walls: Walls, kind: Kind, x: int, y: int, low: int, high: int) -> Span:
    """Return the first and last free place of a wall through the free cell (x, y), within ``low`` and ``high``, the ends of the board."""
    family = FAMILY[kind]
    anchor = y if kind == VERTICAL else x
    a, b = NORMAL[family]
    lines = [a * x + b * y]
    if kind in SIDE:
        lines.append(lines[0] + SIDE[kind])
    scale = len(lines)
    for aside, line in enumerate(lines):
        for stretch in walls.stretches:
            met = _meeting(family, line, stretch)
            if met is None:
                continue
            first, last = met
            if last >= anchor:
                high = min(high, scale * (max(first, anchor) - anchor) + aside - 1)
            if first < anchor:
                low = max(low, scale * (min(last, anchor - 1) - anchor) + aside + 1)
    return low, high


def _border(walls: Walls, kind: Kind, x: int, y: int) -> Span:
    """Return the first and last place on the board of a wall through (x, y). Ignores other walls."""
    last_x, last_y = walls.width - 1, walls.height - 1
    if kind == HORIZONTAL:
        return -x, last_x - x
    if kind == VERTICAL:
        return -y, last_y - y
    if kind == DIAGONAL:
        # Upwards each pair of places needs one row, then one column; downwards one column, then one row.
        return -min(2 * x, 2 * y + 1), min(2 * (last_y - y), 2 * (last_x - x) + 1)
    return -min(2 * x, 2 * (last_y - y) + 1), min(2 * y, 2 * (last_x - x) + 1)
