"""The bounce rules: one function for each, which moves a player by one cell.

Each takes the walls, a cell (x, y) and a velocity (dx, dy), and returns the cell and velocity after the move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.evasion.board.walls import Walls

    Motion = tuple[int, int, int, int]


def by_kind(walls: Walls, x: int, y: int, dx: int, dy: int) -> Motion:
    """Reflect according to the kind of the wall that is hit. Source: rules of Evasion, section "B1"."""
    is_free = walls.is_free
    if is_free(x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    if walls.is_horizontal(x + dx, y + dy):
        if is_free(x + dx, y):
            return x + dx, y, dx, -dy
        if is_free(x, y + dy):
            return x, y + dy, -dx, dy
    elif is_free(x, y + dy):
        return x, y + dy, -dx, dy
    elif is_free(x + dx, y):
        return x + dx, y, dx, -dy
    return x, y, -dx, -dy


def by_neighbours(walls: Walls, x: int, y: int, dx: int, dy: int) -> Motion:
    """Reflect according to the cells beside the one that is hit. Source: rules of Evasion, section "B2"."""
    is_free = walls.is_free
    if is_free(x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    if not (dx and dy):
        return x, y, -dx, -dy
    beside_x, beside_y = is_free(x + dx, y), is_free(x, y + dy)
    if beside_x and beside_y:
        # Neither neighbour is wall: the thickness of the obstacle decides, one cell further on.
        beside_x, beside_y = is_free(x + dx, y + 2 * dy), is_free(x + 2 * dx, y + dy)
        if beside_x == beside_y:
            return x, y, -dx, -dy
    if not (beside_x or beside_y):
        return x, y, -dx, -dy
    if beside_y:
        return x, y + dy, -dx, dy
    return x + dx, y, dx, -dy


def by_turning(walls: Walls, x: int, y: int, dx: int, dy: int) -> Motion:
    """Turn until the way is free, then move. A player that is blocked in all four headings keeps its cell and its heading.

    A heading that was tried before is replaced by the next untried one clockwise from it (y grows downwards).
    Source: rules of Evasion, section "B3".
    """
    is_free = walls.is_free
    tried: set[tuple[int, int]] = set()
    heading = (dx, dy)
    while len(tried) < len(_CLOCKWISE):
        while heading in tried:
            heading = _CLOCKWISE[(_CLOCKWISE.index(heading) + 1) % len(_CLOCKWISE)]
        hx, hy = heading
        if is_free(x + hx, y + hy):
            return x + hx, y + hy, hx, hy
        tried.add(heading)
        beside_x, beside_y = is_free(x + hx, y), is_free(x, y + hy)
        # Reverse each direction that is blocked beside the player; reverse both if neither or both are blocked.
        heading = (hx if beside_x > beside_y else -hx, hy if beside_y > beside_x else -hy)
    return x, y, dx, dy


#: The diagonal headings clockwise as they are drawn with y downwards: NE, SE, SW, NW.
_CLOCKWISE = ((1, -1), (1, 1), (-1, 1), (-1, -1))
