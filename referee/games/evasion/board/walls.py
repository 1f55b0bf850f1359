"""Walls: the cells that they cover, and the possible extent of a new wall.

Every wall lies on straight *lines* of four families, so questions about it are arithmetic on a few intervals and cost the same on
any board: ``row`` (y constant), ``column`` (x), ``rising`` (y - x) and ``falling`` (x + y). A horizontal or vertical wall is one
interval on one line; a diagonal or counter-diagonal one is two cells thick and lies on two neighbouring lines, *main* (through
its anchor) and *side*.

Source: rules of Evasion, section "Cells, walls, borders".
"""

from __future__ import annotations

from referee.games.values import short
from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Literal

    Span = tuple[int, int]
    Kind = Literal["horizontal", "vertical", "diagonal", "counter-diagonal"]
else:
    # Bots import the name for their annotations; importing ``typing`` for it would slow every start.
    Kind = str

HORIZONTAL: Literal["horizontal"] = "horizontal"
VERTICAL: Literal["vertical"] = "vertical"
DIAGONAL: Literal["diagonal"] = "diagonal"
COUNTER_DIAGONAL: Literal["counter-diagonal"] = "counter-diagonal"
KINDS: tuple[Kind, ...] = (HORIZONTAL, VERTICAL, DIAGONAL, COUNTER_DIAGONAL)

ROW, COLUMN, RISING, FALLING = range(4)

#: The family of lines that walls of each kind lie on.
_FAMILY = {HORIZONTAL: ROW, VERTICAL: COLUMN, DIAGONAL: RISING, COUNTER_DIAGONAL: FALLING}
#: A cell (x, y) lies on a line of a family if a * x + b * y is the line's number.
_NORMAL = ((0, 1), (1, 0), (-1, 1), (1, 1))
#: Offset from the main line of a two-cell-thick wall to its side line: y - x grows by one, x + y falls by one.
_SIDE = {DIAGONAL: 1, COUNTER_DIAGONAL: -1}


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
        family, side = _FAMILY[self.kind], _SIDE[self.kind]
        starts_aside = self.first == "x"
        a, b = _NORMAL[family]
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
            a, b = _NORMAL[family]
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
        """Return the wall as the numbers that old programs and recorded games write: the kind's index, the ends, the axis."""
        kind = KINDS.index(self.kind)
        if kind == 0:
            return [0, self.y1, self.x1, self.x2]
        if kind == 1:
            return [1, self.x1, self.y1, self.y2]
        return [kind, self.x1, self.x2, self.y1, self.y2, int(self.first == "y")]


def wall_of_numbers(number: int, numbers: Sequence[int]) -> Wall:
    """Return the wall that ``Wall.to_numbers`` has written, with an id. ValueError or another LookupError for anything else."""
    kind, *ends = numbers
    if kind == 0:
        y, x1, x2 = ends
        return Wall(number, KINDS[kind], x1, y, x2, y)
    if kind == 1:
        x, y1, y2 = ends
        return Wall(number, KINDS[kind], x, y1, x, y2)
    x1, x2, y1, y2, first = ends
    return Wall(number, KINDS[kind], x1, y1, x2, y2, "xy"[first])


def given_wall(number: int, x1: int, y1: int, x2: int, y2: int) -> Wall:
    """The wall of ``gameserver`` between two ends on one row or column, which may come in either order."""
    low = min(x1, x2), min(y1, y2)
    return Wall(number, HORIZONTAL if y1 == y2 else VERTICAL, *low, max(x1, x2), max(y1, y2), "", (x1, y1) != low)


def _meeting(family: int, line: int, other: Stretch) -> Span | None:
    """Where a stretch lies on a line: the first and last measure on that line, or None if they don't meet."""
    other_family, other_line, low, high = other
    if family == other_family:
        return (low, high) if line == other_line else None
    (a, b), (c, d) = _NORMAL[family], _NORMAL[other_family]
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
        put = object.__setattr__
        put(self, "width", width)
        put(self, "height", height)
        put(self, "all", tuple(walls))
        put(self, "stretches", tuple(stretch for wall in self.all for stretch in wall.stretches()))
        by_line: tuple[dict[int, tuple[Span, ...]], ...] = ({}, {}, {}, {})
        for family, line, low, high in self.stretches:
            by_line[family][line] = (*by_line[family].get(line, ()), (low, high))
        put(self, "_by_line", by_line)
        put(self, "_json", None)

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
            text = ",".join(
                f'{{"id":{w.id},"kind":"{w.kind}","x1":{w.x1},"y1":{w.y1},"x2":{w.x2},"y2":{w.y2}'
                + (f',"first":"{w.first}"}}' if w.first else "}")
                for w in self.all
            )
            object.__setattr__(self, "_json", f"[{text}]")
        return self._json or "[]"


class Blocked(NamedTuple):
    """The reason for which a wall can't be built: ``reason`` is a code of the rules (see ``referee.games.evasion.rules.stepwise``)."""

    reason: str
    text: str


def trace(walls: Walls, kind: Kind, x: int, y: int, span: Span | None, new_id: int) -> Wall | Blocked:
    """Return the wall of a kind through the anchor (x, y), with the given ``span`` or else as long as possible.

    Returns ``Blocked`` for a span that misses the anchor, leaves the board or meets a wall: a span is never trimmed.
    """
    if not walls.is_free(x, y):
        return Blocked("occupied", f"the anchor ({x}, {y}) is not a free cell")
    thick = kind in _SIDE
    axis, anchor = ("y", y) if kind == VERTICAL else ("x", x)
    if span is not None and not span[0] <= anchor <= span[1]:
        return Blocked("span", f"its span {_shown(span)} does not hold the hunter's {axis} {anchor}")
    first, last = _border(walls, kind, x, y)
    if span is not None:
        scale = 2 if thick else 1
        wanted = (span[0] - anchor) * scale, (span[1] - anchor) * scale + thick
        if wanted[0] < first or wanted[1] > last:
            return Blocked("off-board", f"its span {_shown(span)} leaves the board")
    low, high = _room(walls, kind, x, y, first, last)
    if span is not None:
        if wanted[0] < low or wanted[1] > high:
            return Blocked("occupied", f"its span {_shown(span)} meets another wall")
        low, high = wanted
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
    family = _FAMILY[kind]
    anchor = y if kind == VERTICAL else x
    a, b = _NORMAL[family]
    lines = [a * x + b * y]
    if kind in _SIDE:
        lines.append(lines[0] + _SIDE[kind])
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
