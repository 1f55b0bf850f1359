"""Matchmaking: the duels that give most information about the order of the ratings, as a function of the duels so far.

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
from scipy.linalg import blas, lapack
from scipy.special import expit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.state import Pairs
    from referee.tournament.ratings import Floats

#: Multiples of these two numbers spread any number of places evenly, along both axes.
_GOLDEN, _SILVER = (math.sqrt(5) - 1) / 2, math.sqrt(2) - 1
#: The information of the tie that each version has against an average one, so that nothing is ever infinitely uncertain.
_OWN = 0.25
#: The least variance of a difference, against rounding.
_LEAST_VARIANCE = 1e-9
#: All pairs are surveyed again after a duel for each so many pairs: for every duel of 200 entries, for one in 125 of 2,000. Until then,
#: candidates are so many opponents of each entry.
_SURVEYED, _OPPONENTS = 32_000, 32
#: The number of rows of the matrix of all pairs that are computed at once.
_ROWS = 256


class Candidate(NamedTuple):
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

    def __init__(self, entries: Sequence[Candidate], strengths: Floats, pairs: Pairs, number: int, placement: int, most: int) -> None:
        self._names = [entry.name for entry in entries]
        self._placement = placement
        self._number = number
        self._duels = np.array([entry.duels for entry in entries])
        self._last = np.array([entry.last for entry in entries])
        self._goes_on = np.array([entry.goes_on for entry in entries], dtype=bool)
        places = np.array([entry.place for entry in entries], dtype=np.int64)
        self._strengths = strengths[places]
        count = len(entries)
        self._left = np.full((count, count), most, dtype=np.int32)
        np.fill_diagonal(self._left, 0)
        numbers = np.full(len(strengths), -1)
        numbers[places] = np.arange(count)
        a, b = numbers[pairs.a], numbers[pairs.b]
        both = (a >= 0) & (b >= 0)
        first, second = a[both], b[both]
        self._left[first, second] = self._left[second, first] = most - pairs.met[both]
        # A version that plays its placement alone meets those that go on, and others in their placement.
        plays = self._plays()
        self._may_meet = (self._left > 0) & plays[:, np.newaxis] & plays
        chances = expit(strengths[pairs.a] - strengths[pairs.b])
        weights = pairs.met * chances * (1 - chances)
        totals = _OWN + np.bincount(pairs.a, weights, len(strengths)) + np.bincount(pairs.b, weights, len(strengths))
        information = np.eye(count) * _OWN
        information[first, second] = information[second, first] = -weights[both]
        own_share = np.bincount(first, weights[both], count) + np.bincount(second, weights[both], count)
        for mine, other in ((a, pairs.b), (b, pairs.a)):
            # A version that doesn't play is known as well as its other duels tell.
            at = (mine >= 0) & (numbers[other] < 0)
            effective = weights[at] * (1 - weights[at] / totals[other[at]])
            own_share = own_share + np.bincount(mine[at], effective, count)
        np.fill_diagonal(information, _OWN + own_share)
        # Cholesky's factor, and the lower half of the inverse: half of the work of any other inverse.
        factor, _ = lapack.dpotrf(information.T, lower=True, overwrite_a=True)
        self._covariance: Floats = lapack.dpotri(factor, lower=True, overwrite_c=True)[0]
        np.copyto(self._covariance, self._covariance.T, where=np.tri(count, k=-1, dtype=bool).T)
        #: How many ranks an entry rises with its strength. It changes little from one duel to the next, as does which pairs are worth a look.
        self._density: Floats = np.zeros(count)
        self._survey()

    def _plays(self) -> Any:
        return self._goes_on | (self._duels < self._placement)

    def next(self) -> tuple[str, str] | None:
        """Return the next duel; None if all pairs have met ``most`` times."""
        can = self._may_meet.any(axis=1)
        if not can.any():
            return None
        waited = np.where(can, self._number - self._last, -1)
        late = int(np.argmax(waited))
        is_new = (self._duels < self._placement) & can
        if waited[late] >= self._plays().sum():
            a, b = late, self._most_telling_for(late)
        elif is_new.any():
            a = int(np.argmin(np.where(is_new, self._duels, np.iinfo(np.int64).max)))
            b = self._spread(a, self._may_meet[a])
        else:
            a, b = self._most_telling()
        self._note(a, b)
        return self._names[a], self._names[b]

    def _most_telling(self) -> tuple[int, int]:
        """Return the two entries whose duel gives most information."""
        if self._surveyed <= 0 or not self._may_meet[self._candidates.a, self._candidates.b].any():
            self._survey()
        candidates = self._candidates
        at = int(np.argmax(np.where(self._may_meet[candidates.a, candidates.b], self._gains(candidates), -1.0)))
        return int(candidates.a[at]), int(candidates.b[at])

    def _most_telling_for(self, a: int) -> int:
        """Return the opponent whose duel with an entry gives most information."""
        if self._surveyed <= 0:
            self._survey()
        column, every = self._covariance[:, a], np.arange(len(self._density))
        squares = self._covariance @ (self._density**2 * column)
        gains = self._gains(self._candidates._replace(a=a, b=every, covariances=column, squares=squares))
        return int(np.argmax(np.where(self._may_meet[a], gains, -1.0)))

    def _survey(self) -> None:
        """Compute the gain of all duels, and keep the best ones of each entry as candidates for the next duels."""
        covariance = self._covariance
        own_variances, count = np.diag(covariance).copy(), len(covariance)
        parts = [np.arange(first, min(first + _ROWS, count)) for first in range(0, count, _ROWS)]
        for rows in parts:
            variances = np.maximum(own_variances[rows, np.newaxis] + own_variances - 2 * covariance[rows], _LEAST_VARIANCE)
            differences = self._strengths[rows, np.newaxis] - self._strengths
            # The density of the others at the strength of an entry.
            density = np.exp(-(differences**2) / (2 * variances)) / np.sqrt(2 * math.pi * variances)
            density[np.arange(len(rows)), rows] = 0.0
            self._density[rows] = density.sum(axis=1)
        ranks = self._density[:, np.newaxis] * covariance
        squares = ranks.T @ ranks
        del ranks
        whole = Candidates(own_variances, np.diag(squares).copy(), np.arange(count), np.arange(count), covariance, squares)
        width = min(count, _OPPONENTS)
        best = np.zeros((count, width), dtype=np.int64)
        for rows in parts:
            block = whole._replace(a=rows[:, np.newaxis], covariances=covariance[rows], squares=squares[rows])
            gains = np.where(self._may_meet[rows], self._gains(block), -1.0)
            best[rows] = np.sort(np.argpartition(-gains, width - 1, axis=1)[:, :width], axis=1)
        a, b = np.repeat(np.arange(count), width), best.ravel()
        self._candidates = whole._replace(a=a, b=b, covariances=covariance[a, b], squares=squares[a, b])
        self._surveyed = max(1, count**2 // _SURVEYED)

    def _gains(self, candidates: Candidates) -> Floats:
        """Return by how much each duel is expected to lower the sum of the squared errors of all ranks."""
        variances = np.maximum(
            candidates.variances[candidates.a] + candidates.variances[candidates.b] - 2 * candidates.covariances, _LEAST_VARIANCE
        )
        learnt = candidates.power[candidates.a] + candidates.power[candidates.b] - 2 * candidates.squares
        # The chance if the difference is as uncertain as it is.
        chances = expit((self._strengths[candidates.a] - self._strengths[candidates.b]) / np.sqrt(1 + math.pi * variances / 8))
        weights = chances * (1 - chances)
        # Rounded, so that the last digits of a sum don't choose between equals.
        return np.asarray((weights * learnt / (1 + weights * variances)).round(9))

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
        self._may_meet[a, b] = self._may_meet[b, a] = self._left[a, b] > 0
        for place in (a, b):
            self._duels[place] += 1
            self._last[place] = self._number
            if not self._goes_on[place] and self._duels[place] >= self._placement:
                self._may_meet[place] = self._may_meet[:, place] = False
        self._number += 1
        self._surveyed -= 1
        chance = expit(self._strengths[a] - self._strengths[b])
        weight = chance * (1 - chance)
        column = self._covariance[:, a] - self._covariance[:, b]
        scale = float(weight / (1 + weight * (column[a] - column[b])))
        dense = self._density**2 * column
        self._candidates = self._candidates.after(column, self._covariance @ dense, float(column @ dense), scale)
        # Sherman and Morrison: the inverse after one more duel.
        self._covariance = blas.dger(-scale, column, column, a=self._covariance, overwrite_a=True)


class Candidates(NamedTuple):
    """Pairs ``a`` and ``b`` of entries, with the ``covariances`` of their strengths, and ``squares``: the same of the errors of all ranks.

    ``variances`` and ``power`` are the variances of each entry in both.
    """

    variances: Floats
    power: Floats
    a: Any
    b: Any
    covariances: Floats
    squares: Floats

    def after(self, column: Floats, image: Floats, square: float, scale: float) -> Candidates:
        """Return the same after one more duel, which subtracts ``scale`` times the square of ``column`` from all covariances.

        ``image`` and ``square`` are what the errors of all ranks make of ``column``.
        """
        a, b = self.a, self.b
        return self._replace(
            variances=self.variances - scale * column**2,
            power=self.power - 2 * scale * column * image + scale**2 * square * column**2,
            covariances=self.covariances - scale * column[a] * column[b],
            squares=self.squares - scale * (column[a] * image[b] + image[a] * column[b]) + scale**2 * square * column[a] * column[b],
        )
