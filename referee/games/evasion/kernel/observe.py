"""What policies see: positions as numbers or as planes, and masks of actions. Compiled, on several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba

from referee.games.evasion.kernel.actions import mask_hunter, mask_prey, mask_spans
from referee.games.evasion.kernel.compiled import compiled, threaded, wide
from referee.games.evasion.kernel.loop import BLOCK
from referee.games.evasion.kernel.state import (
    COUNT,
    DIAGONAL,
    FIRST_AXIS,
    HIGH,
    HUNTER,
    LINE,
    LOW,
    OF_KIND,
    PREY,
    STEP,
    TIMER,
    X1,
    X_FIRST,
    Y1,
    Y_FIRST,
    Rules,
)
from referee.games.evasion.kernel.walls import side_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

#: The first columns of a vector; rows of walls follow, in building order.
SCALARS = (
    *("hunter_x", "hunter_y", "hunter_dx", "hunter_dy", "prey_x", "prey_y", "prey_dx", "prey_dy", "apart_x", "apart_y"),
    *("wall_timer", "prey_wait", "steps", "walls"),
)
_SCALARS = len(SCALARS)
#: Columns for each wall: one for each kind, its ends, and with diagonals its first axis.
_COLUMNS, _DIAGONAL_COLUMNS = 2 + 4, 4 + 4 + 1
#: Planes around a player, and planes of the whole board.
AROUND = ("blocked", "off_board", "hunter", "prey")
BOARD = ("walls", "hunter", "prey")
#: The value of a cell of a plane that has the plane's property.
MARK = 255
#: Masks of actions.
NO_MASK, HUNTER_MASK, SPANS_MASK, PREY_MASK = range(4)


class View(NamedTuple):
    """The part of the board that planes show: its lowest column and row, and its size in cells."""

    left: int
    low: int
    width: int
    height: int


def wall_columns(rules: Rules) -> int:
    """The number of columns of a vector for each wall: one for each kind, its ends, and the first axis of diagonal walls."""
    return _DIAGONAL_COLUMNS if rules.kinds > DIAGONAL else _COLUMNS


@compiled
def _scalars(games: Ints, rules: Rules, g: int, out: NDArray[np.float32]) -> None:
    """Write the first columns of a game's vector."""
    across, up = 1 / max(1, rules.width - 1), 1 / max(1, rules.height - 1)
    for player in range(2):
        at = HUNTER + 4 * player
        out[g, 4 * player] = games[g, at] * across
        out[g, 4 * player + 1] = games[g, at + 1] * up
        out[g, 4 * player + 2] = games[g, at + 2]
        out[g, 4 * player + 3] = games[g, at + 3]
    out[g, 8] = (games[g, PREY] - games[g, HUNTER]) * across
    out[g, 9] = (games[g, PREY + 1] - games[g, HUNTER + 1]) * up
    out[g, 10] = games[g, TIMER] / max(1, rules.cooldown)
    out[g, 11] = (rules.prey_period - 1 - games[g, STEP] % rules.prey_period) / rules.prey_period
    out[g, 12] = games[g, STEP] / rules.max_steps
    out[g, 13] = games[g, COUNT] / max(1, rules.max_walls)


@compiled
def _vector(games: Ints, walls: Ints, rules: Rules, g: int, out: NDArray[np.float32]) -> None:
    """Write a game's vector: the scalars and a row for each wall; rows without a wall are zero."""
    _scalars(games, rules, g, out)
    across, up = 1 / max(1, rules.width - 1), 1 / max(1, rules.height - 1)
    kinds, count = rules.kinds, games[g, COUNT]
    columns = _DIAGONAL_COLUMNS if rules.kinds > DIAGONAL else _COLUMNS
    for wall in range(count):
        at = _SCALARS + columns * wall
        for kind in range(kinds):
            out[g, at + kind] = walls[g, OF_KIND, wall] == kind
        for end in range(2):
            out[g, at + kinds + 2 * end] = walls[g, X1 + 2 * end, wall] * across
            out[g, at + kinds + 2 * end + 1] = walls[g, Y1 + 2 * end, wall] * up
        if columns == _DIAGONAL_COLUMNS:
            first = walls[g, FIRST_AXIS, wall]
            out[g, at + columns - 1] = 1 if first == X_FIRST else -1 if first == Y_FIRST else 0
    for at in range(_SCALARS + columns * count, out.shape[1]):
        out[g, at] = 0


@compiled
def _mask(games: Ints, walls: Ints, rules: Rules, g: int, which: int, mask: NDArray[np.int8]) -> None:
    """Write the mask of a game's actions."""
    if which == HUNTER_MASK:
        mask_hunter(games, walls, rules, g, mask)
    elif which == SPANS_MASK:
        mask_spans(games, rules, g, mask)
    elif which == PREY_MASK:
        mask_prey(games, rules, g, mask)


