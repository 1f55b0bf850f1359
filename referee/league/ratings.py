"""Ratings: the Bradley-Terry model fitted to all comparisons at once, with intervals by bootstrap over starts.

The chance that a beats b is 1 / (1 + exp(b - a)). A tie counts as half a win of each. Each team has one more tie, against an average team
of strength 0: it keeps the rating of a team that has won everything finite. Ratings are on the Elo scale, and their mean is zero.

Sources: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs, Biometrika 39 (1952); B. Efron and R. Tibshirani, An
Introduction to the Bootstrap (1993), chapters 8 and 13; T. Hesterberg, What Teachers Should Know About the Bootstrap, The American
Statistician 69 (2015), on few units; M. Mogstad, J. Romano, A. Shaikh and D. Wilhelm, Inference for Ranks with Applications to Mobility
across Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies 91 (2024), on ranks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, ndtri, stdtrit

from referee.league.elo import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from referee.league.values import Comparison

    Floats = NDArray[np.float64]

#: The most numbers in one array of the bootstrap; more resamples are fitted in parts.
MOST_NUMBERS = 4_000_000
#: With more teams than this, ranks come from the intervals of the teams instead of those of all pairs.
MOST_PAIRED_TEAMS = 500
#: The most that a strength changes in one step of Newton's method.
LONGEST_STEP = 2.0


class Rating(NamedTuple):
    """The rating of a team. ``low`` to ``high`` is its interval; both are infinite if there is only one start to resample.

    ``best_rank`` to ``worst_rank`` are the ranks that the team may have; all of them hold together at the given confidence.
    """

    team: str
    elo: float
    low: float
    high: float
    best_rank: int
    worst_rank: int


def rate(comparisons: Iterable[Comparison], teams: Iterable[str] = ()) -> dict[str, float]:
    """Return the Elo rating of each team: of ``teams``, and of those that only the comparisons name.

    Raises ValueError for a score that does not lie from 0 to 1, and for a team that is compared with itself.
    """
    design = _Design(comparisons, teams)
    strengths = design.fit_all()[:, 0]
    return dict(zip(design.teams, map(float, _centred(strengths) * POINTS), strict=True))


def intervals(
    comparisons: Iterable[Comparison], teams: Iterable[str] = (), *, confidence: float = 0.95, resamples: int = 1000, seed: int = 0
) -> list[Rating]:
    """Return the ratings, the best first, with their intervals and rank intervals.

    The sampling unit is the start: a resample draws as many starts as there are, with replacement, each with all its comparisons. The
    errors of the resamples are enlarged by Student's t for a small number of starts. The results of a team may not vary at all, for example
    because it has won everything. Then resampling says nothing about its error; it gets the error of the model, as if duels were independent.

    Two teams are in a certain order if the interval of their difference excludes zero. The intervals of all pairs hold simultaneously
    (the largest studentized error of each resample calibrates them). So with probability ``confidence`` no certain order is wrong. The best
    rank of a team counts the teams that are certainly better, its worst rank those that are certainly worse. With more than
    ``MOST_PAIRED_TEAMS`` teams, the order of two teams is certain if their own simultaneous intervals don't overlap, which is less often.
    This holds for one look at the league. A person who looks after every round and stops at a good moment needs a higher confidence.

    Raises ValueError as ``rate`` does.
    """
    design = _Design(comparisons, teams)
    best = design.fit_all()
    centre = _centred(best[:, 0])
    order = sorted(range(len(design.teams)), key=lambda team: (-centre[team], design.teams[team]))
    if design.units == 1:
        endless = math.inf
        return [Rating(design.teams[i], float(centre[i] * POINTS), -endless, endless, 1, len(order)) for i in order]
    errors = _errors(design, best, confidence, resamples, np.random.default_rng(seed))
    tail = (1 - confidence) / 2
    low, high = np.quantile(errors, [tail, 1 - tail], axis=1)
    lows = (centre + np.minimum(low, 0)) * POINTS
    highs = (centre + np.maximum(high, 0)) * POINTS
    better, worse = _certainly_better(centre, errors, confidence)
    return [
        Rating(design.teams[i], float(centre[i] * POINTS), float(lows[i]), float(highs[i]), int(better[i]) + 1, len(order) - int(worse[i]))
        for i in order
    ]


def decided_places(ratings: Sequence[Rating]) -> tuple[int, ...]:
    """Return the places, from 1, whose team is certain: those of teams with one possible rank.

    All of them hold together at the confidence of the ratings: at 95 %, at most about one league in twenty has a wrong team on a decided
    place. "The top 3 are decided" means that 1, 2 and 3 are among them.
    """
    return tuple(sorted(rating.best_rank for rating in ratings if rating.best_rank == rating.worst_rank))


class _Design:
    """The comparisons as sparse matrices: pairs by teams, and pairs by units for games and wins."""

    def __init__(self, comparisons: Iterable[Comparison], teams: Iterable[str]) -> None:
        names = {team: number for number, team in enumerate(dict.fromkeys(teams))}
        pairs: dict[tuple[int, int], int] = {}
        units: dict[int, int] = {}
        rows, columns, scores = [], [], []
        for a, b, score, start in comparisons:
            if not 0 <= score <= 1:
                raise ValueError(f"A score lies from 0 to 1; {score} does not.")
            if a == b:
                raise ValueError(f"A team can't be compared with itself: {a!r:.60}.")
            first, second = names.setdefault(a, len(names)), names.setdefault(b, len(names))
            is_swapped = first > second
            pair = (second, first) if is_swapped else (first, second)
            rows.append(pairs.setdefault(pair, len(pairs)))
            columns.append(units.setdefault(start, len(units)))
            scores.append(1 - score if is_swapped else score)
        self.teams = list(names)
        self.units = len(units)
        self.comparisons = len(scores)
        shape = (len(pairs), max(len(units), 1))
        self.games = sparse.csr_matrix((np.ones(len(scores)), (rows, columns)), shape=shape)
        self.wins = sparse.csr_matrix((np.asarray(scores, dtype=np.float64), (rows, columns)), shape=shape)
        ends = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
        edges = np.arange(len(pairs))
        signs = np.concatenate([np.ones(len(pairs)), -np.ones(len(pairs))])
        self.pairs = sparse.csr_matrix((signs, (np.tile(edges, 2), ends.T.ravel())), shape=(len(pairs), len(names)))
        self.by_team = sparse.csr_matrix(self.pairs.T)
        self._spread = abs(self.by_team)
        #: Which teams have had the same score in all their comparisons, or have none.
        self.unvaried = _unvaried(len(names), ends[rows], np.asarray(scores, dtype=np.float64))

    def fit_all(self) -> Floats:
        """Return the strengths of the teams by all comparisons, as one column."""
        ones = np.ones((self.games.shape[1], 1))
        return self.fit(self.games @ ones, self.wins @ ones, np.zeros((len(self.teams), 1)), 1e-9)

    def fit(self, games: Floats, wins: Floats, strengths: Floats, tolerance: float) -> Floats:
        """Return the strengths of maximum likelihood, a column for each column of ``games`` and ``wins``.

        Newton's method, from ``strengths`` on until no strength changes by more than ``tolerance``. No change is greater than
        ``LONGEST_STEP``: where a team has won nearly everything, the likelihood is so flat that Newton's steps are far too long. A step
        that lowers the likelihood of a column is halved.
        """
        result = strengths.copy()
        active: NDArray[np.int64] = np.arange(strengths.shape[1])
        for _ in range(200):
            if not active.size or not strengths.shape[0]:
                break
            differences = self.pairs @ strengths
            chances, own = expit(differences), expit(strengths)
            gradient = self.by_team @ (wins - games * chances) + 0.5 - own
            step = self.solve(games * chances * (1 - chances), own * (1 - own), gradient, tolerance)
            np.clip(step, -LONGEST_STEP, LONGEST_STEP, out=step)
            strengths += self._shortened(step, games, wins, strengths, differences)
            is_done = np.abs(step).max(axis=0) <= tolerance
            if is_done.any():
                result[:, active] = strengths
                active = active[~is_done]
                games, wins, strengths = (array[:, ~is_done] for array in (games, wins, strengths))
        result[:, active] = strengths
        return result

    def _shortened(self, step: Floats, games: Floats, wins: Floats, strengths: Floats, differences: Floats) -> Floats:
        """Return the step with the columns halved that would lower the likelihood."""
        value = _likelihood(games, wins, strengths, differences)
        change = self.pairs @ step
        for _ in range(30):
            reached = _likelihood(games, wins, strengths + step, differences + change)
            is_lower = reached < value - 1e-9 * (1 + np.abs(value))
            if not is_lower.any():
                break
            step[:, is_lower] /= 2
            change[:, is_lower] /= 2
        return step

    def solve(self, weights: Floats, own: Floats, right: Floats, tolerance: float) -> Floats:
        """Solve with the negated second derivative of the likelihood: ``weights`` of the pairs, and ``own`` of the virtual ties.

        Conjugate gradients on all columns at once. The matrix is sparse, and its virtual ties keep it well conditioned: also for
        10,000 teams a few dozen iterations are enough. Three digits of a step are enough, because the next step corrects it.
        """
        diagonal = self._spread @ weights + own
        solution = np.zeros_like(right)
        residual = right.copy()
        direction = residual / diagonal
        product = (residual * direction).sum(axis=0)
        goal = np.maximum(1e-6 * product, tolerance**2)
        for _ in range(2 * len(self.teams) + 100):
            if not (product > goal).any():
                break
            image = self.by_team @ (weights * (self.pairs @ direction)) + own * direction
            curvature = (direction * image).sum(axis=0)
            length = np.divide(product, curvature, out=np.zeros_like(product), where=curvature > 0)
            solution += length * direction
            residual -= length * image
            preconditioned = residual / diagonal
            previous, product = product, (residual * preconditioned).sum(axis=0)
            direction *= np.divide(product, previous, out=np.zeros_like(product), where=previous > 0)
            direction += preconditioned
        return solution

    def model_errors(self, strengths: Floats, count: int, random: np.random.Generator) -> Floats:
        """Return ``count`` draws of the strengths' errors, with the covariance that the model gives them if duels are independent."""
        chances, own = expit(self.pairs @ strengths), expit(strengths)
        weights = self.games @ np.ones((self.games.shape[1], 1)) * chances * (1 - chances)
        own *= 1 - own
        noise = self.by_team @ (np.sqrt(weights) * random.standard_normal((len(weights), count)))
        noise += np.sqrt(own) * random.standard_normal((len(own), count))
        return self.solve(weights, own, noise, 1e-4)


