"""Monte Carlo tree search for a hunter of Evasion, compiled: every simulation plays the rules of the batch kernel.

Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning" (2006), for the choice of an arm by its upper confidence bound.

An arm is not a move but a small plan: "build a vertical wall as soon as the prey is at most 5 columns ahead". After its wall comes the next
node of the tree, so the tree is a few walls deep instead of hundreds of steps. Where the tree ends, a simple hunter plays on. The prey of a
simulation is one of several characters; a character that has guessed the prey's moves so far is drawn more often.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from referee.games.evasion.kernel.bounce import bounce
from referee.games.evasion.kernel.compiled import compiled, wide
from referee.games.evasion.kernel.opponents import runner
from referee.games.evasion.kernel.random import below
from referee.games.evasion.kernel.state import (
    CAUGHT,
    COUNT,
    ENDED,
    GOING_ON,
    HIGH,
    HORIZONTAL,
    HUNTER,
    LINE,
    LOW,
    OF_KIND,
    PREY,
    STEP,
    TIMER,
    VERTICAL,
    Rules,
)
from referee.games.evasion.kernel.stepwise import NO_WALL, NONE, Move, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

#: Games of the batch that the search works in: the position, and the simulation. As plain constants they would be compiled twice.
ROOT, PLAY = wide(0), wide(1)
#: Cells ahead at which a plan builds its wall. An arm is a kind of wall and one of them.
NEAR = (1, 2, 5, 12, 40)
ARMS = 2 * len(NEAR)
#: Characters of preys. The last three move as the example bots of these names, in a room that is a rectangle.
FOLLOWER, FUGITIVE, IDLER, RUNNER, SHADOW, EVADER = range(6)
CHARACTERS = ("follower", "fugitive", "idler", "runner", "shadow", "evader")
#: Columns of a room: its first and last column, its first and last row, and from ``WALL`` on for each side the index of its wall or -1.
WEST, EAST, SOUTH, NORTH, WALL = range(5)
#: Cells beside the hunter's diagonal that a prey leaves in time, and steps before a bounce in which it dodges what comes after it.
STRIP, LOOK = 7, 16
#: The part of the room that a planned wall must cut off, and that of the simple hunter after the tree: two characters.
LEAST, PATIENT, GREEDY = 0.02, 0.05, 0.3
#: Walls that a simulation may place by plans of the tree.
DEPTH = 12


class Memory(NamedTuple):
    """What a search writes to.

    ``children``, ``visits`` and ``sums`` (nodes, arms) are the tree; ``used`` is the number of its nodes and its root. ``room``, ``path``
    and ``trail`` hold the prey's room, the hunter's course and the arms of the simulation; ``useless`` marks walls.
    """

    children: Ints
    visits: NDArray[np.float64]
    sums: NDArray[np.float64]
    used: Ints
    room: Ints
    path: Ints
    trail: Ints
    useless: NDArray[np.bool_]


def memory(nodes: int, horizon: int, max_walls: int) -> Memory:
    """Return the memory of a search with so many nodes, for simulations of ``horizon`` steps and at most so many walls."""
    return Memory(
        np.zeros((nodes, ARMS), np.int32),
        np.zeros((nodes, ARMS)),
        np.zeros((nodes, ARMS)),
        np.array([1, 0], np.int32),
        np.zeros(8, np.int32),
        np.zeros((horizon + 100, 2), np.int32),
        np.zeros((DEPTH, 2), np.int32),
        np.zeros((2, max(1, max_walls)), np.bool_),
    )


@compiled
def find_room(games: Ints, walls: Ints, rules: Rules, g: int, room: Ints) -> bool:
    """Write the free rectangle around the prey with the wall of each side; return whether the hunter is in it."""
    x, y = games[g, PREY], games[g, PREY + 1]
    room[WEST], room[EAST], room[SOUTH], room[NORTH] = 0, rules.width - 1, 0, rules.height - 1
    room[WALL:] = -1
    for wall in range(games[g, COUNT]):
        line, kind = walls[g, LINE, wall], walls[g, OF_KIND, wall]
        low, high = walls[g, LOW, wall], walls[g, HIGH, wall]
        if kind == VERTICAL and low <= y <= high:
            if room[WEST] <= line < x:
                room[WEST], room[WALL + WEST] = line + 1, wall
            elif x < line <= room[EAST]:
                room[EAST], room[WALL + EAST] = line - 1, wall
        elif kind == HORIZONTAL and low <= x <= high:
            if room[SOUTH] <= line < y:
                room[SOUTH], room[WALL + SOUTH] = line + 1, wall
            elif y < line <= room[NORTH]:
                room[NORTH], room[WALL + NORTH] = line - 1, wall
    return bool(room[WEST] <= games[g, HUNTER] <= room[EAST] and room[SOUTH] <= games[g, HUNTER + 1] <= room[NORTH])


@compiled
def side(games: Ints, g: int, kind: int) -> int:
    """The side of the room, as in a room's columns, that a wall behind the hunter bounds."""
    if kind == VERTICAL:
        return WEST if games[g, HUNTER + 2] > 0 else EAST
    return SOUTH if games[g, HUNTER + 3] > 0 else NORTH


