"""Sequential tests: is A better than B? They stop as soon as the results decide, and still keep both error rates.

The test is the generalized sequential probability ratio test (GSPRT). Its sources: A. Wald, Sequential Analysis (1947), chapter 3, for
the bounds; X. Li, J. Liu and Z. Ying, Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses, Sequential
Analysis 33 (2014), for the ratio of maximized likelihoods; A. Owen, Empirical Likelihood (2001), chapter 2, for the distribution of
maximum likelihood whose mean is given.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from referee.support.words import counted
from referee.tournament.confidence import ConfidenceSequence
from referee.tournament.elo import elo_of_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Accepted = Literal["H0", "H1", "continue"]
Decision = Literal["better", "worse", "no-difference", "undecided"]

#: The count that replaces zero. Without it, one result of each kind would have to be seen before a test could say anything.
UNSEEN = 1e-3
#: The count of 0 and of 1 among fractions before the first duel. Few fractions that lie close together would otherwise decide too early: in
#: simulations with 0.001 instead, up to 5 % of the comparisons of bots of share ``p1`` ended wrongly; with this count, half as many.
VIRTUAL = 0.5


class Sprt(NamedTuple):
    """A sequential test at one moment.

    ``llr`` is the natural logarithm of the likelihood ratio of H1 to H0. H1 is accepted from ``upper`` on, H0 down from ``lower``.
    """

    llr: float
    lower: float
    upper: float


def sprt(counts: Sequence[float], p0: float, p1: float, alpha: float, beta: float) -> Sprt:
    """Test whether the mean score is ``p1`` (H1) or ``p0`` (H0).

    ``counts`` says how often each score occurred, from the lowest score to the highest: losses, ties, wins. The scores are evenly spaced
    from 0 to 1, so that five counts are those of pairs of duels. ``alpha`` is the chance to accept H1 though H0 is true, ``beta`` the
    chance to accept H0 though H1 is true. Raises ValueError for values without a meaning.
    """
    check_hypotheses(p0, p1, alpha, beta)
    if len(counts) < 2 or not all(math.isfinite(count) and count >= 0 for count in counts) or not any(counts):
        raise ValueError("Counts are two or more numbers from 0 on, not all of them 0.")
    llr = float(log_likelihood_ratio(counts, np.linspace(0, 1, len(counts)), p0, p1))
    return Sprt(llr, *bounds(alpha, beta))


def check_hypotheses(p0: float, p1: float, alpha: float, beta: float) -> None:
    """Raise ValueError, with a sentence, unless 0 < p0 < p1 < 1, both error rates are positive, and their sum is less than 1."""
    for name, value in (("p0", p0), ("p1", p1)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, but must lie between 0 and 1.")
    if not p0 < p1:
        raise ValueError(f"p0 is {p0} and p1 is {p1}, but p0 must be less than p1.")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, but must lie between 0 and 1.")
    if not alpha + beta < 1:
        raise ValueError(f"alpha is {alpha} and beta is {beta}, but their sum must be less than 1.")


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Return Wald's bounds of the log-likelihood ratio: H0 is accepted at the lower one, H1 at the upper one."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def _accepted(llr: float, lower: float, upper: float) -> Accepted:
    return "H1" if llr >= upper else "H0" if llr <= lower else "continue"


def log_likelihood_ratio(counts: ArrayLike, values: ArrayLike, p0: ArrayLike, p1: ArrayLike) -> Floats:
    """Return the log-likelihood ratio of the mean ``p1`` to the mean ``p0``, each at its most likely distribution over ``values``.

    The last axis of ``counts`` and ``values`` runs over the values. All other axes, and those of ``p0`` and ``p1``, are broadcast: one
    call computes many tests. Zero counts are replaced by ``UNSEEN``. Each mean must lie between the smallest and the largest value.
    """
    weights = np.asarray(counts, dtype=np.float64)
    weights = np.where(weights > 0, weights, UNSEEN)
    points = np.asarray(values, dtype=np.float64)
    supports = [_log_tilt(weights, points - np.asarray(mean, dtype=np.float64)[..., np.newaxis]) for mean in (p0, p1)]
    return np.asarray((weights * (supports[0] - supports[1])).sum(axis=-1))


def _log_tilt(weights: Floats, offsets: Floats) -> Floats:
    """Return the logarithm of 1 + t * offset, by which the most likely distribution of mean offset 0 divides the observed frequencies.

    ``t`` solves sum(weight * offset / (1 + t * offset)) = 0. The sum falls as t grows, so Newton's steps that leave the bracket
    are replaced by bisection.
    """
    shape = np.broadcast_shapes(weights.shape, offsets.shape)
    weights, offsets = (np.broadcast_to(array, shape).reshape(-1, shape[-1]) for array in (weights, offsets))
    low, high = -1 / offsets.max(axis=-1), -1 / offsets.min(axis=-1)
    result = np.zeros(len(offsets))
    t: Floats = np.zeros(len(offsets))
    active: NDArray[np.int64] = np.arange(len(offsets))
    left, points = weights, offsets
    for _ in range(200):
        terms = points / (1 + t[:, np.newaxis] * points)
        shares = left * terms
        excess, slope = shares.sum(axis=-1), (shares * terms).sum(axis=-1)
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        newton = t + excess / slope
        following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        is_left = np.abs(following - t) > 1e-14 * np.maximum(1, np.abs(t))
        t = following
        result[active] = t
        if not is_left.any():
            break
        active = active[is_left]
        left, points, low, high, t = (array[is_left] for array in (left, points, low, high, t))
    return np.asarray(np.log1p(result[:, np.newaxis] * offsets).reshape(shape))


class Compared(NamedTuple):
    """The state of the comparison of A and B after some duels.

    ``share`` is A's mean score, from 0 to 1, and ``low`` to ``high`` its confidence interval, which is valid at every moment. The Elo
    values are those of the three shares; plus and minus infinity belong to the shares 1 and 0. ``llr`` is that of "A is better",
    ``llr_worse`` that of "A is worse"; ``lower`` and ``upper`` bound both.
    """

    duels: int
    wins: int
    ties: int
    losses: int
    share: float
    low: float
    high: float
    elo: float
    elo_low: float
    elo_high: float
    llr: float
    llr_worse: float
    lower: float
    upper: float
    decision: Decision

    def line(self) -> str:
        """Return the state in one line."""
        return (
            f"{counted(self.duels, 'duel')}: +{self.wins} ={self.ties} -{self.losses}  share {self.share:.3f} ({self.low:.3f} to {self.high:.3f})  "
            f"LLR {self.llr:+.2f} / {self.llr_worse:+.2f} ({self.lower:+.2f}, {self.upper:+.2f})"
        )


class Comparing:
    """The sequential comparison of A with B by the scores of their duels, in the order of the schedule.

    Two sequential tests run side by side. One asks whether A's share is ``p1`` or ``p0``, the other one asks the same about B's share.
    A is better if the first test accepts H1, worse if the second one does. There is no difference beyond ``p1`` if both accept H0. Each
    test has the error rate ``alpha / 2``: together, the chance that equal bots are called better or worse is at most about ``alpha``.
    The chance that a bot of share ``p1`` is called anything but better is at most about ``beta``.

    ``has_fractions`` says that scores are any numbers from 0 to 1, such as means of several results. The most likely distributions are then those
    over the observed scores, 0 and 1; half a duel of score 0 and half a duel of score 1 are there from the beginning. The
    first decision is final, whatever comes later. So it doesn't depend on which duels finish first.
    """

    def __init__(
        self,
        p0: float = 0.5,
        p1: float = 0.6,
        alpha: float = 0.05,
        beta: float = 0.05,
        *,
        has_fractions: bool = False,
    ) -> None:
        check_hypotheses(p0, p1, alpha, beta)
        if p0 + p1 < 1:
            raise ValueError(f"p0 is {p0} and p1 is {p1}, but their mean must be 0.5 or more: else equal bots would be called better.")
        self.lower, self.upper = bounds(alpha / 2, beta)
        self._means = np.array([p0, 1 - p0]), np.array([p1, 1 - p1])
        self._has_fractions = has_fractions
        self._counts: dict[float, float] = dict.fromkeys((0.0, 1.0), VIRTUAL) if has_fractions else dict.fromkeys((0.0, 0.5, 1.0), 0.0)
        self._interval = ConfidenceSequence()
        self._total = 0.0
        self._outcomes = [0, 0, 0]
        self._llrs = [0.0, 0.0]
        self._accepted: list[Accepted] = ["continue", "continue"]

    @property
    def duels(self) -> int:
        """The number of duels that count: those up to the decision."""
        return sum(self._outcomes)

    @property
    def decision(self) -> Decision:
        """The decision so far."""
        if "H1" in self._accepted:
            return "better" if self._accepted[0] == "H1" else "worse"
        return "undecided" if "continue" in self._accepted else "no-difference"

    def add(self, score: float) -> None:
        """Take A's score of the next duel of the schedule: 1 for a win, 0.5 for a tie, 0 for a loss. After a decision it is ignored.

        Raises ValueError for a score that isn't one.
        """
        self._check(score)
        if self.decision != "undecided":
            return
        self._interval.add(score)
        self._counts[score] = self._counts.get(score, 0) + 1
        self._total += score
        self._outcomes[0 if score < 0.5 else 2 if score > 0.5 else 1] += 1
        counts = np.fromiter(self._counts.values(), dtype=np.float64)
        values = np.fromiter(self._counts, dtype=np.float64)
        self._llrs = [float(llr) for llr in log_likelihood_ratio(counts, values, *self._means)]
        for side, llr in enumerate(self._llrs):
            if self._accepted[side] == "continue":
                self._accepted[side] = _accepted(llr, self.lower, self.upper)

    def _check(self, score: float) -> None:
        if not 0 <= score <= 1 or (not self._has_fractions and score not in (0, 0.5, 1)):
            allowed = "from 0 to 1" if self._has_fractions else "0, 0.5 or 1"
            raise ValueError(f"The score of a duel is {allowed}, not {score}.")

    def compared(self) -> Compared:
        """Return the state of the comparison. Before the first duel the share is 0.5."""
        losses, ties, wins = self._outcomes
        share = self._total / self.duels if self.duels else 0.5
        low, high = self._interval.low, self._interval.high
        return Compared(
            duels=self.duels,
            wins=wins,
            ties=ties,
            losses=losses,
            share=share,
            low=low,
            high=high,
            elo=elo_of_share(min(share, 1.0)),
            elo_low=elo_of_share(low),
            elo_high=elo_of_share(high),
            llr=self._llrs[0],
            llr_worse=self._llrs[1],
            lower=self.lower,
            upper=self.upper,
            decision=self.decision,
        )
