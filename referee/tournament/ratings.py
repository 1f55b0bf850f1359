"""Ratings: the Bradley-Terry model fitted to all comparisons at once, with intervals that are valid even for few starts.

The chance that a beats b is 1 / (1 + exp(b - a)). A tie counts as half a win of each. Each team has one more tie, against an average team
of strength 0: it keeps the rating of a team that has won everything finite. Ratings are on the Elo scale, and their mean is zero.

An interval is the wider of two errors: that of the model, and that of starts drawn anew, which is regularized by an error assumed before
the first start. Thus no error vanishes, and no single comparison changes an error by much.

Sources: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs, Biometrika 39 (1952); P. Kline and A. Santos, A Score Based
Approach to Wild Bootstrap Inference, Journal of Econometric Methods 1 (2012), on drawing scores instead of fitting each resample; G. Smyth,
Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments, Statistical Applications in
Genetics and Molecular Biology 3 (2004), on few units: a variance moderated by a prior one, and its Student's t; W. Hauck
and A. Donner, Wald's Test as Applied to Hypotheses in Logit Analysis, Journal of the American Statistical Association 72 (1977), on teams
that win everything; L. Kish, Survey Sampling
(1965), on the effective number of units; M. Mogstad, J. Romano, A. Shaikh and D. Wilhelm, Inference for Ranks with Applications to Mobility
across Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies 91 (2024), on ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import minimize
from scipy.sparse import linalg as splinalg
from scipy.special import expit, log_expit, ndtr, ndtri, stdtrit

from referee.tournament.elo import POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from referee.tournament.duels import PairedComparison

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Comparisons: TypeAlias = "Iterable[PairedComparison] | ComparisonArrays"

#: The confidence of the intervals of ratings and ranks.
CONFIDENCE = 0.95
#: The most numbers in one array of the bootstrap; more resamples are computed in parts.
MOST_NUMBERS = 1_000_000
#: With more teams than this, ranks come from the intervals of the teams instead of those of all pairs.
MOST_PAIRED_TEAMS = 500
#: Up to so many teams, errors are solved with a dense matrix.
MOST_DENSE_TEAMS = 5_000
#: The fit ends with a step that changes strengths less than this on average; the last step after it has nearly all digits.
PRECISION = 1e-6
#: How many starts the belief before the first start is worth. With 6, intervals of few starts are a tenth narrower; but in simulated leagues
#: of 30 teams on one start, to which starts add 174 Elo, they held 90 % of the ratings instead of 96 %.
PRIOR_STARTS = 4.0
#: The belief before the first start: the standard deviation of what a start adds to the strength of each team.
START_EFFECT = 0.5
#: How much of the strengths is left where the model tells how certain an order is. With 0.8, five wins of five decide the order of two teams
#: at 95 % and four don't.
TOWARDS_EQUAL = 0.8


class Rating(NamedTuple):
    """The rating of a team. ``low`` to ``high`` is its interval.

    ``best_rank`` to ``worst_rank`` are the ranks that the team may have; all of them hold together at the ``CONFIDENCE``.
    """

    team: str
    elo: float
    low: float
    high: float
    best_rank: int
    worst_rank: int


def rate(comparisons: Comparisons, teams: Iterable[str] = ()) -> dict[str, float]:
    """Return the Elo rating of each team: of ``teams``, and of those that only the comparisons name.

    Raises ValueError for a score that does not lie from 0 to 1, and for a team that is compared with itself.
    """
    design = _Design(comparisons, teams)
    strengths = design.fit()
    return dict(zip(design.teams, map(float, _centred(strengths) * POINTS), strict=True))


def strengths(count: int, a: Counts, b: Counts, games: Floats, wins: Floats, begin: Floats) -> Floats:
    """Return the strengths of ``count`` teams in log-odds, not centred, from the sums of pairs.

    ``a`` and ``b`` are the teams of each pair, ``wins`` the points of ``a``, ``begin`` strengths that are nearly these.
    """
    return _PairSums(count, a, b, games, wins).fit(begin)


def intervals(
    comparisons: Comparisons,
    teams: Iterable[str] = (),
    *,
    resamples: int = 1000,
    seed: int = 0,
    among: Iterable[str] | None = None,
) -> list[Rating]:
    """Return the ratings, the best first, with their intervals and rank intervals: of all teams, or of those ``among`` which ranks count.

    An interval is the wider of two. One has the error of the model, as if duels were independent. The other one has the error of
    resampling: the sampling unit is the start, with all its comparisons, so that duels on one start may depend on each other. Few starts
    say little about their own variance. So it is averaged with a variance that is believed before the first start, and that is worth
    ``PRIOR_STARTS`` starts: starts matter a little, and further duels of two teams on one start say nothing new. That belief is
    scaled to what all teams together show.

    Two teams are in a certain order if the interval of their difference excludes zero. The intervals of all pairs hold simultaneously
    (the largest studentized error of all pairs calibrates them). So with the probability ``CONFIDENCE`` no certain order is wrong. The best
    rank of a team counts the teams that are certainly better, its worst rank those that are certainly worse. With more than
    ``MOST_PAIRED_TEAMS`` teams, the order of two teams is certain if their own simultaneous intervals don't overlap, which is less often.
    This holds for one look at the league. A person who looks after every round and stops at a good moment needs a higher confidence.

    Raises ValueError as ``rate`` does.
    """
    design = _Design(comparisons, teams)
    if not design.teams:
        return []
    best = design.fit()
    names, rows = design.rows(among)
    centre = _centred(best)[rows]
    errors = design.errors(best, resamples, seed).of(rows)
    reach = errors.reach_of_teams(float(ndtri((1 + CONFIDENCE) / 2)))
    better, worse = _certainly_better(centre, errors)
    ends = np.array([centre, centre - reach, centre + reach]).T * POINTS
    ratings = [
        Rating(team, elo, low, high, 1 + int(above), len(ends) - int(below))
        for team, (elo, low, high), above, below in zip(names, ends.tolist(), better, worse, strict=True)
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo, rating.team))


def best_of(
    comparisons: Comparisons, teams: Iterable[str], among: Iterable[str], *, resamples: int = 1000, seed: int = 0
) -> tuple[str, float]:
    """Return the best of the teams ``among``, two or more, and how certain that is.

    The certainty is the highest confidence, from 0 to 1, at which it is better than each other of them, all differences at once. The order
    of two teams is as certain as in ``intervals``, for one look. Raises ValueError as ``rate`` does.
    """
    design = _Design(comparisons, teams)
    fitted = design.fit()
    names, rows = design.rows(among)
    errors = design.errors(fitted, resamples, seed).of(rows)
    first = int(np.argmax(fitted[rows]))
    others = np.arange(len(rows)) != first
    gaps = (fitted[rows[first]] - fitted[rows])[others]
    # The error probability lies between these two, as powers of 10.
    least, most = -9.0, 0.0
    for _ in range(25):
        middle = (least + most) / 2
        reach = errors.reach_of_pairs(-float(ndtri(10**middle / len(gaps))))[first][others]
        least, most = (least, middle) if (gaps > reach).all() else (middle, most)
    return names[first], 1 - 10**most


def decided_places(ratings: Sequence[Rating]) -> tuple[int, ...]:
    """Return the places, from 1, whose team is certain: those of teams with one possible rank.

    All of them hold together at the confidence of the ratings: at 95 %, at most about one league in twenty has a wrong team on a decided
    place.
    """
    return tuple(sorted(rating.best_rank for rating in ratings if rating.best_rank == rating.worst_rank))


class ComparisonArrays(NamedTuple):
    """Many comparisons: ``a`` and ``b`` are places in ``teams``, ``scores`` those of ``a``. ``starts`` are numbers."""

    teams: Sequence[str]
    a: Counts
    b: Counts
    scores: Floats
    starts: Counts


def arrays(comparisons: Iterable[PairedComparison]) -> ComparisonArrays:
    """Return comparisons as arrays."""
    teams: dict[str, int] = {}
    rows = [(teams.setdefault(a, len(teams)), teams.setdefault(b, len(teams)), score, start) for a, b, score, start in comparisons]
    a, b, scores, starts = zip(*rows, strict=True) if rows else ((), (), (), ())
    places = (np.array(each, dtype=np.int64) for each in (a, b, starts))
    first, second, units = places
    return ComparisonArrays(list(teams), first, second, np.array(scores, dtype=np.float64), units)


def _in_order(values: Counts) -> tuple[Counts, Counts]:
    """Return the different values in the order in which they come first, and the place of each value among them."""
    distinct, firsts, places = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return distinct[order], ranks[places]


class _PairSums:
    """The sums of the games and wins of pairs of teams. ``low`` and ``high`` are the teams of each pair, and ``wins`` those of the first."""

    def __init__(self, count: int, low: Counts, high: Counts, games: Floats, wins: Floats) -> None:
        self._count, self._games, self._wins = count, games.ravel(), wins.ravel()
        ends = np.array([low, high], dtype=np.int64).T.ravel()
        signs = np.tile([1.0, -1.0], len(low))
        self.pairs = sparse.csr_matrix((signs, ends, np.arange(0, len(ends) + 1, 2)), shape=(len(low), count))
        self.by_team = sparse.csr_matrix(self.pairs.T)
        self._spread = abs(self.by_team)

    def fit(self, begin: Floats | None = None) -> Floats:
        """Return the strengths of maximum likelihood. ``begin`` are strengths that are nearly these."""
        games, wins = self._games, self._wins

        def loss(strengths: Floats) -> tuple[float, Floats]:
            """Return the negated log-likelihood, virtual ties included, and its slope."""
            differences = self.pairs @ strengths
            played = (games - wins) * differences - games * log_expit(differences)
            virtual = 0.5 * strengths - log_expit(strengths)
            slope = self.by_team @ (games * expit(differences) - wins) + expit(strengths) - 0.5
            return float(played.sum() + virtual.sum()), slope

        def weights(strengths: Floats) -> tuple[Floats, Floats]:
            chances, tie_chances = expit(self.pairs @ strengths), expit(strengths)
            return games * chances * (1 - chances), tie_chances * (1 - tie_chances)

        def curved(strengths: Floats, direction: Floats) -> Floats:
            """Return the second derivative times a direction."""
            played, virtual = weights(strengths)
            return np.asarray(self.by_team @ (played * (self.pairs @ direction)) + virtual * direction)

        start = np.zeros(self._count) if begin is None else begin
        if not self._count:
            return start
        fitted = minimize(loss, start, jac=True, hessp=curved, method="Newton-CG", options={"xtol": PRECISION}).x
        # The slope is more precise than the likelihood: one more step has the digits that are left.
        return np.asarray(fitted - _Curvature(self, *weights(fitted)).solve(loss(fitted)[1]))


class _Curvature:
    """The negated second derivative of the likelihood. It is also the covariance of the points that chance gives to the teams.

    ``weights`` are those of the pairs, ``tie_weights`` those of the virtual ties.
    """

    def __init__(self, sums: _PairSums, weights: Floats, tie_weights: Floats) -> None:
        self._sums, self._weights, self._tie_weights = sums, weights, tie_weights
        ends, count = sums.pairs.indices.reshape(-1, 2), len(tie_weights)
        links = sparse.coo_matrix((weights, (ends.max(axis=1), ends.min(axis=1))), shape=(count, count))
        diagonal = abs(sums.by_team) @ weights + tie_weights
        self._factor = None
        if count <= MOST_DENSE_TEAMS:
            # Of the matrix, its lower half is enough. In this order the factor takes the matrix's own memory.
            matrix = (-links).toarray(order="F")
            np.fill_diagonal(matrix, diagonal)
            self._factor = linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        else:
            self._matrix = (sparse.diags(diagonal) - links - links.T).tocsr()
            self._scales = sparse.diags(1 / diagonal)

    def solve(self, right: Floats) -> Floats:
        """Return the solutions for one column or many."""
        if self._factor is not None:
            return np.asarray(linalg.cho_solve((self._factor, True), right, check_finite=False))
        # The virtual ties keep it well conditioned: a few dozen iterations are enough.
        return np.array([splinalg.cg(self._matrix, column, M=self._scales)[0] for column in np.atleast_2d(right.T)]).T.reshape(right.shape)

    def draw(self, count: int, seed: np.random.SeedSequence) -> Floats:
        """Return columns of normal numbers with this covariance."""
        if self._factor is not None:
            factor = self._factor
            return _drawn(count, len(factor), lambda normal: factor @ normal, seed)
        pairs, scales = len(self._weights), np.sqrt(np.concatenate([self._weights, self._tie_weights]))[:, np.newaxis]

        def added(normal: Floats) -> Floats:
            scaled = scales * normal
            return np.asarray(self._sums.by_team @ scaled[:pairs] + scaled[pairs:])

        return _drawn(count, len(scales), added, seed)


def _drawn(count: int, size: int, product: Callable[[Floats], Floats], seed: np.random.SeedSequence) -> Floats:
    """Return ``count`` columns: what ``product`` makes of columns of ``size`` standard normal numbers."""
    random, part = np.random.default_rng(seed), max(1, MOST_NUMBERS // size)
    parts = [min(part, count - first) for first in range(0, count, part)]
    return np.hstack([product(random.standard_normal((columns, size)).T) for columns in parts])


class _Design(_PairSums):
    """The comparisons as sparse matrices: pairs by teams, and pairs by starts for games and wins."""

    def __init__(self, comparisons: Comparisons, teams: Iterable[str]) -> None:
        data = comparisons if isinstance(comparisons, ComparisonArrays) else arrays(comparisons)
        if data.scores.size and not (data.scores.min() >= 0 and data.scores.max() <= 1):
            raise ValueError(f"A score lies from 0 to 1; {data.scores[np.argmax(np.abs(data.scores - 0.5))]} does not.")
        if (data.a == data.b).any():
            raise ValueError(f"A team can't be compared with itself: {data.teams[data.a[np.argmax(data.a == data.b)]]!r:.60}.")
        names = {team: number for number, team in enumerate(dict.fromkeys(teams))}
        seen = np.bincount(np.concatenate([data.a, data.b]), minlength=len(data.teams))
        numbers = np.array([names.setdefault(team, len(names)) if seen[at] else -1 for at, team in enumerate(data.teams)], dtype=np.int64)
        first, second = (numbers[each] if each.size else each for each in (data.a, data.b))
        low, high = np.minimum(first, second), np.maximum(first, second)
        pairs, rows = _in_order(low * len(names) + high)
        units, columns = _in_order(data.starts)
        scores = np.where(first > second, 1 - data.scores, data.scores)
        shape = (len(pairs), max(len(units), 1))
        self.games = sparse.csr_matrix((np.ones(len(scores)), (rows, columns)), shape=shape)
        self.wins = sparse.csr_matrix((scores, (rows, columns)), shape=shape)
        super().__init__(len(names), *np.divmod(pairs, max(1, len(names))), _sums(self.games), _sums(self.wins))
        self.teams = list(names)
        played = self._spread @ self.games
        #: The effective number of starts of each team (Kish's): a start on which it played little counts little.
        self._starts = _sums(played) ** 2 / np.maximum(_sums(played.power(2)), 1)

    def rows(self, names: Iterable[str] | None) -> tuple[list[str], Counts]:
        """Return some of the teams with their numbers, None for all of them."""
        numbers = {team: number for number, team in enumerate(self.teams)}
        chosen = self.teams if names is None else list(dict.fromkeys(names))
        return chosen, np.array([numbers[name] for name in chosen], dtype=np.int64)

    def errors(self, strengths: Floats, count: int, seed: int) -> _Errors:
        """Return ``count`` draws of the errors of the strengths in each way."""
        chances, tie_weights = expit(self.pairs @ strengths), expit(strengths) * expit(-strengths)
        spread = chances * (1 - chances)
        near_spread, near_tie_weights = (
            expit(each * TOWARDS_EQUAL) * expit(-each * TOWARDS_EQUAL) for each in (self.pairs @ strengths, strengths)
        )
        # The variance of the sum of a team's scores is that of its duels, and on each start what the start adds to its strength.
        of_starts = START_EFFECT**2 * _sums((self._spread @ self.games.multiply(spread[:, np.newaxis])).power(2))
        scores = self.by_team @ (self.wins - self.games.multiply(chances[:, np.newaxis])).tocsr()
        luck, starts = np.random.SeedSequence(seed).spawn(2)
        # One large matrix after the other.
        believed = _Curvature(self, _sums(self.games.power(2)) * spread, tie_weights + of_starts).draw(count, luck)
        resampled = _drawn(count, self.games.shape[1], lambda normal: scores @ (normal - normal.mean(axis=0)), starts)
        curvature = _Curvature(self, self._games * spread, tie_weights)
        model, believed, resampled = (_centred(curvature.solve(noise)) for noise in (curvature.draw(count, luck), believed, resampled))
        curvature = _Curvature(self, self._games * near_spread, near_tie_weights)
        return _Errors(model, believed, resampled, _centred(curvature.solve(curvature.draw(count, luck))), self._starts)


class _Errors:
    """Errors of the strengths, drawn in several ways: a row for each team, a column for each draw.

    ``model``: as if all duels were independent. ``nearer``: the same if all differences were ``TOWARDS_EQUAL`` times as great. ``believed``:
    the prior, before the first start. ``resampled``: by drawing starts anew. ``starts`` are the effective numbers of starts of the teams.
    """

    def __init__(self, model: Floats, believed: Floats, resampled: Floats, nearer: Floats, starts: Floats) -> None:
        self.model, self.nearer = model, nearer
        self._believed, self._resampled, self._starts = believed, resampled, starts
        freedom = np.maximum(starts - 1, 0)
        observed = starts * np.divide(_of_teams(resampled), _of_teams(believed), out=np.zeros_like(starts), where=freedom > 0)
        #: How much greater the resampled variances of all teams together are than the believed ones.
        self._excess = float((PRIOR_STARTS + observed.sum()) / (PRIOR_STARTS + freedom.sum()))

    def of(self, rows: Counts) -> _Errors:
        """Return the errors of some teams."""
        selected = _Errors(*(each[rows] for each in (self.model, self._believed, self._resampled, self.nearer, self._starts)))
        selected._excess = self._excess
        return selected

    def reach_of_teams(self, normal: float) -> Floats:
        """Return how far each strength may lie from the truth, where a normal distribution reaches ``normal`` standard deviations."""
        return self._reach(normal, _of_teams, self.model, self._starts)

    def reach_of_pairs(self, normal: float) -> Floats:
        """Return how far the difference of each two strengths may lie from zero if they are equal.

        At the strengths themselves, the error of a team that wins everything grows nearly as fast as its strength, so that no number
        of wins would decide an order. So the model's error is that of strengths a little nearer to equality.
        """
        return self._reach(normal, _of_pairs, self.nearer, np.minimum.outer(self._starts, self._starts))

    def _reach(self, normal: float, variance: Callable[[Floats], Floats], model: Floats, starts: Floats) -> Floats:
        freedom = PRIOR_STARTS + np.maximum(starts - 1, 0)
        # A resampled variance of n starts lacks the factor n / (n - 1), and counts n - 1 times.
        moderated = (PRIOR_STARTS * self._excess * variance(self._believed) + starts * variance(self._resampled)) / freedom
        student = -stdtrit(freedom, ndtr(-normal))
        return np.asarray(np.maximum(normal * np.sqrt(variance(model)), student * np.sqrt(moderated)))


def _of_teams(errors: Floats) -> Floats:
    """Return the variance of the strength of each team."""
    return np.asarray(errors.var(axis=1))


def _sums(matrix: Any) -> Floats:
    """Return the sums of the rows of a sparse matrix."""
    return np.asarray(matrix.sum(axis=1)).ravel()


def _centred(strengths: Floats) -> Floats:
    """Return the strengths with the mean zero."""
    return np.asarray(strengths - strengths.mean(axis=0)) if strengths.size else strengths


def _certainly_better(centre: Floats, errors: _Errors) -> tuple[Counts, Counts]:
    """Return how many teams are certainly better than each team, and how many are certainly worse."""
    if len(centre) < 2:
        none = np.zeros(len(centre), dtype=np.int64)
        return none, none
    if len(centre) > MOST_PAIRED_TEAMS:
        largest = np.abs(errors.model / errors.model.std(axis=1, keepdims=True)).max(axis=0)
        reach = errors.reach_of_teams(float(np.quantile(largest, CONFIDENCE)))
        lows, highs = np.sort(centre - reach), np.sort(centre + reach)
        return len(centre) - np.searchsorted(lows, centre + reach, "right"), np.searchsorted(highs, centre - reach, "left")
    with np.errstate(divide="ignore"):
        scales = 1 / np.sqrt(_of_pairs(errors.nearer))
    np.fill_diagonal(scales, 0)
    part = max(1, MOST_NUMBERS // scales.size)
    draws = (errors.nearer.T[first : first + part, :, np.newaxis] for first in range(0, errors.nearer.shape[1], part))
    largest = np.concatenate([(np.abs(draw - draw.transpose(0, 2, 1)) * scales).max(axis=(1, 2)) for draw in draws])
    is_better = centre[:, np.newaxis] - centre > errors.reach_of_pairs(float(np.quantile(largest, CONFIDENCE)))
    return is_better.sum(axis=0), is_better.sum(axis=1)


def _of_pairs(errors: Floats) -> Floats:
    """Return the variance of the difference of each two teams."""
    covariance = np.cov(errors)
    variances = np.diag(covariance)
    return np.asarray(np.maximum(variances[:, np.newaxis] + variances - 2 * covariance, 0))
