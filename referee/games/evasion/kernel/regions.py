"""``board.regions`` over arrays: clear lines and captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.kernel.compiled import compiled, wide
from referee.games.evasion.kernel.state import HUNTER, PREY, Rules
from referee.games.evasion.kernel.walls import is_free

if TYPE_CHECKING:
    from referee.games.evasion.kernel.state import Ints


@compiled
def is_clear(games: Ints, walls: Ints, rules: Rules, g: int, ax: int, ay: int, bx: int, by: int) -> bool:
    """Whether no cell of the line between two cells is wall. Source: rules of Evasion, section "Capture", C1."""
    is_steep = abs(by - ay) > abs(bx - ax)
    # Along the longer axis, then across.
    if is_steep:
        ax, ay, bx, by = ay, ax, by, bx
    if bx < ax or (bx == ax and by < ay):
        ax, ay, bx, by = bx, by, ax, ay
    longer, shorter = bx - ax, abs(by - ay)
    sideways = 1 if by > ay else -1
    error, across = longer // 2, ay
    for along in range(ax, bx + 1):
        if not (is_free(games, walls, rules, g, across, along) if is_steep else is_free(games, walls, rules, g, along, across)):
            return False
        error -= shorter
        if error < 0:
            across += sideways
            error += longer
    return True


@compiled
def is_captured(games: Ints, walls: Ints, rules: Rules, g: int) -> bool:
    """Whether the players are near and in sight of each other. Source: rules of Evasion, section "Capture", C1."""
    hx, hy = wide(games[g, HUNTER]), wide(games[g, HUNTER + 1])
    px, py = wide(games[g, PREY]), wide(games[g, PREY + 1])
    dx, dy = hx - px, hy - py
    return dx * dx + dy * dy <= rules.radius_squared and is_clear(games, walls, rules, g, hx, hy, px, py)
