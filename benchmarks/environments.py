"""Many games at once: the compiled rules beside the engine's own step and beside an empty kernel over the same arrays.

python benchmarks/environments.py [--rounds 7] [--steps 10000] [--json] [--against FILE]

One thread is measured by its processor time, so that the figure is that of a core without other load; several threads are measured by the
clock.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from random import Random
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from harness import Figure, alternate, child
from harness import run as run_benchmark

from referee.games.evasion.game import GAME
from referee.games.evasion.batch import Batch
from referee.games.evasion.board.walls import HORIZONTAL, VERTICAL
from referee.games.evasion.kernel import loop
from referee.games.evasion.kernel.threads import start as start_threads
from referee.games.evasion.state import HUNTER, Build, HunterMove, PreyMove
from sdk.env import Encoding, make_vec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.evasion.kernel.state import Ints
    from referee.games.evasion.state import State

GAMES = 4_096
#: Steps of each game before the first measurement, so that games of all ages with walls of all ages are measured.
_WARM_UP = 1_500
_SECOND = 1e9
#: Different random moves of hunters that only build; they are used in turn.
_POOL = 16
#: The id of no wall.
_UNKNOWN = 1_000_000
_KINDS = (HORIZONTAL, VERTICAL)
#: The program of a new process: it makes one step of many games and prints the seconds of processor time that this took without the imports.
_FIRST = """
import time
import numba
import referee.games.evasion
begun = time.process_time()
from referee.games.evasion.batch import Batch
batch = Batch(4096)
batch.step(hunter="random", prey="random")
print(time.process_time() - begun)
"""


def _recorded(steps: int) -> tuple[State, list[dict[str, Any]]]:
    """Return a start and the moves of a game between random players, as the engine takes them: the policy of the kernel's ``random``."""
    chance = Random(1)  # noqa: S311 - for games
    start = state = GAME.start(GAME.codec.settings("classic", {"max_steps": steps}))
    moves: list[dict[str, Any]] = []
    while not state.ended:
        ids = [wall.id for wall in state.walls]
        action = chance.randrange(1 + 2 * len(_KINDS) + state.settings.max_walls)
        build = Build(_KINDS[(action - 1) % 2]) if 0 < action <= 2 * len(_KINDS) else None
        removed: tuple[int, ...]
        if action > 2 * len(_KINDS):
            index = action - 2 * len(_KINDS) - 1
            removed = (ids[index],) if index < len(ids) else (_UNKNOWN,)
        else:
            removed = tuple(ids[:1]) if action > len(_KINDS) else ()
        move = {HUNTER: HunterMove(build, removed), "prey": PreyMove((chance.randint(-1, 1), chance.randint(-1, 1)))}
        moves.append(move)
        state, _ = GAME.step(state, move)
    return start, moves


def _rate(count: int, work: Callable[[], object], threads: int = 1, clock: Callable[[], float] = process_time) -> Callable[[], float]:
    """Return a measure of the steps a second of ``work``, which makes ``count`` of them."""

    def run() -> float:
        numba.set_num_threads(threads)
        begun = clock()
        work()
        return count / (clock() - begun)

    return run


def _engine(steps: int) -> Callable[[], float]:
    """Return a measure of the engine's steps a second in this process."""
    start, moves = _recorded(steps)

    def play() -> None:
        state = start
        for move in moves:
            state, _ = GAME.step(state, move)

    return _rate(len(moves), play)


def _batch(max_walls: int, hunter: str | None = "random") -> Batch:
    """Return games of all ages. Without a hunter of the kernel they have as many walls as hunters can build who never remove one."""
    batch = Batch(GAMES, seed=1, max_walls=max_walls)
    for builds in _builds(batch, 1 if hunter else _WARM_UP):
        batch.step(builds, hunter=hunter, prey="random", steps=_WARM_UP if hunter else 1, mode="at-once")
    return batch


def _builds(batch: Batch, count: int) -> Iterator[Ints]:
    """Yield this number of moves of hunters that try to build a wall in two steps of three and never remove one."""
    chance = np.random.default_rng(1)
    pool = [batch.discrete(chance.integers(0, 1 + len(batch.kinds), len(batch))) for _ in range(_POOL)]
    yield from (pool[index % _POOL] for index in range(count))


def _speed(batch: Batch, steps: int, hunter: str | None = "random", prey: str = "random") -> Callable[[], float]:
    """Return a measure of the batch's steps a second on one thread: one call for each step, as a policy makes them."""
    moves = list(_builds(batch, steps))

    def play() -> None:
        for builds in moves:
            batch.step(builds, hunter=hunter, prey=prey, mode="at-once")

    return _rate(len(batch) * steps, play)


