"""The time of a turn of Rectangle in process, and its growth with the board and the robots."""

from __future__ import annotations

import math
import random
import statistics
import time
from typing import TYPE_CHECKING

from referee.bench.measures import Figure
from referee.games.rectangle import GAME
from referee.games.rectangle.state import Orders, Place

if TYPE_CHECKING:
    from collections.abc import Callable

#: The board, players, robots of each: growth of one at a time around the one that has a budget.
_BOARDS = ((25, 4, 25), (50, 4, 25), (100, 4, 25), (200, 4, 25), (100, 4, 6), (100, 4, 12), (100, 4, 50), (100, 4, 100), (100, 20, 5))
_BUDGETED = (100, 4, 25)
_BUDGET_MS = 3.0


def growth(rounds: int, turns: int, progress: Callable[[str], None]) -> list[Figure]:
    """Milliseconds a turn at the median; robots draw rings of three to ten cells a side. The floor is the smallest of the boards."""
    values: dict[tuple[int, int, int], list[float]] = {board: [] for board in _BOARDS}
    for number in range(rounds):
        progress(f"Round {number + 1} of {rounds}: {turns} turns on each of {len(_BOARDS)} boards.")
        for board in _BOARDS:
            values[board].append(_turn(*board, turns=turns, seed=number))
    return [
        Figure(
            f"turn, {n} x {n}, {players} players with {robots} robots",
            "ms",
            values[n, players, robots],
            values[_BOARDS[0]],
            "value",
            _BUDGET_MS if (n, players, robots) == _BUDGETED else math.inf,
        )
        for n, players, robots in _BOARDS
    ]


def _turn(n: int, players: int, robots: int, *, turns: int, seed: int) -> float:
    """The median time of a turn, in milliseconds."""
    dice = random.Random(seed)  # noqa: S311 - for a game
    state = GAME.start(GAME.codec.settings("small", {"n": n, "players": players, "robots": robots, "stagnation": 1_000_000}), b"")
    starts = {seat: Place(tuple((dice.randrange(n), dice.randrange(n)) for _ in range(robots))) for seat in state.seats}
    state, _ = GAME.step(state, starts)
    plans = {(seat, robot): "" for seat in state.seats for robot in range(robots)}
    times = []
    for _ in range(turns):
        moves = {}
        for seat in state.seats:
            words = []
            for robot in range(robots):
                if not plans[seat, robot]:
                    high, wide = dice.randint(2, 9), dice.randint(2, 9)
                    plans[seat, robot] = "E" * wide + "S" * high + "W" * wide + "N" * high
                words.append(plans[seat, robot][0])
                plans[seat, robot] = plans[seat, robot][1:]
            moves[seat] = Orders(tuple(words))
        begun = time.perf_counter()
        state, _ = GAME.step(state, moves)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e3