def _unvaried(teams: int, ends: NDArray[np.int64], scores: Floats) -> NDArray[np.bool_]:
    """Return which teams never had two different scores. ``ends`` are the two teams of each comparison, ``scores`` those of the first."""
    lows, highs = np.ones(teams), np.zeros(teams)
    for side, own in enumerate((scores, 1 - scores)):
        np.minimum.at(lows, ends[:, side], own)
        np.maximum.at(highs, ends[:, side], own)
    return np.asarray(highs <= lows)


def _likelihood(games: Floats, wins: Floats, strengths: Floats, differences: Floats) -> Floats:
    """Return the log-likelihood of each column, virtual ties included."""
    played = games * log_expit(differences) - (games - wins) * differences
    virtual = log_expit(strengths) - 0.5 * strengths
    return np.asarray(played.sum(axis=0) + virtual.sum(axis=0))


def _centred(strengths: Floats) -> Floats:
    """Return the strengths with the mean zero."""
    return np.asarray(strengths - strengths.mean(axis=0)) if strengths.size else strengths


def _errors(design: _Design, best: Floats, confidence: float, resamples: int, random: np.random.Generator) -> Floats:
    """Return the errors of the strengths in each resample: a row for each team, a column for each resample."""
    errors = np.empty((len(design.teams), resamples))
    if design.units > 1:
        part = max(1, MOST_NUMBERS // max(design.games.shape[0], len(design.teams), design.units))
        even = np.full(design.units, 1 / design.units)
        for first in range(0, resamples, part):
            drawn = random.multinomial(design.units, even, size=min(part, resamples - first)).T.astype(np.float64)
            begin = np.repeat(best, drawn.shape[1], axis=1)
            fitted = design.fit(design.games @ drawn, design.wins @ drawn, begin, 1e-4)
            errors[:, first : first + part] = _centred(fitted) - _centred(best)
        errors *= _stretch(design.units, confidence)
    else:
        errors[:] = 0
    silent = design.unvaried | (errors.std(axis=1) < 1e-9)
    if silent.any():
        errors[silent] = _centred(design.model_errors(best, resamples, random))[silent]
    return errors


def _stretch(units: int, confidence: float) -> float:
    """Return the factor that errors of a bootstrap of few units lack: the plain one gives the variance n - 1 of n, and no Student's t."""
    tail = (1 + confidence) / 2
    return float(stdtrit(units - 1, tail) / ndtri(tail) * math.sqrt(units / (units - 1)))


def _certainly_better(centre: Floats, errors: Floats, confidence: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many teams are certainly better than each team, and how many are certainly worse."""
    if len(centre) > MOST_PAIRED_TEAMS:
        spread = errors.std(axis=1)
        reach = np.quantile((np.abs(errors) / spread[:, np.newaxis]).max(axis=0), confidence) * spread
        lows, highs = np.sort(centre - reach), np.sort(centre + reach)
        return len(centre) - np.searchsorted(lows, centre + reach, "right"), np.searchsorted(highs, centre - reach, "left")
    if len(centre) < 2:
        none = np.zeros(len(centre), dtype=np.int64)
        return none, none
    covariance = np.cov(errors)
    variances = np.diag(covariance)
    spreads = np.sqrt(np.maximum(variances[:, np.newaxis] + variances - 2 * covariance, 1e-18))
    scales = 1 / spreads
    largest = np.array([(np.abs(error[:, np.newaxis] - error) * scales).max() for error in errors.T])
    differences = centre[:, np.newaxis] - centre
    is_better = differences > np.quantile(largest, confidence) * spreads
    return is_better.sum(axis=0), is_better.sum(axis=1)
