"""Confidence sequences: they cover the mean at every moment, and say so in closed cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from referee.league.confidence import ConfidenceSequence, covers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ends(values: NDArray[np.float64], population: int | None = None) -> NDArray[np.float64]:
    """The interval after each value: a row of two numbers."""
    sequence = ConfidenceSequence(population=population)
    rows = []
    for value in values:
        sequence.add(float(value))
        rows.append((sequence.low, sequence.high))
    return np.array(rows)


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
    "margins": lambda random, size: (random.beta(2, 3, size), 0.4),
}


@pytest.mark.parametrize("kind", COVERAGE)
def test_the_mean_is_covered_at_every_moment(kind: str) -> None:
    paths, mean = COVERAGE[kind](np.random.default_rng(3), (1000, 500))
    assert covers(paths, mean).mean() >= 0.95
    # An interval that is much too wide covers, too.
    widths = np.diff(ends(paths[0])[[99, 499]])
    assert widths[0] < 0.45
    assert widths[1] < 0.22


def test_the_mean_of_a_finite_population_is_covered_at_every_moment() -> None:
    random = np.random.default_rng(4)
    values = random.choice([0, 0.5, 1], 60)
    orders = np.array([random.permutation(values) for _ in range(1000)])
    assert covers(orders, values.mean(), population=60).mean() >= 0.95
    rows = ends(orders[0], population=60)
    assert (rows[:, 0] <= values.mean() + 1e-9).all()
    assert (rows[:, 1] >= values.mean() - 1e-9).all()
    assert rows[-1] == pytest.approx([values.mean()] * 2, abs=1e-9)
    assert rows[40, 1] - rows[40, 0] < np.diff(ends(orders[0]))[40]


def test_values_and_options_without_a_meaning() -> None:
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            ConfidenceSequence().add(value)
    for confidence in (0, 1, math.nan):
        with pytest.raises(ValueError, match="confidence"):
            ConfidenceSequence(confidence)
    used_up = ConfidenceSequence(population=1)
    used_up.add(1)
    assert (used_up.low, used_up.high) == (1, 1)
    with pytest.raises(ValueError, match="have been drawn"):
        used_up.add(1)
