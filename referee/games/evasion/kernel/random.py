"""Random numbers of a game: a stream of its own, so that results don't depend on threads or on other games.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (SplitMix64), figure 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from referee.games.evasion.kernel.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF, _27, _30, _31 = np.uint64(32), np.uint64(27), np.uint64(30), np.uint64(31)


@compiled
def mixed(number: np.uint64) -> np.uint64:
    """A number whose bits depend on all bits of the given one."""
    number = (number ^ (number >> _30)) * _FIRST
    number = (number ^ (number >> _27)) * _SECOND
    return number ^ (number >> _31)


@compiled
def below(seeds: NDArray[np.uint64], g: int, bound: int) -> int:
    """The next random number of a game from 0 to ``bound`` - 1; ``bound`` is less than 2**31."""
    seeds[g] += _GAMMA
    return int(np.int64(((mixed(seeds[g]) >> _HALF) * np.uint64(bound)) >> _HALF))


@compiled
def seed(seeds: NDArray[np.uint64], number: np.uint64, first: int) -> None:
    """Begin the streams of games; the first of them is game ``first`` of all games with this seed."""
    for g in range(len(seeds)):
        seeds[g] = mixed(number + _GAMMA * np.uint64(2 * (first + g) + 1))


@compiled
def seed_each(seeds: NDArray[np.uint64], numbers: NDArray[np.uint64]) -> None:
    """Begin the stream of each game with a number of its own: that of the first game of a batch with this seed."""
    for g in range(len(seeds)):
        seeds[g] = mixed(numbers[g] + _GAMMA)