@compiled
def ahead(games: Ints, g: int, kind: int) -> int:
    """How many columns or rows the prey is ahead of the hunter."""
    axis = 0 if kind == VERTICAL else 1
    return int((games[g, PREY + axis] - games[g, HUNTER + axis]) * games[g, HUNTER + 2 + axis])


@compiled
def part(games: Ints, rules: Rules, g: int, kind: int, room: Ints) -> float:
    """The part of the room that a wall now would cut off; 0 if it can't be built or would shut the hunter out."""
    if games[g, TIMER] > 0 or ahead(games, g, kind) <= 0:
        return 0.0
    axis = 0 if kind == VERTICAL else 1
    first, last = (room[WEST], room[EAST]) if axis == 0 else (room[SOUTH], room[NORTH])
    at, heading = games[g, HUNTER + axis], games[g, HUNTER + 2 + axis]
    if not first <= at + heading <= last:
        return 0.0
    spare = rules.max_walls
    for each in range(4):
        spare -= room[WALL + each] >= 0
    if spare <= 0 and room[WALL + side(games, g, kind)] < 0:
        return 0.0
    behind = at - first if heading > 0 else last - at
    return float((1.0 + behind) / (last - first + 1))


@compiled
def mark(games: Ints, g: int, kind: int, room: Ints, useless: NDArray[np.bool_]) -> None:
    """Mark all walls that don't bound the room after a wall of a kind is built behind the hunter."""
    replaced = side(games, g, kind)
    for wall in range(useless.shape[1]):
        is_kept = False
        for each in range(4):
            is_kept |= each != replaced and room[WALL + each] == wall
        useless[g, wall] = not is_kept and wall < games[g, COUNT]


@compiled
def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


@compiled
def _dodge(ahead_x: int, ahead_y: int, wall_x: int, wall_y: int) -> tuple[bool, int, int]:
    """The way out of the hunter's diagonal, this one or the one after its next bounce."""
    if -STRIP < ahead_x - ahead_y < STRIP and ahead_x + ahead_y > -STRIP:
        return (True, 1, -1) if ahead_x >= ahead_y else (True, -1, 1)
    steps = min(wall_x, wall_y)
    if steps > LOOK:
        return False, 0, 0
    turn_x, turn_y = (-1 if wall_x == steps else 1), (-1 if wall_y == steps else 1)
    ahead_x, ahead_y = (ahead_x - steps) * turn_x, (ahead_y - steps) * turn_y
    if -STRIP < ahead_x - ahead_y < STRIP and ahead_x + ahead_y > -STRIP:
        return (True, turn_x, -turn_y) if ahead_x >= ahead_y else (True, -turn_x, turn_y)
    return False, 0, 0


@compiled
def _forget(path: Ints) -> None:
    """The hunter's course isn't known any more: a wall has changed."""
    path[0, 0], path[0, 1] = -1, 0


