"""Confidence sequences: intervals for a mean that are valid at every moment, so one may look after every duel and stop at any time.

Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal Statistical Society B
86 (2024): the section on the hedged capital process, with its predictable plug-in bets.
The idea: a gambler bets money on the next value, at odds that are fair if the mean is m. If the gambler has become rich, m is not believable.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The largest part of the capital that a bet may lose. The paper's choice.
MOST_LOST = 0.5


class ConfidenceSequence:
    """A confidence interval for the mean of values from 0 to 1, brought up to date with each value.

    With probability ``confidence``, the true mean lies in the interval at every moment. The interval never grows: it is the intersection
    of the intervals of all moments so far. The values are independent draws. Raises ValueError for a confidence that does not lie between
    0 and 1.
    """

    def __init__(self, confidence: float = 0.95) -> None:
        if not 0 < confidence < 1:
            raise ValueError(f"The confidence is {confidence}, but must lie between 0 and 1.")
        self._bettor = _Bettor(confidence)
        self._above = _LowerEnd(confidence)
        self._below = _LowerEnd(confidence)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self._above.end

    @property
    def high(self) -> float:
        """The upper end of the interval. It is never less than ``low``."""
        return max(1 - self._below.end, self.low)

    def add(self, value: float) -> None:
        """Take the next value. Raises ValueError if it doesn't lie from 0 to 1."""
        if not 0 <= value <= 1:
            raise ValueError(f"A value lies from 0 to 1; {value} does not.")
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
    """The lower end of the interval: the least mean at which a gambler who bets on greater values has not become rich."""

    def __init__(self, confidence: float) -> None:
        self.end = 0.0
        self._rich = math.log(2 / (1 - confidence))
        self._values = array("d")
        self._bets = array("d")
        self._wealth = 0.0

    def add(self, value: float, bet: float) -> None:
        mean = self.end
        self._values.append(value)
        self._bets.append(bet)
        self._wealth += math.log1p(min(bet, MOST_LOST / mean if mean > 0 else math.inf) * (value - mean))
        if self._wealth >= self._rich:
            self._move()

    def _move(self) -> None:
        """Raise the end to the least believable mean. The wealth falls as the mean grows."""
        # Imported here, because the import takes longer than a sequential test.
        from scipy.optimize import brentq

        if self.end >= 1 or self._wealth_at(1.0) >= self._rich:
            self.end = 1.0
        else:
            self.end = float(brentq(lambda mean: self._wealth_at(mean) - self._rich, self.end, 1.0, xtol=1e-12))
        self._wealth = self._wealth_at(self.end)

    def _wealth_at(self, mean: float) -> float:
        values, bets = np.frombuffer(self._values), np.frombuffer(self._bets)
        return float(np.log1p(np.minimum(bets, MOST_LOST / max(mean, 1e-300)) * (values - mean)).sum())
