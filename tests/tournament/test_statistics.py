"""The calculators for the results of other matches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from referee.errors import UsageError
from referee.statistics import ratings, sprt

if TYPE_CHECKING:
    from collections.abc import Callable

VECTORS = json.loads((Path(__file__).parents[1] / "data/statistics.json").read_text())


def test_the_test_is_that_of_the_vectors() -> None:
    for case in VECTORS["sprt"]:
        test = sprt(case["counts"], p0=case["s0"], p1=case["s1"], alpha=case["alpha"], beta=case["beta"])
        assert test.llr == pytest.approx(case["llr"], abs=1e-5)
        assert [test.lower, test.upper] == pytest.approx(case["bounds"], abs=1e-6)


def test_the_ratings_are_those_of_the_vectors() -> None:
    for case in VECTORS["ratings"]:
        rated = ratings((str(a), str(b), score) for a, b, score in case["results"])
        assert {int(team): elo for team, elo in rated.items()} == pytest.approx(dict(enumerate(case["elo"])), abs=0.01)
        assert sum(rated.values()) == pytest.approx(0, abs=1e-6)


def test_values_without_a_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="not all of them 0"):
        sprt([0, 0, 0])
    with pytest.raises(ValueError, match="score"):
        ratings([("X", "Y", 2)])
    with pytest.raises(ValueError, match="X"):
        ratings([("X", "X", 1)])


def test_what_is_missing_is_named(hidden: Callable[..., None]) -> None:
    hidden("numpy", "scipy")
    with pytest.raises(UsageError, match=r"referee\.statistics needs numpy and scipy; .*-m pip install numpy scipy"):
        sprt([1, 2, 3])