@compiled
def _look(games: Ints, g: int, room: Ints, path: Ints, steps: int) -> int:
    """Return the row of ``path`` from which on the hunter's cells after each of the next steps stand, if no wall changes.

    The hunter bounces from the sides of the room. Row 0 has the step at which the known course begins, and its length; row 1 the heading at
    its end.
    """
    if path[0, 0] < 0:
        path[0, 0], path[0, 1] = games[g, STEP], 0
        path[1, 0], path[1, 1] = games[g, HUNTER + 2], games[g, HUNTER + 3]
        path[2, 0], path[2, 1] = games[g, HUNTER], games[g, HUNTER + 1]
    first = 3 + games[g, STEP] - path[0, 0]
    known, dx, dy = 3 + path[0, 1], path[1, 0], path[1, 1]
    x, y = path[known - 1, 0], path[known - 1, 1]
    west, east, south, north = room[WEST], room[EAST], room[SOUTH], room[NORTH]
    while known < first + steps:
        if west <= x + dx <= east:
            x += dx
        else:
            dx = -dx
        if south <= y + dy <= north:
            y += dy
        else:
            dy = -dy
        path[known, 0], path[known, 1] = x, y
        known += 1
    path[0, 1], path[1, 0], path[1, 1] = known - 3, dx, dy
    return int(first)


@compiled
def _runs(at: int, heading: int, first: int, last: int) -> int:
    """The moves until a side of the room stops a prey along one axis."""
    return 1_000 if heading == 0 else last - at if heading > 0 else at - first


@compiled
def _shadow(games: Ints, rules: Rules, g: int, room: Ints, path: Ints) -> tuple[int, int]:
    """The move of the example bot of this name."""
    at = _look(games, g, room, path, 24)
    best_near, best_apart, best_x, best_y = -1, 1 << 20, 0, 0
    back_x, back_y = games[g, HUNTER] - 7 * games[g, HUNTER + 2], games[g, HUNTER + 1] - 7 * games[g, HUNTER + 3]
    offset = (games[g, STEP] + 1) % rules.prey_period
    for way in range(9):
        dx, dy = way // 3 - 1, way % 3 - 1
        x, y = games[g, PREY], games[g, PREY + 1]
        most = min(12, _runs(x, dx, room[WEST], room[EAST]), _runs(y, dy, room[SOUTH], room[NORTH]))
        apart_x, apart_y = abs(x + (dx if most else 0) - back_x), abs(y + (dy if most else 0) - back_y)
        nearest, phase = 42, offset
        for later in range(24):
            if phase == 0 and most > 0:
                x, y, most = x + dx, y + dy, most - 1
            phase = phase + 1 if phase + 1 < rules.prey_period else 0
            away_x, away_y = path[at + later, 0] - x, path[at + later, 1] - y
            nearest = min(nearest, away_x * away_x + away_y * away_y)
            if nearest < best_near:
                break
        apart = 1024 * max(apart_x, apart_y) + apart_x + apart_y
        if nearest > best_near or (nearest == best_near and apart < best_apart):
            best_near, best_apart, best_x, best_y = nearest, apart, dx, dy
    return best_x, best_y


@compiled
def _evader(games: Ints, g: int, room: Ints, path: Ints) -> tuple[int, int]:
    """The move of the example bot of this name. Its units are fortieths of a cell."""
    at = _look(games, g, room, path, 80)
    best, best_x, best_y = -1, 0, 0
    for way in range(9):
        dx, dy = way // 3 - 1, way % 3 - 1
        x, y = games[g, PREY], games[g, PREY + 1]
        most = min(20, _runs(x, dx, room[WEST], room[EAST]), _runs(y, dy, room[SOUTH], room[NORTH]))
        end_x, end_y = x + most * dx, y + most * dy
        reach = 1 + min(end_x - room[WEST], room[EAST] - end_x, end_y - room[SOUTH], room[NORTH] - end_y)
        bonus = 8 * min(reach, 20)
        nearest = 1 << 20
        for later in range(80):
            if later % 2 == 0 and most > 0:
                x, y, most = x + dx, y + dy, most - 1
            nearest = min(nearest, 40 * max(abs(path[at + later, 0] - x), abs(path[at + later, 1] - y)) + 5 * later)
            if nearest + bonus <= best:
                break
        if nearest + bonus > best:
            best, best_x, best_y = nearest + bonus, dx, dy
    return best_x, best_y


