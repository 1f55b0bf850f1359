"""``board.walls`` over arrays: free cells, and the possible extent of a new wall.

``g`` is the number of a game. Source: rules of Evasion, section "Cells, walls, borders".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.kernel.compiled import by_rule_set, compiled, wide
from referee.games.evasion.kernel.state import (
    ALLOWED,
    BY_SPAN,
    COUNT,
    COUNTER_DIAGONAL,
    DIAGONAL,
    FIRST_AXIS,
    HIGH,
    HORIZONTAL,
    LINE,
    LOW,
    NO_AXIS,
    OCCUPIED,
    OF_KIND,
    OFF_BOARD,
    SIDE_HIGH,
    SIDE_LOW,
    VERTICAL,
    X1,
    X2,
    X_FIRST,
    Y1,
    Y2,
    Y_FIRST,
    Rules,
)

if TYPE_CHECKING:
    from referee.games.evasion.kernel.state import Ints


#: More cells than a board has from end to end.
_FAR = 1 << 20


@compiled
def _is_free_of_thin(games: Ints, walls: Ints, rules: Rules, g: int, x: int, y: int) -> bool:
    """``is_free`` of ``classic``: all walls are thin, so each is a rectangle."""
    if x < 0 or y < 0 or x >= rules.width or y >= rules.height:
        return False
    # Without an early exit, one instruction tests several walls.
    hits = 0
    for wall in range(games[g, COUNT]):
        hits |= (walls[g, X1, wall] <= x) & (x <= walls[g, X2, wall]) & (walls[g, Y1, wall] <= y) & (y <= walls[g, Y2, wall])
    return hits == 0


@compiled
def _is_free_of_all(games: Ints, walls: Ints, rules: Rules, g: int, x: int, y: int) -> bool:
    """``is_free`` of ``diagonal``: walls of all kinds."""
    if x < 0 or y < 0 or x >= rules.width or y >= rules.height:
        return False
    for wall in range(wide(games[g, COUNT])):  # noqa: SIM110 - compiled code has no all()
        if covers(walls, g, wall, x, y):
            return False
    return True


#: Whether a cell is on the board and no wall covers it.
is_free = by_rule_set(_is_free_of_thin, _is_free_of_all)


@compiled
def line_of(kind: int, x: int, y: int) -> int:
    """The number of the line of a kind's family through a cell."""
    if kind == HORIZONTAL:
        return y
    if kind == VERTICAL:
        return x
    return y - x if kind == DIAGONAL else x + y


@compiled
def side_of(kind: int) -> int:
    """Offset from the main line of a thick wall to its side line; 0 for a thin wall."""
    if kind == DIAGONAL:
        return 1
    return -1 if kind == COUNTER_DIAGONAL else 0


@compiled
def covers(walls: Ints, g: int, wall: int, x: int, y: int) -> bool:
    """Whether a wall holds a cell."""
    kind = wide(walls[g, OF_KIND, wall])
    line, at = line_of(kind, x, y), y if kind == VERTICAL else x
    if line == walls[g, LINE, wall]:
        return bool(walls[g, LOW, wall] <= at <= walls[g, HIGH, wall])
    if kind < DIAGONAL or line != walls[g, LINE, wall] + side_of(kind):
        return False
    return bool(walls[g, SIDE_LOW, wall] <= at <= walls[g, SIDE_HIGH, wall])


@compiled
def is_horizontal(games: Ints, walls: Ints, rules: Rules, g: int, x: int, y: int) -> bool:
    """Whether the obstacle in an occupied cell counts as horizontal: a horizontal wall, or a row outside the board."""
    if y < 0 or y >= rules.height:
        return True
    hits = 0
    for wall in range(games[g, COUNT]):
        covers_it = (walls[g, Y1, wall] == y) & (walls[g, X1, wall] <= x) & (x <= walls[g, X2, wall])
        hits |= covers_it & (walls[g, OF_KIND, wall] == HORIZONTAL)
    return hits != 0


@compiled
def border(rules: Rules, kind: int, x: int, y: int) -> tuple[int, int]:
    """The first and last place on the board of a wall through (x, y). Ignores other walls."""
    last_x, last_y = rules.width - 1, rules.height - 1
    if kind == HORIZONTAL:
        return -x, last_x - x
    if kind == VERTICAL:
        return -y, last_y - y
    if kind == DIAGONAL:
        return -min(2 * x, 2 * y + 1), min(2 * (last_y - y), 2 * (last_x - x) + 1)
    return -min(2 * x, 2 * (last_y - y) + 1), min(2 * y, 2 * (last_x - x) + 1)


@compiled
def _normal(kind: int) -> tuple[int, int]:
    """Factors (a, b): a cell lies on a line of the kind's family if a * x + b * y is the line's number."""
    if kind == HORIZONTAL:
        return 0, 1
    if kind == VERTICAL:
        return 1, 0
    return (-1, 1) if kind == DIAGONAL else (1, 1)


@compiled
def meeting(kind: int, line: int, other: int, other_line: int, low: int, high: int) -> tuple[int, int]:
    """The first and last measure at which a stretch of a wall of the kind ``other`` lies on a line; (1, 0) if they don't meet."""
    if kind == other:
        return (low, high) if line == other_line else (1, 0)
    a, b = _normal(kind)
    c, d = _normal(other)
    # Cramer's rule. Two diagonals can pass between cells.
    determinant = a * d - b * c
    over = line * d - other_line * b
    x = over // determinant
    y = (a * other_line - c * line) // determinant
    if x * determinant != over or not low <= (y if other == VERTICAL else x) <= high:
        return 1, 0
    at = y if kind == VERTICAL else x
    return at, at


