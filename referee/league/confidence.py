"""Confidence sequences: intervals for a mean that are valid at every moment, so that one may look after every duel and stop at will.

Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal Statistical Society B
86 (2024): the sections on the hedged capital process, with its predictable plug-in bets, and on betting while sampling without replacement.
The idea: a gambler bets money on the next value, at odds that are fair if the mean is m. If the gambler has become rich, m is not believable.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: The largest part of the capital that a bet may lose. The paper's choice.
MOST_LOST = 0.5


class ConfidenceSequence:
    """A confidence interval for the mean of values from 0 to 1, brought up to date with each value.

    With probability ``confidence``, the true mean lies in the interval at every moment. The interval never grows: it is the intersection
    of the intervals of all moments so far. The values are independent draws; or, with ``population``, they are drawn without
    replacement from that many values, and the interval is that of the mean of all of them. Raises ValueError for a confidence that does
    not lie between 0 and 1.
    """

    def __init__(self, confidence: float = 0.95, population: int | None = None) -> None:
        if not 0 < confidence < 1:
            raise ValueError(f"The confidence is {confidence}, but must lie between 0 and 1.")
        self._bettor = _Bettor(confidence)
        self._above = _LowerEnd(confidence, population)
        self._below = _LowerEnd(confidence, population)
        self._population = population

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self._above.end

    @property
    def high(self) -> float:
        """The upper end of the interval. It is never less than ``low``."""
        return max(1 - self._below.end, self.low)

    def add(self, value: float) -> None:
        """Take the next value. Raises ValueError if it doesn't lie from 0 to 1, or if the population is used up."""
        if not 0 <= value <= 1:
            raise ValueError(f"A value lies from 0 to 1; {value} does not.")
        if self._population is not None and self._bettor.count >= self._population:
            raise ValueError(f"All {self._population} values of the population have been drawn.")
        bet = self._bettor.bet()
        self._bettor.learn(value)
        self._above.add(value, bet)
        self._below.add(1 - value, bet)


class _Bettor:
    """Chooses the size of each bet from the values before it: large if they varied little (the paper's predictable plug-in)."""

    def __init__(self, confidence: float) -> None:
        self._scale = 2 * math.log(2 / (1 - confidence))
        self._sum = 0.5
        self._squares = 0.25
        self.count = 0

    def bet(self) -> float:
        number = self.count + 1
        variance = self._squares / number
        return math.sqrt(self._scale / (variance * number * math.log1p(number)))

    def learn(self, value: float) -> None:
        self.count += 1
        self._sum += value
        self._squares += (value - self._sum / (self.count + 1)) ** 2


class _LowerEnd:
    """The lower end of the interval: the least mean at which a player who bets on greater values has not become rich."""

    def __init__(self, confidence: float, population: int | None) -> None:
        self.end = 0.0
        self._rich = math.log(2 / (1 - confidence))
        self._population = population
        self._values = array("d")
        self._bets = array("d")
        self._sum = 0.0
        self._wealth = 0.0

    def add(self, value: float, bet: float) -> None:
        mean = self.end
        if self._population is not None:
            left = self._population - len(self._values)
            mean = (self._population * mean - self._sum) / left
        self._values.append(value)
        self._bets.append(bet)
        self._sum += value
        self._wealth += math.log1p(min(bet, MOST_LOST / mean if mean > 0 else math.inf) * (value - mean))
        most = 1.0
        if self._population is not None:
            # The values that are still to come lie from 0 to 1.
            least = self._sum / self._population
            most = min(1.0, least + 1 - len(self._values) / self._population)
            if self.end < least:
                self.end = least
                self._wealth = self._wealth_at(least)
        if self._wealth >= self._rich:
            self._move(most)

    def _move(self, most: float) -> None:
        """Raise the end to the least believable mean. The wealth falls as the mean grows."""
        # Loaded when it is needed, because importing it takes longer than a sequential test.
        from scipy.optimize import brentq

        if most <= self.end or self._wealth_at(most) >= self._rich:
            self.end = max(self.end, most)
        else:
            self.end = float(brentq(lambda mean: self._wealth_at(mean) - self._rich, self.end, most, xtol=1e-12))
        self._wealth = self._wealth_at(self.end)

    def _wealth_at(self, mean: float) -> float:
        values, bets = np.frombuffer(self._values), np.frombuffer(self._bets)
        return float(_log_factors(values, bets, mean, self._population).sum())


def _log_factors(values: Floats, bets: Floats, mean: float, population: int | None) -> Floats:
    """Return the logarithms of the factors by which the wealth of a player who bets on greater values grows. The last axis is time."""
    means: Floats | float = mean
    if population is not None:
        drawn = np.arange(values.shape[-1])
        means = (population * mean - (np.cumsum(values, axis=-1) - values)) / (population - drawn)
        means = np.clip(means, 0.0, 1.0)
    caps = MOST_LOST / np.maximum(means, 1e-300)
    return np.log1p(np.minimum(bets, caps) * (values - means))


def covers(values: ArrayLike, mean: float, confidence: float = 0.95, population: int | None = None) -> NDArray[np.bool_]:
    """Return whether ``mean`` lies in the confidence sequence of ``values`` at every moment. The last axis is time.

    It computes many sequences at once, without their ends: for simulations.
    """
    paths = np.asarray(values, dtype=np.float64)
    counts = np.arange(1, paths.shape[-1] + 1)
    estimates = (0.5 + np.cumsum(paths, axis=-1)) / (counts + 1)
    squares = 0.25 + np.cumsum((paths - estimates) ** 2, axis=-1)
    variances = np.concatenate([np.full((*paths.shape[:-1], 1), 0.25), squares[..., :-1] / counts[1:]], axis=-1)
    bets = np.sqrt(2 * math.log(2 / (1 - confidence)) / (variances * counts * np.log1p(counts)))
    rich = math.log(2 / (1 - confidence))
    above = np.cumsum(_log_factors(paths, bets, mean, population), axis=-1)
    below = np.cumsum(_log_factors(1 - paths, bets, 1 - mean, population), axis=-1)
    return np.asarray((np.maximum(above, below) < rich).all(axis=-1))
