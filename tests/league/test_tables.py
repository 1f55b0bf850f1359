"""Tables for games of many."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.league import tables
from referee.league.schedule import FixturePlan, duel_count, known_fixtures, tables_each


def _all(teams: int, size: int, each: int) -> list[tuple[int, ...]]:
    return [table for round_ in tables.rounds(teams, size, each) for table in round_]


def _meetings(found: list[tuple[int, ...]]) -> Counter[frozenset[int]]:
    return Counter(frozenset(pair) for table in found for pair in combinations(table, 2))


@pytest.mark.parametrize(
    ("teams", "size", "each"),
    [(7, 3, 3), (13, 4, 4), (13, 3, 6), (21, 5, 5), (9, 3, 4), (16, 4, 5), (25, 5, 6), (8, 2, 7), (4, 4, 1), (6, 2, 5)],
)
def test_any_two_teams_meet_once_where_that_is_possible(teams: int, size: int, each: int) -> None:
    meetings = _meetings(_all(teams, size, each))
    assert len(meetings) == teams * (teams - 1) // 2
    assert set(meetings.values()) == {1}


@pytest.mark.parametrize(
    ("teams", "size", "each", "most"), [(20, 4, 5, 2), (20, 4, 8, 2), (24, 4, 4, 1), (1000, 4, 8, 1), (10_000, 3, 6, 1), (1001, 5, 10, 1)]
)
def test_no_two_teams_meet_too_often(teams: int, size: int, each: int, most: int) -> None:
    assert max(_meetings(_all(teams, size, each)).values()) <= most


@pytest.mark.parametrize(("teams", "size", "each"), [(20, 4, 5), (6, 3, 2), (9, 3, 4), (12, 12, 3), (200, 8, 3)])
def test_everybody_plays_in_each_round_where_the_tables_come_out_even(teams: int, size: int, each: int) -> None:
    rounds = tables.rounds(teams, size, each)
    assert len(rounds) == each
    assert all(sorted(team for table in round_ for team in table) == list(range(teams)) for round_ in rounds)


@pytest.mark.slow
@given(st.integers(2, 40), st.integers(2, 8), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_everybody_plays_equally_often_in_each_seat(teams: int, size: int, times: int) -> None:
    size = min(size, teams)
    each = times * size // gcd(teams, size)
    rounds = tables.rounds(teams, size, each)
    found = [table for round_ in rounds for table in round_]
    assert all(len(set(table)) == size for table in found)
    assert Counter(team for table in found for team in table) == dict.fromkeys(range(teams), each)
    assert all(len({team for table in round_ for team in table}) == len(round_) * size for round_ in rounds)
    seats = Counter((team, seat) for table in found for seat, team in enumerate(table))
    least, rest = divmod(each, size)
    assert {seats[team, seat] for team in range(teams) for seat in range(size)} <= ({least, least + 1} if rest else {least})


def test_the_same_tables_come_again() -> None:
    first = tables.rounds(10, 4, 6)
    tables.rounds.cache_clear()
    assert tables.rounds(10, 4, 6) == first


def test_the_number_of_tables_lets_everybody_meet() -> None:
    assert [tables_each(*each) for each in ((20, 4), (5, 5), (8, 2), (20, 3), (6, 4))] == [7, 1, 7, 12, 2]
    plan = FixturePlan("tables", tuple(map(str, range(20))), table_size=4)
    assert len(known_fixtures(plan)) == duel_count(plan) == 35
    assert len(known_fixtures(plan._replace(rounds=3))) == duel_count(plan._replace(rounds=3)) == 15


def test_who_sits_where_is_drawn() -> None:
    plan = FixturePlan("tables", tuple("ABCDEF"), table_size=3, rounds=2, secret=b"1")
    fixtures = known_fixtures(plan)
    assert fixtures == known_fixtures(plan)
    assert fixtures != known_fixtures(plan._replace(secret=b"2"))
    assert Counter(team for fixture in fixtures for team in fixture.teams) == dict.fromkeys("ABCDEF", 2)