@compiled
def _room_between_thin(games: Ints, walls: Ints, _: Rules, g: int, kind: int, x: int, y: int, low: int, high: int) -> tuple[int, int]:
    """``room`` of ``classic``: all walls are thin, so each is a rectangle; one that crosses the new wall's line limits it on one side."""
    # Without branches, one instruction tests several walls. A limit that doesn't apply is far away.
    if kind == VERTICAL:
        for wall in range(games[g, COUNT]):
            is_aside = (walls[g, X1, wall] > x) | (walls[g, X2, wall] < x)
            first, last = walls[g, Y1, wall] - y, walls[g, Y2, wall] - y
            high = min(high, first - 1 + _FAR * (is_aside | (first <= 0)))
            low = max(low, last + 1 - _FAR * (is_aside | (last >= 0)))
        return low, high
    for wall in range(games[g, COUNT]):
        is_aside = (walls[g, Y1, wall] > y) | (walls[g, Y2, wall] < y)
        first, last = walls[g, X1, wall] - x, walls[g, X2, wall] - x
        high = min(high, first - 1 + _FAR * (is_aside | (first <= 0)))
        low = max(low, last + 1 - _FAR * (is_aside | (last >= 0)))
    return low, high


@compiled
def _room_between_all(games: Ints, walls: Ints, _: Rules, g: int, kind: int, x: int, y: int, low: int, high: int) -> tuple[int, int]:
    """``room`` of ``diagonal``: walls of all kinds."""
    anchor = y if kind == VERTICAL else x
    scale = 2 if kind >= DIAGONAL else 1
    for aside in range(scale):
        line = line_of(kind, x, y) + aside * side_of(kind)
        for wall in range(games[g, COUNT]):
            other = wide(walls[g, OF_KIND, wall])
            for other_aside in range(2 if other >= DIAGONAL else 1):
                start, end = wide(walls[g, LOW + 2 * other_aside, wall]), wide(walls[g, HIGH + 2 * other_aside, wall])
                first, last = meeting(kind, line, other, wide(walls[g, LINE, wall]) + other_aside * side_of(other), start, end)
                if start > end or first > last:
                    continue
                if last >= anchor:
                    high = min(high, scale * (max(first, anchor) - anchor) + aside - 1)
                if first < anchor:
                    low = max(low, scale * (min(last, anchor - 1) - anchor) + aside + 1)
    return low, high


#: The first and last free place of a wall through the free cell (x, y), within ``low`` and ``high``, the ends of the board.
room = by_rule_set(_room_between_thin, _room_between_all)


@compiled
def place(kind: int, x: int, y: int, at: int) -> tuple[int, int, int]:
    """The cell at a place of a wall counted from its anchor, and 1 if it lies on the side line."""
    if kind == HORIZONTAL:
        return x + at, y, 0
    if kind == VERTICAL:
        return x, y + at, 0
    along, aside = at >> 1, at & 1
    if kind == DIAGONAL:
        return x + along, y + along + aside, aside
    return x + along, y - along - aside, aside


@compiled
def trace(
    games: Ints, walls: Ints, rules: Rules, g: int, kind: int, x: int, y: int, has_span: int, start: int, end: int
) -> tuple[int, int, int]:
    """The reason that forbids the wall of a kind through the anchor (x, y), or ``ALLOWED`` with its first and last place.

    With ``has_span`` the wall runs from the measure ``start`` to ``end``, else as far as possible.
    """
    if not is_free(games, walls, rules, g, x, y):
        return OCCUPIED, 0, 0
    thick = 1 if kind >= DIAGONAL else 0
    anchor = y if kind == VERTICAL else x
    if has_span and not start <= anchor <= end:
        return BY_SPAN, 0, 0
    first, last = border(rules, kind, x, y)
    wanted_low, wanted_high = (start - anchor) * (1 + thick), (end - anchor) * (1 + thick) + thick
    if has_span and (wanted_low < first or wanted_high > last):
        return OFF_BOARD, 0, 0
    low, high = room(games, walls, rules, g, kind, x, y, first, last)
    if not has_span:
        return ALLOWED, low, high
    if wanted_low < low or wanted_high > high:
        return OCCUPIED, 0, 0
    return ALLOWED, wanted_low, wanted_high


@compiled
def put(walls: Ints, g: int, wall: int, kind: int, x: int, y: int, low: int, high: int) -> None:
    """Write the wall through the anchor (x, y), from one place to another, into the column ``wall``."""
    x1, y1, starts_aside = place(kind, x, y, low)
    x2, y2, ends_aside = place(kind, x, y, high)
    walls[g, X1, wall] = x1
    walls[g, Y1, wall] = y1
    walls[g, X2, wall] = x2
    walls[g, Y2, wall] = y2
    walls[g, OF_KIND, wall] = kind
    walls[g, LINE, wall] = line_of(kind, x, y)
    if kind < DIAGONAL:
        walls[g, FIRST_AXIS, wall] = NO_AXIS
        walls[g, LOW, wall] = y1 if kind == VERTICAL else x1
        walls[g, HIGH, wall] = y2 if kind == VERTICAL else x2
        walls[g, SIDE_LOW, wall] = 1
        walls[g, SIDE_HIGH, wall] = 0
    else:
        walls[g, FIRST_AXIS, wall] = X_FIRST if starts_aside else Y_FIRST
        walls[g, LOW, wall] = x1 + starts_aside
        walls[g, HIGH, wall] = x2
        walls[g, SIDE_LOW, wall] = x1
        walls[g, SIDE_HIGH, wall] = x2 - (1 - ends_aside)
