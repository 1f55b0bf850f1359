"""``rules.stepwise`` over arrays: the stages of one time step, and the step that consists of them.

Source: rules of Evasion, section "S1".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion.kernel.bounce import bounce
from referee.games.evasion.kernel.compiled import compiled, wide
from referee.games.evasion.kernel.regions import is_captured
from referee.games.evasion.kernel.state import (
    ALLOWED,
    BUILT,
    BY_COOLDOWN,
    BY_KIND,
    BY_MAX_WALLS,
    CAPTURED,
    CAUGHT,
    CHANGED,
    COUNT,
    ENDED,
    EVADED,
    GOING_ON,
    HUNTER,
    HUNTER_BOUNCED,
    ID,
    NEXT_ID,
    NOTICED,
    ON_HUNTER,
    ON_PREY,
    PREY,
    PREY_BOUNCED,
    REFUSAL,
    REFUSED,
    REMOVED,
    STEP,
    TIMER,
    UNKNOWN,
    WALL_FIELDS,
    Rules,
)
from referee.games.evasion.kernel.walls import covers, put, trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

    #: A cell and a direction.
    Motion = tuple[int, int, int, int]

#: The kind of a hunter that builds nothing, and the direction of a prey that keeps its own.
NO_WALL = -1
KEEP = 2
#: The wall to remove, in place of its index: none, or the oldest one.
NONE, OLDEST = -1, -2
_ROWS = len(WALL_FIELDS)


@compiled
def remove_wall(games: Ints, walls: Ints, g: int, wall: int) -> None:
    """Remove the wall of an index, or tell that there is none. Those after it move up."""
    last = games[g, COUNT] - 1
    if wall < 0 or wall > last:
        games[g, NOTICED] |= UNKNOWN
        return
    for row in range(_ROWS):
        for at in range(wall, last):
            walls[g, row, at] = walls[g, row, at + 1]
    games[g, COUNT] = last
    games[g, CHANGED] = games[g, STEP] + 1
    games[g, NOTICED] |= REMOVED


@compiled
def remove_walls(games: Ints, walls: Ints, g: int, wall: int, removed: NDArray[np.bool_]) -> None:
    """Remove the wall of an index. If ``removed`` has rows, remove instead all walls whose indices are marked in row ``g``, all at once."""
    if len(removed):
        for marked in range(removed.shape[1] - 1, -1, -1):
            if removed[g, marked]:
                remove_wall(games, walls, g, marked)
    elif wall != NONE:
        remove_wall(games, walls, g, 0 if wall == OLDEST else wall)


@compiled
def can_build(
    games: Ints, walls: Ints, rules: Rules, g: int, kind: int, has_span: int, start: int, end: int, x: int, y: int, to_x: int, to_y: int
) -> int:
    """The first rule that forbids a wall (S1, 3a to 3e), or ``ALLOWED``; then the wall is written behind the last one, not yet counted.

    (x, y) is the hunter's cell before its move, (to_x, to_y) the one after it.
    """
    if games[g, TIMER] > 0:
        return BY_COOLDOWN
    wall = wide(games[g, COUNT])
    if wall >= rules.max_walls:
        return BY_MAX_WALLS
    if kind >= rules.kinds:
        return BY_KIND
    reason, low, high = trace(games, walls, rules, g, kind, x, y, has_span, start, end)
    if reason != ALLOWED:
        return reason
    put(walls, g, wall, kind, x, y, low, high)
    if covers(walls, g, wall, to_x, to_y):
        return ON_HUNTER
    if covers(walls, g, wall, wide(games[g, PREY]), wide(games[g, PREY + 1])):
        return ON_PREY
    return ALLOWED


@compiled
def build_wall(games: Ints, walls: Ints, rules: Rules, g: int, kind: int, has_span: int, start: int, end: int, x: int, y: int) -> None:
    """Build the hunter's new wall, or refuse it; ``kind`` is ``NO_WALL`` for none. (x, y) is the hunter's cell before its move."""
    if kind == NO_WALL:
        return
    reason = can_build(games, walls, rules, g, kind, has_span, start, end, x, y, wide(games[g, HUNTER]), wide(games[g, HUNTER + 1]))
    if reason != ALLOWED:
        games[g, REFUSAL] = reason
        games[g, NOTICED] |= REFUSED
        return
    walls[g, ID, games[g, COUNT]] = games[g, NEXT_ID]
    games[g, COUNT] += 1
    games[g, NEXT_ID] += 1
    games[g, CHANGED] = games[g, STEP] + 1
    games[g, TIMER] = rules.cooldown
    games[g, NOTICED] |= BUILT


@compiled
def move(games: Ints, g: int, player: int, dx: int, dy: int, motion: Motion, bounced: int) -> None:
    """Put a player where its motion in the direction (dx, dy) ends; ``player`` is ``HUNTER`` or ``PREY``, ``bounced`` its notice."""
    x, y, new_dx, new_dy = motion
    games[g, player] = x
    games[g, player + 1] = y
    games[g, player + 2] = new_dx
    games[g, player + 3] = new_dy
    if new_dx != dx or new_dy != dy:
        games[g, NOTICED] |= bounced


@compiled
def move_hunter(games: Ints, g: int, motion: Motion) -> None:
    """Move the hunter one cell."""
    move(games, g, HUNTER, wide(games[g, HUNTER + 2]), wide(games[g, HUNTER + 3]), motion, HUNTER_BOUNCED)


@compiled
def prey_heads(games: Ints, rules: Rules, g: int, go_x: int, go_y: int) -> tuple[bool, int, int]:
    """Whether the prey moves in this step, and its direction. ``go_x`` is ``KEEP`` if it keeps its own."""
    if go_x == KEEP:
        go_x, go_y = wide(games[g, PREY + 2]), wide(games[g, PREY + 3])
    return (games[g, STEP] + 1) % rules.prey_period == 0, go_x, go_y


@compiled
def move_prey(games: Ints, g: int, dx: int, dy: int, motion: Motion) -> None:
    """Move the prey one cell."""
    move(games, g, PREY, dx, dy, motion, PREY_BOUNCED)


@compiled
def test_capture(games: Ints, walls: Ints, rules: Rules, g: int) -> None:
    """End the game if the prey is near and in sight."""
    if is_captured(games, walls, rules, g):
        games[g, ENDED] = CAUGHT
        games[g, NOTICED] |= CAPTURED


@compiled
def count_step(games: Ints, rules: Rules, g: int) -> None:
    """Finish the time step: count it, reduce the cooldown, and end the game at the step limit."""
    games[g, STEP] += 1
    if games[g, TIMER]:
        games[g, TIMER] -= 1
    if games[g, STEP] >= rules.max_steps and games[g, ENDED] == GOING_ON:
        games[g, ENDED] = EVADED


@compiled
def begin(games: Ints, g: int) -> None:
    """Forget the notices of the step before."""
    games[g, NOTICED] = 0
    games[g, REFUSAL] = ALLOWED


@compiled
def body(games: Ints, g: int, player: int) -> Motion:
    """A player's cell and direction; ``player`` is ``HUNTER`` or ``PREY``."""
    return wide(games[g, player]), wide(games[g, player + 1]), wide(games[g, player + 2]), wide(games[g, player + 3])


