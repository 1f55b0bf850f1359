"""Confidence sequences: they cover the mean at every moment, and say so in closed cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from referee.tournament.confidence import MOST_LOST, ConfidenceSequence

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ends(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The interval after each value: a row of two numbers."""
    sequence = ConfidenceSequence()
    rows = []
    for value in values:
        sequence.add(float(value))
        rows.append((sequence.low, sequence.high))
    return np.array(rows)


def covers(values: NDArray[np.float64], mean: float, confidence: float = 0.95) -> NDArray[np.bool_]:
    """Return whether ``mean`` lies in the confidence sequence of ``values`` at every moment: many sequences at once. The last axis is time."""
    counts = np.arange(1, values.shape[-1] + 1)
    estimates = (0.5 + np.cumsum(values, axis=-1)) / (counts + 1)
    squares = 0.25 + np.cumsum((values - estimates) ** 2, axis=-1)
    variances = np.concatenate([np.full((*values.shape[:-1], 1), 0.25), squares[..., :-1] / counts[1:]], axis=-1)
    rich = math.log(2 / (1 - confidence))
    bets = np.sqrt(2 * rich / (variances * counts * np.log1p(counts)))
    wealth = [
        np.cumsum(np.log1p(np.minimum(bets, MOST_LOST / mine) * (won - mine)), axis=-1)
        for won, mine in ((values, mean), (1 - values, 1 - mean))
    ]
    return np.asarray((np.maximum(*wealth) < rich).all(axis=-1))


def test_the_interval_of_wins_alone_is_known() -> None:
    # All bets are cut to half of the capital after the first, so wealth is known: (1 + (1 - m) / (2 m)) to the power of the wins.
    rows = ends(np.ones(30))
    known = 1 / (2 * 40 ** (1 / 30) - 1)
    assert rows[-1] == pytest.approx([known, 1], abs=1e-6)


def test_the_interval_never_grows() -> None:
    rows = ends(np.random.default_rng(1).choice([0, 0.5, 1], 300))
    assert (np.diff(rows[:, 0]) >= 0).all()
    assert (np.diff(rows[:, 1]) <= 0).all()
    assert rows[-1, 1] - rows[-1, 0] < 0.25


def test_the_ends_are_where_the_wealth_reaches_its_bound() -> None:
    values = np.random.default_rng(2).choice([0, 0.5, 1], 200, p=[0.2, 0.3, 0.5])
    low, high = ends(values)[-1]
    for mean, is_covered in ((low - 1e-6, False), (low + 1e-6, True), (high - 1e-6, True), (high + 1e-6, False)):
        assert covers(values, mean) == is_covered


COVERAGE = {
    "even": lambda random, size: (random.choice([0, 0.5, 1], size, p=[0.35, 0.3, 0.35]), 0.5),
    "strong": lambda random, size: (random.choice([0, 0.5, 1], size, p=[0.05, 0.1, 0.85]), 0.9),
    "fractions": lambda random, size: (random.beta(2, 3, size), 0.4),
}


@pytest.mark.parametrize("kind", COVERAGE)
def test_the_mean_is_covered_at_every_moment(kind: str) -> None:
    paths, mean = COVERAGE[kind](np.random.default_rng(3), (1000, 500))
    assert covers(paths, mean).mean() >= 0.95
    # An interval that is much too wide covers, too.
    widths = np.diff(ends(paths[0])[[99, 499]])
    assert widths[0] < 0.45
    assert widths[1] < 0.22


def test_values_and_options_without_a_meaning() -> None:
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            ConfidenceSequence().add(value)
    for confidence in (0, 1, math.nan):
        with pytest.raises(ValueError, match="confidence"):
            ConfidenceSequence(confidence)
