"""The sequential test against computed vectors, and its errors in simulated comparisons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from referee.tournament.elo import elo_of_share
from referee.tournament.sequential import Comparing, bounds, log_likelihood_ratio, sprt

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCORES = np.array([0, 0.5, 1])


def test_two_scores_are_the_textbook_s_test() -> None:
    # Wald's test of a coin: the likelihood of each hypothesis is known without maximizing.
    known = 30 * math.log(0.6 / 0.5) + 25 * math.log(0.4 / 0.5)
    assert sprt([25, 30], 0.5, 0.6, 0.05, 0.05).llr == pytest.approx(known, abs=1e-9)


def test_losses_and_wins_mirror_each_other() -> None:
    found = sprt([31, 12, 44, 9, 3], 0.5, 0.6, 0.05, 0.05).llr
    assert sprt([3, 9, 44, 12, 31], 0.4, 0.5, 0.05, 0.05).llr == pytest.approx(-found, abs=1e-9)


@pytest.mark.parametrize("counts", [[10**15, 0, 1], [0, 0, 1], [1, 0, 0], [1e-3, 1e-3, 1e15]])
def test_extreme_counts_have_a_finite_ratio(counts: list[float]) -> None:
    for p0, p1 in ((0.5, 0.6), (1e-6, 1 - 1e-6), (0.5, 0.5 + 1e-9)):
        assert math.isfinite(sprt(counts, p0, p1, 0.05, 0.05).llr)


def test_many_tests_in_one_call_are_those_of_single_calls() -> None:
    counts = np.random.default_rng(1).integers(0, 40, (20, 3))
    together = log_likelihood_ratio(counts, SCORES, 0.5, 0.55)
    assert together == pytest.approx([sprt(list(map(float, row)), 0.5, 0.55, 0.05, 0.05).llr for row in counts], abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "p0", "p1", "alpha", "beta", "told"),
    [
        ([1, 2, 3], 0.6, 0.5, 0.05, 0.05, "p0 must be less"),
        ([1, 2, 3], 0.5, 0.5, 0.05, 0.05, "p0 must be less"),
        ([1, 2, 3], 0.0, 0.5, 0.05, 0.05, "p0 is 0.0"),
        ([1, 2, 3], 0.5, 1.0, 0.05, 0.05, "p1 is 1.0"),
        ([1, 2, 3], math.nan, 0.6, 0.05, 0.05, "p0 is nan"),
        ([1, 2, 3], 0.5, 0.6, 0.0, 0.05, "alpha is 0.0"),
        ([1, 2, 3], 0.5, 0.6, 0.05, 1.5, "beta is 1.5"),
        ([1, 2, 3], 0.5, 0.6, 0.5, 0.5, "sum"),
        ([0, 0, 0], 0.5, 0.6, 0.05, 0.05, "not all of them 0"),
        ([1], 0.5, 0.6, 0.05, 0.05, "two or more"),
        ([1, -2, 3], 0.5, 0.6, 0.05, 0.05, "from 0 on"),
        ([1, math.inf, 3], 0.5, 0.6, 0.05, 0.05, "from 0 on"),
    ],
)
def test_values_without_a_meaning(counts: list[float], p0: float, p1: float, alpha: float, beta: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        sprt(counts, p0, p1, alpha, beta)


def drawn(share: float, ties: float, duels: int, seed: int, tests: int = 1000) -> NDArray[np.float64]:
    """Scores of bots of known strength: a row for each test."""
    wins = share - ties / 2
    return np.random.default_rng(seed).choice(SCORES, size=(tests, duels), p=[1 - wins - ties, ties, wins])


def ends(ratios: NDArray[np.float64], lower: float, upper: float) -> NDArray[np.int64]:
    """What each test accepts when it first reaches a bound: 1 for H1, 0 for H0, -1 if it never does."""
    is_end = (ratios <= lower) | (ratios >= upper)
    first = is_end.argmax(axis=1)
    return np.where(is_end.any(axis=1), (ratios[np.arange(len(ratios)), first] >= upper).astype(int), -1)


def ratios_of(scores: NDArray[np.float64], p0: float, p1: float, lower: float, upper: float) -> NDArray[np.float64]:
    """The ratio after each duel of each test; once a test has reached a bound, the rest may be missing (NaN)."""
    counts = np.cumsum(scores[..., np.newaxis] == SCORES, axis=1)
    ratios = np.full(scores.shape, np.nan)
    going = np.arange(len(scores))
    for first in range(0, scores.shape[1], 50):
        block = slice(first, first + 50)
        ratios[going, block] = found = log_likelihood_ratio(counts[going, block], SCORES, p0, p1)
        going = going[((lower < found) & (found < upper)).all(axis=1)]
    return ratios


def check_errors(ties: float, duels: int, tests: int) -> None:
    most = 0.06 * tests
    for share in (0.5, 0.6):
        scores = drawn(share, ties, duels, seed=11, tests=tests)
        widest = min(bounds(alpha, 0.05)[0] for alpha in (0.05, 0.025)), max(bounds(alpha, 0.05)[1] for alpha in (0.05, 0.025))
        ratios = ratios_of(scores, 0.5, 0.6, *widest)
        one_sided, better = (ends(ratios, *bounds(alpha, 0.05)) for alpha in (0.05, 0.025))
        if share == 0.5:
            worse = ends(ratios_of(scores, 0.5, 0.4, *widest), *bounds(0.025, 0.05))
            assert (one_sided == 1).sum() <= most
            assert ((better == 1) | (worse == 1)).sum() <= most
        else:
            assert (one_sided == 0).sum() <= most
            assert (better == 0).sum() <= most


@pytest.mark.soak
def test_errors_of_both_kinds_with_many_ties() -> None:
    check_errors(ties=0.6, duels=100, tests=1000)


@pytest.mark.soak
@pytest.mark.parametrize("ties", [0.0, 0.3, 0.6])
def test_errors_of_both_kinds(ties: float) -> None:
    check_errors(ties, duels=600, tests=1000)


def compare(scores: NDArray[np.float64], **options: Any) -> Comparing:
    comparing = Comparing(**options)
    for score in scores:
        comparing.add(float(score))
    return comparing


def test_a_comparison_decides_as_its_two_tests_do() -> None:
    for share in (0.4, 0.5, 0.62):
        scores = drawn(share, 0.6, 120, seed=5, tests=3)
        lower, upper = bounds(0.025, 0.05)
        ups, downs = (ends(ratios_of(scores, 0.5, p1, lower, upper), lower, upper) for p1 in (0.6, 0.4))
        for row, up, down in zip(scores, ups, downs, strict=True):
            expected = "better" if up == 1 else "worse" if down == 1 else "no-difference" if up == down == 0 else "undecided"
            assert compare(row).decision == expected


@pytest.mark.soak
@pytest.mark.long
def test_comparisons_of_fractions_keep_their_errors() -> None:
    random = np.random.default_rng(2)
    for share, right in ((0.5, "no-difference"), (0.6, "better")):
        paths = random.beta(4 * share, 4 * (1 - share), (100, 300))
        wrong = sum(compare(path, has_fractions=True).decision != right for path in paths)
        assert wrong <= 0.06 * len(paths), share


def test_a_decision_is_final() -> None:
    comparing = Comparing()
    for _ in range(40):
        comparing.add(1)
    found = comparing.compared()
    assert found.decision == "better"
    # 20 is the first n with n log(0.6 / 0.5) > log(0.95 / 0.025).
    assert (found.wins, found.duels) == (20, 20)
    for _ in range(1000):
        comparing.add(0)
    assert comparing.compared() == found


def test_the_other_way_round_worse_is_better() -> None:
    scores = drawn(0.62, 0.3, 300, seed=9, tests=1)[0]
    one, other = compare(scores).compared(), compare(1 - scores).compared()
    assert (one.decision, other.decision) == ("better", "worse")
    assert one.llr == pytest.approx(other.llr_worse)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
    assert one.elo == pytest.approx(-other.elo)


def test_before_the_first_duel_nothing_is_known() -> None:
    found = Comparing().compared()
    assert (found.duels, found.share, found.low, found.high, found.llr, found.decision) == (0, 0.5, 0, 1, 0, "undecided")
    assert (found.elo, found.elo_low, found.elo_high) == (0, -math.inf, math.inf)


@pytest.mark.parametrize(
    ("options", "score"), [({}, 0.25), ({}, -1), ({}, math.nan), ({"has_fractions": True}, 1.5), ({"has_fractions": True}, math.nan)]
)
def test_scores_that_are_none(options: dict[str, bool], score: float) -> None:
    with pytest.raises(ValueError, match="score of a duel"):
        Comparing(**options).add(score)


def test_hypotheses_that_would_call_equal_bots_better() -> None:
    with pytest.raises(ValueError, match="equal bots would be called better"):
        Comparing(p0=0.4, p1=0.5)


def test_elo_and_back() -> None:
    assert elo_of_share(10 / 11) == pytest.approx(400)
    assert elo_of_share(0.5) == 0
    assert (elo_of_share(0), elo_of_share(1)) == (-math.inf, math.inf)
    for share in (1e-9, 0.25, 0.5, 0.9):
        assert 1 / (1 + 10 ** (-elo_of_share(share) / 400)) == pytest.approx(share, rel=1e-9)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            elo_of_share(wrong)