@compiled
def some_vectors(
    games: Ints, walls: Ints, rules: Rules, first: int, last: int, which: int, out: NDArray[np.float32], mask: NDArray[np.int8]
) -> None:
    """Write the vectors and the masks of the games from ``first`` to ``last`` - 1, see ``vectors``."""
    for g in range(first, last):
        if out.shape[1] > _SCALARS:
            _vector(games, walls, rules, g, out)
        else:
            _scalars(games, rules, g, out)
        _mask(games, walls, rules, g, which, mask)


@threaded
def vectors(games: Ints, walls: Ints, rules: Rules, which: int, out: NDArray[np.float32], mask: NDArray[np.int8]) -> None:
    """Write the vectors (B, N) and the masks of all games. With as many columns as scalars, the vectors have no walls."""
    blocks = (len(games) + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        some_vectors(games, walls, rules, block * BLOCK, min((block + 1) * BLOCK, len(games)), which, out, mask)


@compiled
def _fill(planes: NDArray[np.uint8], g: int, plane: int, left: int, right: int, low: int, high: int) -> None:
    """Mark a rectangle of a plane's cells, as far as it lies in the plane."""
    for row in range(max(low, 0), min(high, planes.shape[2] - 1) + 1):
        for column in range(max(left, 0), min(right, planes.shape[3] - 1) + 1):
            planes[g, plane, row, column] = MARK


@compiled
def _planes(games: Ints, walls: Ints, rules: Rules, g: int, view: View, planes: NDArray[np.uint8]) -> None:
    """Write a game's planes. Cells of the board outside the view aren't shown; the walls are in the first plane."""
    rows, columns = planes.shape[2], planes.shape[3]
    players = planes.shape[1] - 2
    for plane in range(planes.shape[1]):
        for row in range(rows):
            for column in range(columns):
                x, y = view.left + column, view.low + row
                is_off = players > 1 and plane < players and (x < 0 or y < 0 or x >= rules.width or y >= rules.height)
                planes[g, plane, row, column] = MARK if is_off else 0
    for line in range(2 * games[g, COUNT] + 2):
        # The stretches of all walls, two each, then both players; a thin wall or a player is one rectangle.
        wall, aside = line // 2, line % 2
        plane, along = 0, 0
        if wall == games[g, COUNT]:
            plane = players + aside
            x1 = x2 = games[g, HUNTER + 4 * aside]
            y1 = y2 = games[g, HUNTER + 4 * aside + 1]
        elif walls[g, OF_KIND, wall] < DIAGONAL:
            if aside:
                continue
            x1, y1, x2, y2 = walls[g, X1, wall], walls[g, Y1, wall], walls[g, X1 + 2, wall], walls[g, Y1 + 2, wall]
        else:
            along = 1 if walls[g, OF_KIND, wall] == DIAGONAL else -1
            start = walls[g, LINE, wall] + aside * side_of(wide(walls[g, OF_KIND, wall]))
            x1, x2 = walls[g, LOW + 2 * aside, wall], walls[g, HIGH + 2 * aside, wall]
            x1, x2 = max(x1, view.left), min(x2, view.left + view.width - 1)
            y1 = y2 = start + along * x1
        for _ in range(x2 - x1 + 1 if along else 1):
            left, low = (x1 - view.left) * columns // view.width, (y1 - view.low) * rows // view.height
            right = left if along else (x2 - view.left) * columns // view.width
            high = low if along else (y2 - view.low) * rows // view.height
            _fill(planes, g, plane, left, right, low, high)
            x1 += 1
            y1 += along


@compiled
def some_planes(games: Ints, walls: Ints, rules: Rules, first: int, last: int, player: int, planes: NDArray[np.uint8]) -> None:
    """Write the planes of the games from ``first`` to ``last`` - 1, see ``planes_of``."""
    side = planes.shape[2]
    for g in range(first, last):
        left, low, width, height = 0, 0, rules.width, rules.height
        if player:
            left, low, width, height = games[g, player] - side // 2, games[g, player + 1] - side // 2, side, side
        _planes(games, walls, rules, g, View(left, low, width, height), planes)


@threaded
def planes_of(games: Ints, walls: Ints, rules: Rules, player: int, planes: NDArray[np.uint8]) -> None:
    """Write the planes (B, C, S, S) of all games: row is y, column is x. ``player`` is ``HUNTER`` or ``PREY``, or 0 for the whole board."""
    blocks = (len(games) + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        some_planes(games, walls, rules, block * BLOCK, min((block + 1) * BLOCK, len(games)), player, planes)