@compiled
def prey_goes(games: Ints, walls: Ints, rules: Rules, g: int, character: int, room: Ints, path: Ints) -> tuple[int, int]:
    """The direction that a prey of some character takes."""
    if character == RUNNER:
        return runner(games, walls, rules, g)
    if character == SHADOW:
        return _shadow(games, rules, g, room, path)
    if character == EVADER:
        return _evader(games, g, room, path)
    hx, hy, dx, dy = games[g, HUNTER], games[g, HUNTER + 1], games[g, HUNTER + 2], games[g, HUNTER + 3]
    ahead_x, ahead_y = (games[g, PREY] - hx) * dx, (games[g, PREY + 1] - hy) * dy
    wall_x = room[EAST] - hx if dx > 0 else hx - room[WEST]
    wall_y = room[NORTH] - hy if dy > 0 else hy - room[SOUTH]
    dodges, along, across = _dodge(ahead_x, ahead_y, wall_x, wall_y)
    if not dodges and character == FOLLOWER:
        along, across = _sign(-STRIP - ahead_x), _sign(-STRIP - ahead_y)
    elif not dodges and character == FUGITIVE:
        along, across = _sign(ahead_x), _sign(ahead_y)
    go_x, go_y = along * dx, across * dy
    # It slides along the sides of its room.
    x, y = games[g, PREY], games[g, PREY + 1]
    return (0 if x + go_x < room[WEST] or x + go_x > room[EAST] else go_x), (
        0 if y + go_y < room[SOUTH] or y + go_y > room[NORTH] else go_y
    )


@compiled
def guess(games: Ints, walls: Ints, rules: Rules, guesses: Ints, room: Ints, path: Ints) -> None:
    """Write for each character where it goes from the position."""
    find_room(games, walls, rules, ROOT, room)
    _forget(path)
    for character in range(len(guesses)):
        go_x, go_y = prey_goes(games, walls, rules, ROOT, character, room, path)
        x, y, _, _ = bounce(games, walls, rules, ROOT, games[ROOT, PREY], games[ROOT, PREY + 1], go_x, go_y)
        guesses[character, 0], guesses[character, 1] = x, y


@compiled
def _step(games: Ints, walls: Ints, rules: Rules, kind: int, character: int, tree: Memory) -> None:
    """One step of the simulation: the hunter builds a wall of a kind or none, the prey is of some character."""
    room, path, useless = tree.room, tree.path, tree.useless
    go_x, go_y = 0, 0
    if (games[PLAY, STEP] + 1) % rules.prey_period == 0:
        go_x, go_y = prey_goes(games, walls, rules, PLAY, character, room, path)
    move = Move(NONE, kind, 0, 0, 0, go_x, go_y)
    if kind == NO_WALL:
        step(games, walls, rules, PLAY, move, useless[:0])
    else:
        mark(games, PLAY, kind, room, useless)
        step(games, walls, rules, PLAY, move, useless)
        find_room(games, walls, rules, PLAY, room)
        _forget(path)


@compiled
def kind_of(arm: int) -> int:
    """The kind of an arm's wall."""
    return HORIZONTAL if arm % 2 else VERTICAL