class Move(NamedTuple):
    """The moves of both players in one step, as numbers.

    ``removed`` is the index of a wall, ``NONE`` or ``OLDEST``; ``kind`` is that of a new wall or ``NO_WALL``, with the span from ``start``
    to ``end`` if ``has_span`` is 1. ``go_x`` is ``KEEP`` if the prey keeps its direction.
    """

    removed: int
    kind: int
    has_span: int
    start: int
    end: int
    go_x: int
    go_y: int


@compiled
def step(games: Ints, walls: Ints, rules: Rules, g: int, move: Move, removed: NDArray[np.bool_]) -> None:
    """One step: the stages of the rule set in the order of ``variants.RULE_SETS``."""
    begin(games, g)
    remove_walls(games, walls, g, move.removed, removed)
    x, y, dx, dy = body(games, g, HUNTER)
    move_hunter(games, g, bounce(games, walls, rules, g, x, y, dx, dy))
    build_wall(games, walls, rules, g, move.kind, move.has_span, move.start, move.end, x, y)
    moves, dx, dy = prey_heads(games, rules, g, move.go_x, move.go_y)
    if moves:
        x, y, _, _ = body(games, g, PREY)
        move_prey(games, g, dx, dy, bounce(games, walls, rules, g, x, y, dx, dy))
    test_capture(games, walls, rules, g)
    count_step(games, rules, g)
