"""``board.bounce`` over arrays: the bounce rules of ``classic`` and ``diagonal``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.kernel.compiled import by_rule_set, compiled
from referee.games.evasion.kernel.walls import is_free, is_horizontal

if TYPE_CHECKING:
    from referee.games.evasion.kernel.state import Ints, Rules


@compiled
def by_kind(games: Ints, walls: Ints, rules: Rules, g: int, x: int, y: int, dx: int, dy: int) -> tuple[int, int, int, int]:
    """Reflect according to the kind of the wall that is hit. Source: rules of Evasion, section "B1"."""
    if is_free(games, walls, rules, g, x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    is_level = is_horizontal(games, walls, rules, g, x + dx, y + dy)
    for attempt in range(2):
        if is_level == (attempt == 0):
            if is_free(games, walls, rules, g, x + dx, y):
                return x + dx, y, dx, -dy
        elif is_free(games, walls, rules, g, x, y + dy):
            return x, y + dy, -dx, dy
    return x, y, -dx, -dy


@compiled
def by_neighbours(games: Ints, walls: Ints, rules: Rules, g: int, x: int, y: int, dx: int, dy: int) -> tuple[int, int, int, int]:
    """Reflect according to the cells beside the one that is hit. Source: rules of Evasion, section "B2"."""
    if is_free(games, walls, rules, g, x + dx, y + dy):
        return x + dx, y + dy, dx, dy
    if dx == 0 or dy == 0:
        return x, y, -dx, -dy
    beside_x, beside_y = is_free(games, walls, rules, g, x + dx, y), is_free(games, walls, rules, g, x, y + dy)
    if beside_x and beside_y:
        # Neither neighbour is wall: the thickness of the obstacle decides, one cell further on.
        beside_x, beside_y = is_free(games, walls, rules, g, x + dx, y + 2 * dy), is_free(games, walls, rules, g, x + 2 * dx, y + dy)
        if beside_x == beside_y:
            return x, y, -dx, -dy
    if not (beside_x or beside_y):
        return x, y, -dx, -dy
    if beside_y:
        return x, y + dy, -dx, dy
    return x + dx, y, dx, -dy


#: Moves a player by one cell, by the bounce rule of the rule set.
bounce = by_rule_set(by_kind, by_neighbours)
