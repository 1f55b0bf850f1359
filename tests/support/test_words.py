"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from referee.support.words import signed


@pytest.mark.parametrize(
    ("number", "told"),
    [(120.4, "+120"), (-5.0, "-5"), (-0.7, "-1"), (0.4, "+0"), (0.0, "+0"), (-0.0, "+0"), (-0.4, "+0"), (-math.inf, "-inf")],
)
def test_a_rating_has_a_sign_and_nothing_is_below_zero_by_less_than_a_half(number: float, told: str) -> None:
    assert signed(number) == told
