"""Loops over many games, on several threads. A game's course doesn't depend on their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba

from referee.games.evasion.kernel.compiled import compiled, threaded, wide
from referee.games.evasion.kernel.opponents import GIVEN, hunter_decides, prey_decides
from referee.games.evasion.kernel.random import below
from referee.games.evasion.kernel.state import CHANGED, COUNT, ENDED, GOING_ON, HUNTER, NEXT_ID, PREY, STEP, TIMER, Rules
from referee.games.evasion.kernel.stepwise import Move, begin, step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from referee.games.evasion.kernel.state import Ints

#: Games of one block of work.
BLOCK = 64
#: What becomes of a game that has ended: nothing; a step in which it begins anew; or it begins anew and moves in the same step.
STAY, NEXT_STEP, AT_ONCE = range(3)


class Plan(NamedTuple):
    """What a loop does: the number of steps, the players of the kernel by seat, and what becomes of games that have ended."""

    steps: int
    hunter: int
    prey: int
    mode: int


@compiled
def reset(games: Ints, g: int, seeds: NDArray[np.uint64], starts: NDArray[np.int32]) -> None:
    """Begin a game anew, at one of the starts: rows of the hunter's x, y, dx, dy and the prey's x, y."""
    start = below(seeds, g, len(starts)) if len(starts) > 1 else 0
    for field in (STEP, TIMER, NEXT_ID, CHANGED, COUNT):
        games[g, field] = 0
    games[g, ENDED] = GOING_ON
    for at in range(4):
        games[g, HUNTER + at] = starts[start, at]
        games[g, PREY + at] = starts[start, 4 + at] if at < 2 else 0
    begin(games, g)


@compiled
def reset_all(games: Ints, seeds: NDArray[np.uint64], starts: NDArray[np.int32], chosen: NDArray[np.bool_]) -> None:
    """Begin the chosen games anew."""
    for g in range(len(games)):
        if chosen[g]:
            reset(games, g, seeds, starts)


@compiled
def advance_some(
    games: Ints,
    walls: Ints,
    rules: Rules,
    first: int,
    last: int,
    plan: Plan,
    seeds: NDArray[np.uint64],
    starts: NDArray[np.int32],
    builds: Ints,
    goes: Ints,
    removed: NDArray[np.bool_],
    ends: NDArray[np.int64],
) -> None:
    """The steps of the games from ``first`` to ``last`` - 1, see ``advance``."""
    for g in range(first, last):
        for _ in range(plan.steps):
            if games[g, ENDED] != GOING_ON:
                if plan.mode == STAY:
                    break
                reset(games, g, seeds, starts)
                if plan.mode == NEXT_STEP:
                    continue
            if plan.hunter != GIVEN:
                hunter_decides(games, walls, rules, g, seeds, plan.hunter, builds)
            go_x, go_y = wide(goes[g, 0]), wide(goes[g, 1])
            if plan.prey != GIVEN:
                go_x, go_y = prey_decides(games, walls, rules, g, seeds, plan.prey)
            kind, wall = wide(builds[g, 0]), wide(builds[g, 1])
            has_span, start, end = wide(builds[g, 2]), wide(builds[g, 3]), wide(builds[g, 4])
            step(games, walls, rules, g, Move(wall, kind, has_span, start, end, go_x, go_y), removed)
            ends[g, games[g, ENDED]] += 1


@threaded
def advance(
    games: Ints,
    walls: Ints,
    rules: Rules,
    plan: Plan,
    seeds: NDArray[np.uint64],
    starts: NDArray[np.int32],
    builds: Ints,
    goes: Ints,
    removed: NDArray[np.bool_],
    ends: NDArray[np.int64],
) -> None:
    """Some steps of all games.

    Moves of ``GIVEN`` players: ``builds`` (B, 5), rows of ``BUILD``; ``goes`` (B, 2), directions; ``removed`` (B, M) marks walls to
    remove by their index instead, or has no rows. ``ends`` (B, 3) counts the steps by the state after them: going on, caught, evaded.
    """
    blocks = (len(games) + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        first, last = block * BLOCK, min((block + 1) * BLOCK, len(games))
        advance_some(games, walls, rules, first, last, plan, seeds, starts, builds, goes, removed, ends)


@threaded
def touch(games: Ints, walls: Ints, steps: int) -> None:
    """An empty kernel over the same arrays: a step changes a few numbers of a game. The floor of ``benchmarks/environments.py``."""
    blocks = (len(games) + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        for g in range(block * BLOCK, min((block + 1) * BLOCK, len(games))):
            for _ in range(steps):
                games[g, STEP] += 1
                for at in range(HUNTER, PREY + 4):
                    games[g, at] ^= games[g, STEP]
                walls[g, 0, games[g, STEP] % walls.shape[2]] = games[g, STEP]