@compiled
def is_due(games: Ints, rules: Rules, g: int, arm: int, room: Ints) -> bool:
    """Whether an arm builds its wall in this step."""
    kind = kind_of(arm)
    return bool(0 < ahead(games, g, kind) <= NEAR[arm // 2]) and part(games, rules, g, kind, room) >= LEAST


@compiled
def _play_on(games: Ints, walls: Ints, rules: Rules, character: int, least: float, last: int, tree: Memory) -> None:
    """Play on until an end or step ``last``: the hunter builds when it is about to pass the prey, if that cuts off ``least`` of the room."""
    while games[PLAY, ENDED] == GOING_ON and games[PLAY, STEP] < last:
        kind, most = NO_WALL, least
        if games[PLAY, TIMER] == 0:
            for each in range(2):
                if 0 < ahead(games, PLAY, each) <= 2:
                    cut = part(games, rules, PLAY, each, tree.room)
                    if cut >= most:
                        kind, most = each, cut
        _step(games, walls, rules, kind, character, tree)


@compiled
def _copy(games: Ints, walls: Ints) -> None:
    for field in range(games.shape[1]):
        games[PLAY, field] = games[ROOT, field]
    for row in range(walls.shape[1]):
        for wall in range(games[ROOT, COUNT]):
            walls[PLAY, row, wall] = walls[ROOT, row, wall]


@compiled
def choose(node: int, tree: Memory, explore: float, offset: int) -> int:
    """The arm with the greatest upper bound of its value; one that was hardly tried comes first."""
    total = 1.0
    for arm in range(ARMS):
        total += tree.visits[node, arm]
    best, bound = 0, -1e9
    for at in range(ARMS):
        arm = (at + offset) % ARMS
        visits = tree.visits[node, arm]
        if visits < 0.5:
            return arm
        upper = tree.sums[node, arm] / visits + explore * sqrt(log(total) / visits)
        if upper > bound:
            best, bound = arm, upper
    return best


@compiled
def simulate(
    games: Ints, walls: Ints, rules: Rules, seeds: NDArray[np.uint64], character: int, horizon: int, tree: Memory, explore: float
) -> None:
    """Play from the position against a prey of some character, and add the value to the tree: - step of the capture / ``horizon``."""
    room, path, trail = tree.room, tree.path, tree.trail
    _copy(games, walls)
    find_room(games, walls, rules, PLAY, room)
    _forget(path)
    last = games[ROOT, STEP] + horizon
    node, depth = tree.used[1], 0
    while True:
        arm = choose(node, tree, explore, below(seeds, PLAY, ARMS))
        trail[depth, 0], trail[depth, 1] = node, arm
        depth += 1
        builds = False
        while games[PLAY, ENDED] == GOING_ON and games[PLAY, STEP] < last and not builds:
            builds = is_due(games, rules, PLAY, arm, room)
            _step(games, walls, rules, kind_of(arm) if builds else NO_WALL, character, tree)
        if games[PLAY, ENDED] != GOING_ON or games[PLAY, STEP] >= last or depth == DEPTH:
            break
        if tree.children[node, arm] == 0:
            if tree.used[0] < len(tree.children):
                tree.children[node, arm] = tree.used[0]
                tree.used[0] += 1
            break
        node = tree.children[node, arm]
    _play_on(games, walls, rules, character, PATIENT if below(seeds, PLAY, 2) else GREEDY, last, tree)
    end = float(games[PLAY, STEP])
    if games[PLAY, ENDED] != CAUGHT:
        # A large room is worse than a small one.
        end += 100.0 + room[EAST] - room[WEST] + room[NORTH] - room[SOUTH]
    for at in range(depth):
        tree.visits[trail[at, 0], trail[at, 1]] += 1
        tree.sums[trail[at, 0], trail[at, 1]] -= end / horizon


@compiled
def search(
    games: Ints,
    walls: Ints,
    rules: Rules,
    seeds: NDArray[np.uint64],
    count: int,
    horizon: int,
    weights: NDArray[np.float64],
    tree: Memory,
    explore: float,
) -> None:
    """Play ``count`` simulations of ``horizon`` steps. ``weights`` are the running sums of the characters' weights, the last one being 1."""
    for _ in range(count):
        drawn = below(seeds, PLAY, 1 << 20) / (1 << 20)
        character = 0
        while character < len(weights) - 1 and weights[character] <= drawn:
            character += 1
        simulate(games, walls, rules, seeds, character, horizon, tree, explore)
