"""What the intervals of ratings promise in simulated leagues of every shape, also in the middle of one."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.tournament.duels import PairedComparison
from referee.tournament.ratings import Rating, decided_places, intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
#: The score of the first team: nobody wins everything, and A, B, C, E and D have ever fewer points.
SCORES = {"AB": 1.0, "AC": 1.0, "AD": 1.0, "AE": 0.0, "BC": 1.0, "BD": 1.0, "BE": 0.5, "CD": 1.0, "CE": 1.0, "DE": 1.0}


@pytest.fixture(scope="module")
def script() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return importlib.import_module("intervals")


def same_on_every_start(starts: int) -> list[PairedComparison]:
    """Return the results of deterministic bots to which starts don't matter."""
    return [PairedComparison(pair[0], pair[1], score, start) for start in range(starts) for pair, score in SCORES.items()]


def bounds_of_prefixes(comparisons: list[PairedComparison], teams: list[str], least: int) -> Iterator[tuple[dict[str, Rating], ...]]:
    before = None
    for count in range(least, len(comparisons) + 1):
        after = {each.team: each for each in intervals(comparisons[:count], teams)}
        if before is not None:
            yield before, after
        before = after


def check_steadiness(comparisons: list[PairedComparison], teams: list[str], least: int = 1) -> None:
    """One more duel moves no bound by more than half of the interval, and makes no interval narrower than three fifths of what it was."""
    for before, after in bounds_of_prefixes(comparisons, teams, least):
        for team in teams:
            one, other = before[team], after[team]
            width = one.high - one.low
            assert max(abs(other.low - one.low), abs(other.high - one.high)) < 0.5 * width
            assert 0.6 * width < other.high - other.low < 1.4 * width


SHAPES = [("round-robin", 5, False), ("round-robin", 5, True), ("swiss", 8, False), ("elimination", 8, False)]


@pytest.mark.parametrize(("form", "teams", "is_by_start"), SHAPES)
@pytest.mark.parametrize("starts", [1, 3])
def test_one_more_duel_moves_no_bound_far(form: str, teams: int, starts: int, *, is_by_start: bool, script: Any) -> None:
    world = script.Case("", teams).world(seed=1)
    check_steadiness(script.league(world, form, starts, 1, is_by_start=is_by_start), list(world.truth))


@pytest.mark.parametrize("is_named", [True, False])
def test_one_more_duel_moves_no_bound_far_where_starts_agree(*, is_named: bool) -> None:
    comparisons = same_on_every_start(4)
    if not is_named:
        comparisons = [each._replace(start=number) for number, each in enumerate(comparisons)]
    check_steadiness(comparisons, list("ABCDE"))


def test_no_interval_collapses_where_the_starts_nearly_agree() -> None:
    # Nine starts and a part of the tenth: resampling them changes the ratings by a few points.
    for count in (84, 89, 94, 99):
        found = intervals(same_on_every_start(10)[:count])
        assert min(each.high - each.low for each in found) > 150


def test_no_first_place_is_decided_because_the_starts_nearly_agree() -> None:
    comparisons = same_on_every_start(6)
    for count in (39, 45, 49, 59):
        assert 1 not in decided_places(intervals(comparisons[:count]))


@pytest.mark.parametrize("starts", [1, 2, 3])
@pytest.mark.parametrize("name", ["all duels", "half, by starts", "12 teams, Swiss", "each duel 3 times"])
def test_few_starts_are_covered(name: str, starts: int, script: Any) -> None:
    case = next(each for each in script.CASES if each.name == name)
    found = script.measured(case, starts, 40)
    assert found.covered >= 0.93
    assert found.wrong <= 0.05
    # An interval that is much too wide covers, too.
    assert found.width < {1: 1300, 2: 1000, 3: 700}[starts]


@pytest.mark.soak
@pytest.mark.parametrize("starts", [1, 2, 3, 4, 8, 16])
def test_every_kind_of_league_is_covered(starts: int, script: Any) -> None:
    for case in script.CASES:
        found = script.measured(case, starts, 100)
        assert found.covered >= 0.93, case
        assert found.wrong <= 0.05, case


def test_the_script_prints_its_figures(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "CASES", script.CASES[:1])
    figures = script.everything(argparse.Namespace(leagues=1))
    assert [figure.name for figure in figures[:3]] == [
        f"1 starts, all duels: {what}" for what in ("covered", "half the width", "wrong ranks")
    ]
    assert len(figures) == 3 * len(script.STARTS)
