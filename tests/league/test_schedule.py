"""Who meets whom in each format."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leagues import all_tied, beats, by_strength, duel_count, played, result, ties

from referee.errors import UsageError
from referee.league import schedule
from referee.league.schedule import Fixture, FixturePlan, byes, check_tables, duels, known_fixtures, survived
from referee.tournament.duels import DuelResult, PlannedDuel, stopped


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"{number:05}" for number in range(count))


def _pairs(fixtures: tuple[Fixture, ...]) -> list[frozenset[str]]:
    return [frozenset(fixture.teams) for fixture in fixtures if len(fixture.teams) > 1]


def _plans() -> st.SearchStrategy[FixturePlan]:
    def build(kind: str, count: int, share: float, secret: bytes, duels_each: int) -> FixturePlan:
        rounds = 1 + int(share * (count - 2 + count % 2))
        size = 2 + int(share * (count - 2))
        plan = FixturePlan(kind, _names(count), secret=secret)
        if kind == "tables":
            return plan._replace(table_size=size)
        return plan._replace(duels_each=duels_each, rounds=rounds if kind == "swiss" else None)

    return st.builds(
        build, st.sampled_from(schedule.FORMATS), st.integers(2, 14), st.floats(0, 1), st.binary(max_size=4), st.integers(1, 2)
    )


def test_a_round_robin_of_four() -> None:
    assert [(fixture.round, "".join(fixture.teams)) for fixture in known_fixtures(FixturePlan("round-robin", tuple("ABCD")))] == [
        (0, "AD"), (0, "BC"), (1, "AC"), (1, "BD"), (2, "AB"), (2, "CD"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "first"),
    [
        (2, ["AB"]),
        (3, ["A", "BC"]),
        (5, ["A", "DE", "B", "C"]),
        (6, ["A", "DE", "B", "CF"]),
        (8, ["AH", "DE", "BG", "CF"]),
    ],
)
def test_an_elimination_is_seeded_by_order(count: int, first: list[str]) -> None:
    fixtures, results = played(FixturePlan("elimination", tuple("ABCDEFGH"[:count])))
    assert ["".join(fixture.teams) for fixture in fixtures if fixture.round == 0] == first
    assert len(results) == count - 1
    final = fixtures[-1]
    # The two best seeds meet last where the better one always wins.
    assert final.teams == ("A", "B")


@pytest.mark.parametrize(
    ("results", "winner"),
    [
        ([ties(0, "A", "B")], "A"),
        ([result(0, {"A": 0.5, "B": 0.5}, {"A": 200, "B": 100})], "B"),
        ([result(0, {"A": 0.5, "B": 0.5}, {"A": 200, "B": 100}, more=True)], "A"),
        ([result(0, {"A": 0.5, "B": 0.5}, {"B": 100})], "B"),
        ([DuelResult(PlannedDuel(0, 0, ("A", "B")), {"A": 0, "B": 1}, {}, forfeits=("A",))], "B"),
        ([DuelResult(PlannedDuel(0, 0, ("A", "B")), {"A": 0, "B": 0}, {}, forfeits=("A", "B"))], "A"),
        ([stopped(PlannedDuel(0, 0, ("A", "B")))], "A"),
        ([beats(0, "A", "B"), beats(1, "B", "A", (50, 200))], "B"),
    ],
)
def test_a_tie_of_an_elimination_is_decided_by_totals_then_by_seed(results: list[DuelResult], winner: str) -> None:
    assert survived(FixturePlan("elimination", ("A", "B"), duels_each=len(results)), results) == {"A": winner == "A", "B": winner == "B"}


def test_an_elimination_in_which_everything_ties_ends() -> None:
    plan = FixturePlan("elimination", _names(11), duels_each=2)
    fixtures, results = played(plan, all_tied)
    assert len(results) == duel_count(plan)
    assert survived(plan, results)[_names(1)[0]] == fixtures[-1].round + 1 == 4


def test_swiss_pairs_winners_with_winners() -> None:
    plan = FixturePlan("swiss", _names(8), rounds=3, secret=b"7")
    fixtures, results = played(plan)
    points = Counter[str]()
    for fixture in fixtures:
        a, b = fixture.teams
        assert abs(points[a] - points[b]) <= (0 if fixture.round < 2 else 1)
        points[min(a, b)] += 1
    assert points[_names(1)[0]] == 3
    assert len(results) == 12


def test_a_swiss_bye_goes_to_the_lowest_team_without_one() -> None:
    plan = FixturePlan("swiss", _names(5), rounds=5, secret=b"7")
    fixtures, results = played(plan)
    assert byes(fixtures) == dict.fromkeys(_names(5), 1)
    second = next(fixture for fixture in fixtures if fixture.round == 1 and len(fixture.teams) == 1).teams[0]
    losers = {max(each.duel.teams) for each in results if each.duel.round == 0}
    assert second in losers


def test_a_duel_that_is_not_played_holds_no_round_up() -> None:
    plan = FixturePlan("swiss", _names(4), rounds=3)
    first = list(duels(known_fixtures(plan)))
    after = known_fixtures(plan, [stopped(first[0]), by_strength(first[1])])
    assert len(after) == 4


def test_duels_are_numbered_in_schedule_order_and_a_bye_has_none() -> None:
    fixtures = (Fixture(0, ("A", "B")), Fixture(0, ("C",)), Fixture(1, ("A", "C")))
    assert list(duels(fixtures, starts=2, repeat=2))[3:5] == [
        PlannedDuel(3, 0, ("A", "B"), 1, 0, 1),
        PlannedDuel(4, 1, ("A", "C"), 0, 0, 0),
    ]
    assert [duel.variant for duel in duels(fixtures, variants=2)] == [0, 1, 0, 1]


@given(_plans())
@settings(deadline=None)
def test_every_league_is_complete_only_with_its_last_duel(plan: FixturePlan) -> None:
    judge = all_tied if plan.duels_each == 2 else by_strength
    if plan.format == "tables":
        fixtures = known_fixtures(plan)
        assert len(fixtures) == duel_count(plan)
    else:
        fixtures, results = played(plan, judge)
        assert len(results) == duel_count(plan)
    busy = Counter((fixture.round, team) for fixture in fixtures for team in fixture.teams)
    assert set(busy.values()) == {1}
    count = len(plan.teams)
    if plan.format == "round-robin":
        assert Counter(_pairs(fixtures)) == Counter(map(frozenset, combinations(plan.teams, 2)))
        assert fixtures[-1].round == count - 2 + count % 2
    elif plan.format == "swiss":
        assert plan.rounds is not None
        assert Counter(team for fixture in fixtures for team in fixture.teams) == dict.fromkeys(plan.teams, plan.rounds)
        assert max(byes(fixtures).values(), default=0) <= 1
        if plan.rounds <= count // 2:
            assert max(Counter(_pairs(fixtures)).values()) == 1
    elif plan.format == "elimination":
        assert max(byes(fixtures).values(), default=0) <= 1


@given(_plans(), st.randoms(use_true_random=False), st.floats(0, 1))
@settings(deadline=None)
def test_a_restart_at_any_moment_finds_the_same_schedule(plan: FixturePlan, source: random.Random, share: float) -> None:
    if plan.format == "tables":
        return
    whole, results = played(plan)
    some = results[: int(share * len(results))]
    # Those of the round that is being played arrive in any order, and some of them not at all.
    known = known_fixtures(plan, some)
    assert known == whole[: len(known)]
    here = [each for each in results if each.duel.round == known[-1].round]
    done = [each for each in results if each.duel.round < known[-1].round] if plan.format in schedule.ROUND_BY_ROUND else []
    shuffled = done + source.sample(here, source.randrange(len(here)))
    source.shuffle(shuffled)
    assert known_fixtures(plan, shuffled) == known


def test_results_of_another_schedule_are_refused() -> None:
    plan = FixturePlan("swiss", _names(6), rounds=2, secret=b"7")
    pair = next(pair for pair in combinations(plan.teams, 2) if frozenset(pair) not in _pairs(known_fixtures(plan)))
    with pytest.raises(UsageError, match=r"round 1\) belongs to another schedule"):
        known_fixtures(plan, [beats(0, *pair)])


@pytest.mark.parametrize(
    ("teams", "size", "rounds", "sentence"),
    [
        (4, 1, 0, "table_size is 1, but must be from 2 to 4, the number of teams."),
        (4, 5, 0, "table_size is 5, but must be from 2 to 4, the number of teams."),
        (6, 4, 3, "rounds is 3, but 6 teams at tables of 4 play equally often only if it is a multiple of 2; give rounds = 4."),
    ],
)
def test_tables_that_cannot_be_played(teams: int, size: int, rounds: int, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_tables(teams, size, rounds)
    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    "plan",
    [FixturePlan("swiss", _names(5), rounds=5), FixturePlan("swiss", _names(2), rounds=1), FixturePlan("tables", _names(3), table_size=3)],
)
def test_the_largest_plans_are_carried_out(plan: FixturePlan) -> None:
    fixtures = known_fixtures(plan) if plan.format == "tables" else played(plan)[0]
    assert {team for fixture in fixtures for team in fixture.teams} == set(plan.teams)


def test_a_swiss_round_of_a_thousand_teams_has_no_rematch() -> None:
    plan = FixturePlan("swiss", _names(1001), rounds=4, secret=b"7")
    fixtures, _ = played(plan)
    pairs = _pairs(fixtures)
    assert len(set(pairs)) == len(pairs) == 2000
    assert len(byes(fixtures)) == 4