def _threaded(batch: Batch, steps: int, threads: int, clock: Callable[[], float] = perf_counter) -> Callable[[], float]:
    """Return a measure of the batch's steps a second, by default by the clock: all steps in one call, so that threads wait once."""
    return _rate(len(batch) * steps, lambda: batch.step(hunter="random", prey="random", steps=steps, mode="at-once"), threads, clock)


def _observed(batch: Batch, steps: int) -> Callable[[], float]:
    """Return a measure of steps a second with the observations and masks of the hunters after each step, in new arrays."""
    encoding = Encoding(batch.settings, HUNTER)

    def play() -> None:
        for _ in range(steps):
            batch.step(hunter="random", prey="random", mode="at-once")
            encoding.observe(batch.games, batch.walls)

    return _rate(len(batch) * steps, play)


def _environment(steps: int) -> Callable[[], float]:
    """Return a measure of the steps a second of a vector environment: actions from numpy, observations, rewards, final observations."""
    environment = make_vec("evasion", GAMES, opponent="random", autoreset_mode="SameStep")
    environment.reset(seed=1)
    chance = np.random.default_rng(1)
    pool = [chance.integers(0, environment.single_action_space.n, GAMES) for _ in range(_POOL)]  # type: ignore[attr-defined]  # Discrete

    def play() -> None:
        for step in range(steps):
            environment.step(pool[step % _POOL])

    for _ in range(_WARM_UP // steps):
        play()
    return _rate(GAMES * steps, play)


def _floor(batch: Batch, steps: int) -> Callable[[], float]:
    """Return a measure of the empty kernel's steps a second."""
    games, walls = batch.games.copy(), batch.walls.copy()

    def play() -> None:
        for _ in range(steps):
            loop.touch(games, walls, 1)

    play()
    return _rate(len(games) * steps, play)


def batches(options: argparse.Namespace) -> list[Figure]:
    """Steps a second of many games, the effect of more walls and more threads, and the time until the first step."""
    start_threads()
    most = numba.get_num_threads()
    try:
        return [*_measured(options.rounds, options.steps, max(10, options.steps // 100), most), *_first_step()]
    finally:
        numba.set_num_threads(most)


def _measured(rounds: int, steps: int, calls: int, most: int) -> list[Figure]:
    few, many, duel = _batch(10), _batch(50), _batch(10)
    built, crowded = _batch(10, None), _batch(50, None)
    one, seen, environment, floor, engine, more, standing, standing_more, boxer, alone, several, cost, cost_several = alternate(
        rounds,
        _speed(few, calls),
        _observed(few, calls),
        _environment(calls),
        _floor(few, calls),
        _engine(steps),
        _speed(many, calls),
        _speed(built, calls, None),
        _speed(crowded, calls, None),
        _speed(duel, calls, "boxer", "runner"),
        _threaded(few, calls, 1),
        _threaded(few, calls, most),
        _threaded(few, calls, 1, process_time),
        _threaded(few, calls, most, process_time),
    )
    wide, base, full, half_full, shared, single = (
        [_SECOND / speed for speed in speeds] for speeds in (more, one, standing_more, standing, cost_several, cost)
    )
    walls, more_walls = (round(float(batch.wall_count.mean())) for batch in (built, crowded))
    return [
        Figure("steps, random players", "steps/s", one, None, "value", 5e6, at_least=True),
        Figure("beside the engine's step", "steps/s", one, engine, "ratio", 30.0, at_least=True),
        Figure("with observations and masks", "steps/s", seen, one, "value", 2e6, at_least=True),
        Figure("steps of a vector environment", "steps/s", environment, one, "value", at_least=True),
        Figure("beside an empty kernel", "steps/s", one, floor, "ratio", at_least=True),
        Figure("a step with max_walls 50 beside 10", "ns", wide, base, "ratio", 4.0),
        Figure(f"a step with {more_walls} walls beside {walls}", "ns", full, half_full, "ratio", 4.0),
        Figure("steps, boxer against runner", "steps/s", boxer, None, "value", at_least=True),
        Figure(f"steps on {most} threads beside one", "steps/s", several, [most * speed for speed in alone], "ratio", 0.85, at_least=True),
        Figure(f"processor time of a step on {most} threads beside one", "ns", shared, single, "ratio", 1 / 0.85),
    ]


def _first_step() -> list[Figure]:
    """Seconds to the first step in a new process: compiled, then read from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        compiled, read = (float(child([sys.executable, "-c", _FIRST], env=environment)) for _ in range(2))
    return [
        Figure("first step, compiled", "s", [compiled], None, "value", 15.0),
        Figure("first step, from the cache", "s", [read], None, "value"),
    ]


if __name__ == "__main__":
    run_benchmark(__doc__, batches)
