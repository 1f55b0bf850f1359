"""Trains the two linear policies by the cross-entropy method, a random search: draw weights, keep the best, draw around them.

python train.py [hunter] [prey] [--rounds 16]

The seats are trained side by side, each on one core: short steps gain little from threads, and lose much on a busy machine.

Source: Rubinstein, "The cross-entropy method for combinatorial and continuous optimization" (1999).
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING, Any

from policies import POLICIES, SIZES, WEIGHTS  # type: ignore[import-not-found]  # it is beside this program

try:
    import numba
    import numpy as np
except ImportError:
    missing = "gymnasium numba numpy pettingzoo"
    raise SystemExit(f"the training needs the extra rl; install it: {sys.executable} -m pip install {missing}") from None

from sdk.env import make_vec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

#: Policies of a round, those of them that are kept, games for each policy, and steps of each game.
DRAWN, KEPT, GAMES, STEPS = 48, 8, 20, 1_000
OPPONENTS = {"hunter": "runner", "prey": "boxer"}
#: What a capture is worth to a seat.
SIGNS = {"hunter": 1, "prey": -1}


def captures(seat: str, weights: Floats, *, games: int = GAMES, steps: int = STEPS, seed: int = 0) -> Floats:
    """Return for each row of weights how often its policy captures, or is caught, on average in so many steps of a game.

    A game that has ended begins anew at a drawn start.
    """
    count = len(weights)
    envs = make_vec("evasion", count * games, seat=seat, opponent=OPPONENTS[seat], starts="random", autoreset_mode="SameStep")
    seen, _ = envs.reset(seed=seed)
    caught = np.zeros(count)
    for _ in range(steps):
        actions = POLICIES[seat](weights, seen.reshape(count, games, -1))
        seen, _, is_over, _, _ = envs.step(actions.reshape(-1))
        caught += is_over.reshape(count, games).mean(axis=1)
    envs.close()
    return caught


def train(seat: str, rounds: int, seed: int = 0, *, drawn: int = DRAWN, games: int = GAMES, steps: int = STEPS) -> Floats:
    """Return the weights that a search over so many rounds ends with."""
    numba.set_num_threads(1)
    random = np.random.default_rng(seed)
    mean, spread = np.zeros(SIZES[seat]), np.ones(SIZES[seat])
    start = perf_counter()
    for number in range(rounds):
        weights = mean + spread * random.normal(size=(drawn, len(mean)))
        found = captures(seat, weights, games=games, steps=steps, seed=seed + number)
        best = weights[np.argsort(-SIGNS[seat] * found)[:KEPT]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.1
        print(f"{seat} round {number + 1}: {found.mean():.2f} captures in {steps:,} steps, {perf_counter() - start:.0f} s", flush=True)  # noqa: T201 - this is a script
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seats", nargs="*", choices=[*POLICIES, []], default=[])
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    seats = given.seats or list(POLICIES)
    with ProcessPoolExecutor(len(seats), get_context("spawn")) as processes:
        found = dict(zip(seats, processes.map(train, seats, [given.rounds] * len(seats), [given.seed] * len(seats)), strict=True))
    known = json.loads(WEIGHTS.read_text()) if WEIGHTS.exists() else {}
    known |= {seat: [round(float(weight), 3) for weight in weights] for seat, weights in found.items()}
    WEIGHTS.write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
