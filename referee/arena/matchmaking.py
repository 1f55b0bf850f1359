"""Matchmaking: the duels that tell most about the order of the ratings, as a function of the duels so far.

A version that is new plays its placement first, against opponents spread over the ratings. Else the next duel is the one after which the ranks
are expected to be most certain. The variances of all strengths come from the information of the duels so far. An error of a strength counts as
many ranks as there are other entries near by. A duel whose first entry wins with the chance p lowers the sum of the squared errors of all
ranks in proportion to p (1 - p): the two are about equally strong, uncertain, and many others are as strong as they. Within a batch, each
chosen duel counts as played, with an open result. An entry that has waited for as many duels as there are entries, two thirds of three times
the mean, comes first: so none waits longer than three times the mean.

Sources: V. Fedorov, Theory of Optimal Experiments (1972), on adding one trial after another for a linear criterion; D. MacKay, The Evidence
Framework Applied to Classification Networks, Neural Computation 4 (1992), on the chance under an uncertain difference.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.state import Pairs
    from referee.league.ratings import Floats

#: Multiples of these two numbers spread any number of places evenly, along both axes.
_GOLDEN, _SILVER = (math.sqrt(5) - 1) / 2, math.sqrt(2) - 1
#: The information of the tie that each version has against an average one, so that nothing is ever infinitely uncertain.
_OWN = 0.25


class Entry(NamedTuple):
    """A version that may play. ``place`` is that among all versions; ``duels`` counts those that it has played or will play.

    ``last`` is the number of the last of them, or that of the first duel since it is in the arena. ``goes_on`` is False for a version that
    plays its placement alone.
    """

    name: str
    place: int
    duels: int
    last: int
    goes_on: bool = True


class Matchmaker:
    """Chooses duels one after another; each counts as played for the next choice.

    ``strengths`` are those of all versions in log-odds, and ``pairs`` their duels, also of versions that don't play any more. ``number`` is that
    of the next duel, ``placement`` the number of the first duels of each version. Two versions that have met ``most`` times don't meet again.
    """

    def __init__(self, entries: Sequence[Entry], strengths: Floats, pairs: Pairs, number: int, placement: int, most: int) -> None:
        self._names = [entry.name for entry in entries]
        self._placement = placement
        self._number = number
        self._duels = np.array([entry.duels for entry in entries])
        self._last = np.array([entry.last for entry in entries])
        self._goes_on = np.array([entry.goes_on for entry in entries], dtype=bool)
        own = np.array([entry.place for entry in entries], dtype=np.int64)
        self._strengths = strengths[own]
        count = len(entries)
        self._left = np.full((count, count), most)
        np.fill_diagonal(self._left, 0)
        numbers = np.full(len(strengths), -1)
        numbers[own] = np.arange(count)
        a, b = numbers[pairs.a], numbers[pairs.b]
        both = (a >= 0) & (b >= 0)
        first, second = a[both], b[both]
        self._left[first, second] = self._left[second, first] = most - pairs.met[both]
        chances = expit(strengths[pairs.a] - strengths[pairs.b])
        weights = pairs.met * chances * (1 - chances)
        shown = _OWN + np.bincount(pairs.a, weights, len(strengths)) + np.bincount(pairs.b, weights, len(strengths))
        information = np.eye(count) * _OWN
        information[first, second] = information[second, first] = -weights[both]
        own_share = np.bincount(first, weights[both], count) + np.bincount(second, weights[both], count)
        for mine, other in ((a, pairs.b), (b, pairs.a)):
            # A version that doesn't play is known as well as its other duels tell.
            at = (mine >= 0) & (numbers[other] < 0)
            known = weights[at] * (1 - weights[at] / shown[other[at]])
            own_share = own_share + np.bincount(mine[at], known, count)
        np.fill_diagonal(information, _OWN + own_share)
        self._covariance: Floats = np.asarray(np.linalg.inv(information), dtype=np.float64)

    def next(self) -> tuple[str, str] | None:
        """Return the next duel; None if all entries have met often enough."""
        may_meet = self._left > 0
        # A version that plays its placement alone meets those that go on, and others in their placement.
        is_new = self._duels < self._placement
        plays = is_new | self._goes_on
        may_meet &= plays[:, np.newaxis] & plays
        can = may_meet.any(axis=1)
        if not can.any():
            return None
        waited = np.where(can & plays, self._number - self._last, -1)
        late = int(np.argmax(waited))
        if waited[late] >= plays.sum():
            a, b = late, self._most_telling(may_meet, late)[1]
        elif (is_new & can).any():
            a = int(np.argmin(np.where(is_new & can, self._duels, np.iinfo(np.int64).max)))
            b = self._spread(a, may_meet[a])
        else:
            a, b = self._most_telling(may_meet)
        self._note(a, b)
        return self._names[a], self._names[b]

    def _most_telling(self, may_meet: Any, of: int | None = None) -> tuple[int, int]:
        """Return the two entries whose duel tells most, or those of one entry."""
        own = np.diag(self._covariance)
        variances = np.maximum(own[:, np.newaxis] + own - 2 * self._covariance, 1e-9)
        differences = self._strengths[:, np.newaxis] - self._strengths
        # How many ranks an entry rises with its strength: the density of the others at its strength.
        density = np.exp(-(differences**2) / (2 * variances)) / np.sqrt(2 * math.pi * variances)
        np.fill_diagonal(density, 0.0)
        ranks = density.sum(axis=1)[:, np.newaxis] * self._covariance
        squares = ranks.T @ ranks
        learnt = np.diag(squares)[:, np.newaxis] + np.diag(squares) - 2 * squares
        # The chance if the difference is as uncertain as it is.
        chances = expit(differences / np.sqrt(1 + math.pi * variances / 8))
        weights = chances * (1 - chances)
        # Rounded, so that the last digits of a sum don't choose between equals.
        gains = np.where(may_meet, weights * learnt / (1 + weights * variances), -1.0).round(9)
        if of is not None:
            return of, int(np.argmax(gains[of]))
        a, b = np.unravel_index(int(np.argmax(gains)), gains.shape)
        return int(a), int(b)

    def _spread(self, a: int, may_meet: Any) -> int:
        """Return the opponent for a duel of a placement: their ratings are spread evenly over all entries, and so are these duels."""
        ordered = sorted(np.flatnonzero(may_meet).tolist(), key=lambda place: (self._strengths[place], self._names[place]))
        # Others that are new take another part of the ratings in the same duel of theirs.
        middle = int((a * _SILVER + (int(self._duels[a]) + 1) * _GOLDEN) % 1 * len(ordered))
        reach = len(ordered) // 20
        return min(ordered[max(0, middle - reach) : middle + reach + 1], key=lambda place: int(self._duels[place]))

    def _note(self, a: int, b: int) -> None:
        """Count a duel as played."""
        self._left[a, b] -= 1
        self._left[b, a] -= 1
        for place in (a, b):
            self._duels[place] += 1
            self._last[place] = self._number
        self._number += 1
        chance = expit(self._strengths[a] - self._strengths[b])
        weight = chance * (1 - chance)
        column = self._covariance[:, a] - self._covariance[:, b]
        variance = column[a] - column[b]
        # Sherman and Morrison: the inverse after one more duel.
        self._covariance -= np.outer(column, column) * (weight / (1 + weight * variance))
