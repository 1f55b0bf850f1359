"""How a player moves one cell among walls: one function for each bounce rule.

Each takes the walls, a cell (x, y) and a velocity (dx, dy), and gives the cell and velocity after the move.
"""

from __future__ import annotations

from referee.record import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.evasion.walls import Walls

    Motion = tuple[int, int, int, int]


def by_kind(walls: Walls, x: int, y: int, dx: int, dy: int) -> Motion:
    """Reflect off the kind of wall that is hit. Source: rules of Evasion, section "B1"."""
    if walls.is_free(x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    off_horizontal = (x + dx, y, dx, -dy)
    off_vertical = (x, y + dy, -dx, dy)
    tries = (off_horizontal, off_vertical) if walls.is_horizontal(x + dx, y + dy) else (off_vertical, off_horizontal)
    for motion in tries:
        if walls.is_free(motion[0], motion[1]):
            return motion
    return x, y, -dx, -dy


def by_neighbours(walls: Walls, x: int, y: int, dx: int, dy: int) -> Motion:
    """Reflect as the cells beside the one that is hit say. Source: rules of Evasion, section "B2"."""
    is_free = walls.is_free
    if is_free(x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    if not (dx and dy):
        return x, y, -dx, -dy
    beside_x, beside_y = is_free(x + dx, y), is_free(x, y + dy)
    if beside_x and beside_y:
        # Neither neighbour is wall: the thickness of what was hit decides, one cell further on.
        beside_x, beside_y = is_free(x + dx, y + 2 * dy), is_free(x + 2 * dx, y + dy)
        if beside_x == beside_y:
            return x, y, -dx, -dy
    if not (beside_x or beside_y):
        return x, y, -dx, -dy
    if beside_y:
        return x, y + dy, -dx, dy
    return x + dx, y, dx, -dy
