"""The pairs of a Swiss round."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.league import swiss


def _met(*pairs: str) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for a, b in map(tuple, pairs):
        found.setdefault(a, Counter())[b] += 1
        found.setdefault(b, Counter())[a] += 1
    return {team: dict(others) for team, others in found.items()}


def test_like_points_meet() -> None:
    assert swiss.pairs("ABCD", {"A": 2, "B": 2, "C": 1, "D": 1}, {}) == (("A", "B"), ("C", "D"))


def test_those_who_met_do_not_meet_again() -> None:
    pairs = swiss.pairs("ABCD", {"A": 2, "B": 2, "C": 1, "D": 1}, _met("AB"))
    assert set(pairs) in ({("A", "C"), ("B", "D")}, {("A", "D"), ("B", "C")})


def test_the_sum_of_squares_of_the_gaps_is_smallest() -> None:
    # One gap of two would be worse than two gaps of one.
    assert swiss.pairs("ABCD", {"A": 2, "B": 1, "C": 1, "D": 0}, {}) in ((("A", "B"), ("C", "D")), (("A", "C"), ("B", "D")))


def test_a_rematch_is_the_last_resort_and_the_rarest_one_is_taken() -> None:
    everybody = _met("AB", "CD", "AC", "BD", "AD", "BC", "AB", "CD", "AC")
    assert set(swiss.pairs("ABCD", {"A": 3}, everybody)) == {("A", "D"), ("B", "C")}


def test_two_triangles_have_no_pairs_without_a_rematch() -> None:
    # Each of ABC has met each of DEF: one rematch is enough.
    met = _met(*(a + b for a in "ABC" for b in "DEF"))
    pairs = swiss.pairs("ABCDEF", {}, met)
    assert sum(b in met[a] for a, b in pairs) == 1


@given(st.integers(1, 60), st.integers(0, 8), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_every_team_is_paired_and_nobody_twice_in_few_rounds(half: int, rounds: int, source: object) -> None:
    teams = [str(number) for number in range(2 * half)]
    points = {team: float(len(team) + int(team) % 5) for team in teams}
    ordered = sorted(teams, key=lambda team: -points[team])
    met: dict[str, Counter[str]] = {team: Counter() for team in teams}
    for _ in range(min(rounds, half)):
        pairs = swiss.pairs(ordered, points, met)
        assert sorted(team for pair in pairs for team in pair) == sorted(teams)
        for a, b in pairs:
            assert b not in met[a]
            met[a][b] += 1
            met[b][a] += 1
