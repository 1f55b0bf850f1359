"""Actions as numbers, for learning: to moves of the kernel, and which of them have their effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.kernel.bounce import bounce
from referee.games.evasion.kernel.compiled import compiled, wide
from referee.games.evasion.kernel.opponents import LONGEST, discrete
from referee.games.evasion.kernel.state import ALLOWED, COUNT, DIAGONAL, HUNTER, STEP, TIMER, VERTICAL, WALL_FIELDS, Rules
from referee.games.evasion.kernel.stepwise import KEEP, NO_WALL, NONE, OLDEST, can_build
from referee.games.evasion.kernel.walls import border

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

#: The prey's directions; direction a is dx = a // 3 - 1, dy = a % 3 - 1, so that ``STILL`` is (0, 0).
DIRECTIONS = 9
STILL = 4
#: Columns of a hunter's action with a span: kind of wall, wall to remove, 1 for a span, cells of the span before and after the hunter.
SPANS = ("build", "remove", "has_span", "before", "after")
_ROWS = len(WALL_FIELDS)


@compiled
def hunters_do(rules: Rules, actions: NDArray[np.int64], builds: Ints) -> None:
    """Write the moves of discrete actions. A number that is no action does nothing."""
    kinds = rules.kinds
    for g in range(len(actions)):
        action = actions[g]
        discrete(action if 0 <= action <= 2 * kinds + rules.max_walls else 0, kinds, builds, g)


@compiled
def hunters_span(games: Ints, rules: Rules, actions: NDArray[np.int64], builds: Ints) -> None:
    """Write the moves of actions with spans (B, 5), columns as ``SPANS``. The edges of the board cut a span short.

    ``build`` is 0 for no wall, else 1 + its kind; ``remove`` is 0 for none, 1 for the oldest wall, else 2 + the index of a wall.
    """
    for g in range(len(actions)):
        kind, removed = actions[g, 0] - 1, actions[g, 1] - 2
        is_kind = 0 <= kind < rules.kinds
        builds[g, 0] = kind if is_kind else NO_WALL
        builds[g, 1] = removed if 0 <= removed < rules.max_walls else OLDEST if removed == -1 else NONE
        builds[g, 2] = is_kind and actions[g, 2] == 1
        if builds[g, 2]:
            x, y = wide(games[g, HUNTER]), wide(games[g, HUNTER + 1])
            thick = 1 if kind >= DIAGONAL else 0
            first, last = border(rules, kind, x, y)
            anchor = y if kind == VERTICAL else x
            builds[g, 3] = anchor - max(0, min(actions[g, 3], -first // (1 + thick)))
            builds[g, 4] = anchor + max(0, min(actions[g, 4], (last - thick) // (1 + thick)))


@compiled
def preys_go(actions: NDArray[np.int64], goes: Ints) -> None:
    """Write the directions of preys. A number that is no action keeps the direction."""
    for g in range(len(actions)):
        if 0 <= actions[g] < DIRECTIONS:
            goes[g, 0] = actions[g] // 3 - 1
            goes[g, 1] = actions[g] % 3 - 1
        else:
            goes[g, 0] = KEEP
            goes[g, 1] = 0


@compiled
def _copy(walls: Ints, g: int, source: int, target: int) -> None:
    for row in range(_ROWS):
        walls[g, row, target] = walls[g, row, source]


@compiled
def _mask_builds(games: Ints, walls: Ints, rules: Rules, g: int, mask: NDArray[np.int8], first: int) -> None:
    """Write for each kind whether its longest wall can be built in this step."""
    x, y = wide(games[g, HUNTER]), wide(games[g, HUNTER + 1])
    to_x, to_y, _, _ = bounce(games, walls, rules, g, x, y, wide(games[g, HUNTER + 2]), wide(games[g, HUNTER + 3]))
    for kind in range(rules.kinds):
        mask[g, first + kind] = can_build(games, walls, rules, g, kind, LONGEST, LONGEST, LONGEST, x, y, to_x, to_y) == ALLOWED


@compiled
def mask_hunter(games: Ints, walls: Ints, rules: Rules, g: int, mask: NDArray[np.int8]) -> None:
    """Write which discrete actions of a hunter have their full effect, 1 or 0 for each."""
    kinds, count = rules.kinds, games[g, COUNT]
    mask[g, 0] = 1
    for action in range(1, 1 + 2 * kinds):
        mask[g, action] = 0
    for wall in range(rules.max_walls):
        mask[g, 1 + 2 * kinds + wall] = wall < count
    if games[g, TIMER] > 0:
        return
    if count < rules.max_walls:
        _mask_builds(games, walls, rules, g, mask, 1)
    if count > 0:
        # Without the oldest wall: the last one takes its column, because can_build writes into the column behind those that stand.
        spare = walls.shape[2] - 1
        _copy(walls, g, 0, spare)
        _copy(walls, g, count - 1, 0)
        games[g, COUNT] = count - 1
        _mask_builds(games, walls, rules, g, mask, 1 + kinds)
        games[g, COUNT] = count
        _copy(walls, g, 0, count - 1)
        _copy(walls, g, spare, 0)


@compiled
def mask_spans(games: Ints, rules: Rules, g: int, mask: NDArray[np.int8]) -> None:
    """Write which values of a hunter's kind of wall and wall to remove can have an effect; every span is allowed."""
    kinds, count = rules.kinds, games[g, COUNT]
    mask[g, 0] = 1
    for kind in range(kinds):
        mask[g, 1 + kind] = games[g, TIMER] == 0 and rules.max_walls > 0
    mask[g, 1 + kinds] = 1
    for removed in range(rules.max_walls + 1):
        mask[g, 2 + kinds + removed] = count > 0 if removed == 0 else removed <= count
    for value in range(3 + kinds + rules.max_walls, mask.shape[1]):
        mask[g, value] = 1


@compiled
def mask_prey(games: Ints, rules: Rules, g: int, mask: NDArray[np.int8]) -> None:
    """Write which directions of a prey have an effect: all nine in its steps, otherwise none but ``STILL``, which stands for waiting."""
    moves = (games[g, STEP] + 1) % rules.prey_period == 0
    for action in range(DIRECTIONS):
        mask[g, action] = moves or action == STILL
