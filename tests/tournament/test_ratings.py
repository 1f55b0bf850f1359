"""Ratings against computed vectors, and what their intervals and ranks promise in simulated leagues."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from referee.tournament import ratings
from referee.tournament.duels import PairedComparison
from referee.tournament.elo import POINTS
from referee.tournament.ratings import decided_places, intervals, rate


def test_neither_the_order_of_results_nor_their_direction_matters() -> None:
    comparisons = league(6, 4, seed=1)[1]
    turned = [PairedComparison(each.b, each.a, 1 - each.score, each.start) for each in reversed(comparisons)]
    assert rate(turned) == pytest.approx(rate(comparisons), abs=1e-4)


def test_a_fit_by_another_method_is_the_same() -> None:
    from scipy.optimize import minimize

    comparisons = league(7, 3, seed=2)[1]
    found = rate(comparisons)
    names = list(found)

    def loss(strengths: Any) -> float:
        at = dict(zip(names, strengths, strict=True))
        played = sum(c.score * math.log(p) + (1 - c.score) * math.log(1 - p) for c in comparisons for p in [logistic(at[c.a] - at[c.b])])
        return -played - sum(0.5 * math.log(logistic(x) * logistic(-x)) for x in strengths)

    best = minimize(loss, np.zeros(7), method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}).x
    assert list(found.values()) == pytest.approx(list((best - best.mean()) * POINTS), abs=0.01)


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def share_of_elo(difference: float) -> float:
    return logistic(difference / POINTS)


def league(teams: int, starts: int, seed: int, copies: int = 1) -> tuple[dict[str, float], list[PairedComparison]]:
    """A round-robin of teams of known strength. Each result is there several times, as it is between deterministic bots."""
    random = np.random.default_rng(seed)
    strengths = random.normal(0, 0.8, teams)
    strengths -= strengths.mean()
    comparisons = []
    for start in range(starts):
        for a in range(teams):
            for b in range(a):
                score = float(random.random() < 1 / (1 + np.exp(strengths[b] - strengths[a])))
                comparisons += [PairedComparison(f"team {a}", f"team {b}", score, start)] * copies
    return {f"team {number}": strength * POINTS for number, strength in enumerate(strengths)}, comparisons


def check_promises(leagues: int, starts: int, copies: int) -> None:
    covered, wrong = 0, 0
    for seed in range(leagues):
        truth, comparisons = league(6, starts, seed, copies)
        places = {team: place for place, team in enumerate(sorted(truth, key=lambda team: -truth[team]), 1)}
        found = intervals(comparisons, resamples=400, seed=seed)
        covered += sum(each.low <= truth[each.team] <= each.high for each in found)
        wrong += any(not each.best_rank <= places[each.team] <= each.worst_rank for each in found)
    assert covered >= 0.91 * leagues * 6
    assert wrong <= 0.06 * leagues


def test_intervals_cover_and_ranks_hold() -> None:
    check_promises(leagues=30, starts=12, copies=3)


@pytest.mark.soak
@pytest.mark.parametrize(("starts", "copies"), [(4, 1), (10, 1), (30, 3)])
def test_intervals_cover_and_ranks_hold_in_many_leagues(starts: int, copies: int) -> None:
    check_promises(leagues=200, starts=starts, copies=copies)


def test_results_that_are_repeated_say_nothing_new_if_starts_are_drawn() -> None:
    once, thrice = (intervals(league(6, 12, 3, copies)[1]) for copies in (1, 3))
    rows = intervals([each._replace(start=number) for number, each in enumerate(league(6, 12, 3, 3)[1])])
    width = {
        name: np.mean([each.high - each.low for each in found]) for name, found in (("once", once), ("thrice", thrice), ("rows", rows))
    }
    assert width["thrice"] > 0.9 * width["once"]
    assert width["rows"] < 0.75 * width["thrice"]


def test_the_seed_makes_intervals_reproducible() -> None:
    comparisons = league(5, 6, seed=4)[1]
    assert intervals(comparisons, seed=7) == intervals(comparisons, seed=7)
    assert intervals(comparisons, seed=7) != intervals(comparisons, seed=8)


def test_parts_of_the_bootstrap_give_what_one_part_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = league(5, 6, seed=4)[1]
    whole = intervals(comparisons)
    monkeypatch.setattr(ratings, "MOST_NUMBERS", 1000)
    parts = intervals(comparisons)
    assert [each.team for each in parts] == [each.team for each in whole]
    assert [each.low for each in parts] == pytest.approx([each.low for each in whole], abs=0.1)


def test_every_rating_lies_in_its_interval_and_every_place_in_its_ranks() -> None:
    for seed in range(5):
        found = intervals(league(8, 5, seed)[1], resamples=200)
        assert [each.elo for each in found] == sorted((each.elo for each in found), reverse=True)
        for place, each in enumerate(found, 1):
            assert each.low <= each.elo <= each.high
            assert each.best_rank <= place <= each.worst_rank


@pytest.mark.parametrize(("wins", "is_decided"), [(2, False), (4, False), (6, True), (12, True), (40, True)])
def test_wins_only_decide_an_order_only_if_there_are_many(wins: int, is_decided: bool) -> None:
    for starts in (range(wins), [0] * wins):
        found = intervals([PairedComparison("a", "b", 1, start) for start in starts])
        assert [each.team for each in found] == ["a", "b"]
        expected = (1, 2) if is_decided and starts != [0] * wins else ()
        assert decided_places(found) == expected


def test_a_clear_league_is_decided() -> None:
    random = np.random.default_rng(6)
    comparisons = [
        PairedComparison(f"{a}", f"{b}", float(random.random() < (0.97 if a < b else 0.03)), start)
        for start in range(60)
        for a in range(4)
        for b in range(4)
        if a != b
    ]
    assert decided_places(intervals(comparisons)) == (1, 2, 3, 4)


def test_with_very_many_teams_ranks_come_from_their_own_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = league(8, 200, seed=5)[1]
    paired = intervals(comparisons)
    monkeypatch.setattr(ratings, "MOST_PAIRED_TEAMS", 3)
    alone = intervals(comparisons)
    assert any(each.worst_rank - each.best_rank < 7 for each in alone)
    for one, other in zip(alone, paired, strict=True):
        assert one.best_rank <= other.best_rank <= other.worst_rank <= one.worst_rank


def test_one_start_has_wide_intervals_and_repetitions_on_it_decide_nothing() -> None:
    once, often = (intervals([PairedComparison("a", "b", 1, 5), PairedComparison("b", "c", 1, 5)] * times) for times in (1, 40))
    assert all(each.high - each.low > 800 and (each.best_rank, each.worst_rank) == (1, 3) for each in once + often)


def test_teams_without_results() -> None:
    assert rate([]) == {}
    assert intervals([]) == []
    assert rate([], ["a"]) == {"a": 0}
    assert intervals([], ["a"])[0][1:] == (0, 0, 0, 1, 1)
    idle = next(each for each in intervals(league(4, 10, 1)[1], ["idle"]) if each.team == "idle")
    assert idle.low < -300 < 300 < idle.high


def test_values_without_a_meaning() -> None:
    for score in (-0.5, 2, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            rate([PairedComparison("a", "b", score)])
    with pytest.raises(ValueError, match="with itself"):
        rate([PairedComparison("a", "a", 1)])


def swiss(teams: int, rounds: int) -> list[PairedComparison]:
    random = np.random.default_rng(8)
    strengths, points = random.normal(0, 1.5, teams), np.zeros(teams)
    comparisons = []
    for number in range(rounds):
        order = np.lexsort((random.random(teams), -points))
        for a, b in zip(order[::2], order[1::2], strict=True):
            score = float(random.random() < 1 / (1 + np.exp(strengths[b] - strengths[a])))
            points[a] += score
            points[b] += 1 - score
            comparisons.append(PairedComparison(f"{a}", f"{b}", score, number))
    return comparisons


@pytest.mark.soak
def test_ten_thousand_teams_in_a_swiss_of_14_rounds() -> None:
    comparisons = swiss(10_000, 14)
    found = rate(comparisons)
    assert len(found) == 10_000
    # At the maximum each team has, with its virtual tie, as many points as the ratings expect.
    mean = best_shift(found)
    excess = dict.fromkeys(found, 0.0)
    for a, b, score, _ in comparisons:
        expected = share_of_elo(found[a] - found[b])
        excess[a] += score - expected
        excess[b] += expected - score
    assert max(abs(excess[team] + 0.5 - share_of_elo(found[team] + mean)) for team in found) < 1e-5


def best_shift(found: dict[str, float]) -> float:
    """The shift from the mean zero at which the virtual ties balance each other."""
    low, high = -400.0, 400.0
    for _ in range(60):
        middle = (low + high) / 2
        is_high = sum(share_of_elo(elo + middle) - 0.5 for elo in found.values()) > 0
        low, high = (low, middle) if is_high else (middle, high)
    return low


@pytest.mark.soak
def test_intervals_of_a_thousand_teams() -> None:
    found = intervals(swiss(1_000, 14), resamples=200)
    assert all(math.isfinite(each.low) and each.low < each.elo < each.high for each in found)
