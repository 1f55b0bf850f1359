"""Players inside the kernel. A hunter writes its move into its row of ``builds``; a prey returns its direction.

``boxer`` and ``runner`` give the moves of the example bots of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from referee.games.evasion.kernel.bounce import bounce
from referee.games.evasion.kernel.compiled import compiled, wide
from referee.games.evasion.kernel.random import below
from referee.games.evasion.kernel.state import ALLOWED, COUNT, HORIZONTAL, HUNTER, PREY, STEP, TIMER, VERTICAL, Rules
from referee.games.evasion.kernel.stepwise import KEEP, NO_WALL, NONE, OLDEST, can_build
from referee.games.evasion.kernel.walls import is_free

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

#: Players by their index. ``GIVEN`` moves as the caller says; ``NOTHING`` is straight as a hunter and still as a prey.
GIVEN, NOTHING, RANDOM, BOXER, RUNNER = range(5)
#: Columns of ``builds``: the kind of a wall or ``NO_WALL``; the index of a wall to remove, ``NONE`` or ``OLDEST``; 1 for a span; the span.
BUILD = ("kind", "remove", "has_span", "first", "last")
#: No span. The type is numpy's: numba compiles a function once more for each plain number that is an argument.
LONGEST = cast("int", np.int64(0))
#: Distances to the prey between which ``boxer`` builds.
_NEAR, _FAR = 3, 40


@compiled
def is_allowed(games: Ints, walls: Ints, rules: Rules, g: int, kind: int) -> bool:
    """Whether the longest wall of a kind can be built in this step."""
    if games[g, TIMER] > 0 or games[g, COUNT] >= rules.max_walls:
        return False
    x, y = wide(games[g, HUNTER]), wide(games[g, HUNTER + 1])
    to_x, to_y, _, _ = bounce(games, walls, rules, g, x, y, wide(games[g, HUNTER + 2]), wide(games[g, HUNTER + 3]))
    return can_build(games, walls, rules, g, kind, LONGEST, LONGEST, LONGEST, x, y, to_x, to_y) == ALLOWED


@compiled
def discrete(action: int, kinds: int, builds: Ints, g: int) -> None:
    """Write the move of a hunter's discrete action: nothing, build, remove the oldest and build, remove one."""
    kind, removed = NO_WALL, NONE
    if action > 2 * kinds:
        removed = action - 2 * kinds - 1
    elif action > kinds:
        kind, removed = action - kinds - 1, OLDEST
    elif action > 0:
        kind = action - 1
    builds[g, 0] = kind
    builds[g, 1] = removed
    builds[g, 2] = 0


@compiled
def boxer(games: Ints, walls: Ints, rules: Rules, g: int, builds: Ints) -> None:
    """Close the half of the board behind the hunter whenever it flies towards the prey."""
    for axis in range(2):
        ahead = (games[g, PREY + axis] - games[g, HUNTER + axis]) * games[g, HUNTER + 2 + axis]
        kind = VERTICAL if axis == 0 else HORIZONTAL
        if _NEAR <= ahead <= _FAR and is_allowed(games, walls, rules, g, kind):
            builds[g, 0] = kind
            builds[g, 1] = OLDEST if games[g, COUNT] > 0 and games[g, COUNT] >= rules.max_walls - 1 else NONE
            return


@compiled
def _sign(number: int) -> int:
    return int(number > 0) - int(number < 0)


@compiled
def runner(games: Ints, walls: Ints, rules: Rules, g: int) -> tuple[int, int]:
    """Run straight away from the hunter, and along the wall that stands in the way."""
    x, y = wide(games[g, PREY]), wide(games[g, PREY + 1])
    ax, ay = _sign(x - games[g, HUNTER]), _sign(y - games[g, HUNTER + 1])
    for attempt in range(5):
        dx = 0 if attempt == 2 else -ax if attempt == 4 else ax
        dy = 0 if attempt == 1 else -ay if attempt == 3 else ay
        if (dx or dy) and is_free(games, walls, rules, g, x + dx, y + dy):
            return dx, dy
    return 0, 0


@compiled
def hunter_decides(games: Ints, walls: Ints, rules: Rules, g: int, seeds: NDArray[np.uint64], hunter: int, builds: Ints) -> None:
    """Write the move of a hunter of the kernel. ``RANDOM`` takes one of the discrete actions with equal chances."""
    builds[g, 0] = NO_WALL
    builds[g, 1] = NONE
    builds[g, 2] = 0
    if hunter == RANDOM:
        discrete(below(seeds, g, 1 + 2 * rules.kinds + rules.max_walls), rules.kinds, builds, g)
    elif hunter == BOXER:
        boxer(games, walls, rules, g, builds)


@compiled
def prey_decides(games: Ints, walls: Ints, rules: Rules, g: int, seeds: NDArray[np.uint64], prey: int) -> tuple[int, int]:
    """Return the direction of a prey of the kernel. ``RANDOM`` takes one of the nine with equal chances."""
    if (games[g, STEP] + 1) % rules.prey_period == 0:
        if prey == RANDOM:
            action = below(seeds, g, 9)
            return action // 3 - 1, action % 3 - 1
        if prey == RUNNER:
            return runner(games, walls, rules, g)
    return KEEP, 0
