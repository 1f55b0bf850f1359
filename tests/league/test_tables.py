"""Tables for games of many."""

from __future__ import annotations

from collections import Counter
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leagues import duel_count

from referee.league.schedule import FixturePlan, known_fixtures, tables_each


def _plan(teams: int, size: int, each: int) -> FixturePlan:
    return FixturePlan("tables", tuple(map(str, range(teams))), table_size=size, rounds=each, secret=b"7")


@pytest.mark.parametrize(("teams", "size", "each"), [(20, 4, 5), (6, 3, 2), (9, 3, 4), (12, 12, 3), (200, 8, 3)])
def test_everybody_plays_in_each_round_where_the_tables_come_out_even(teams: int, size: int, each: int) -> None:
    plan = _plan(teams, size, each)
    busy = Counter((fixture.round, team) for fixture in known_fixtures(plan) for team in fixture.teams)
    assert busy == dict.fromkeys(((number, team) for number in range(each) for team in plan.teams), 1)


@pytest.mark.soak
@given(st.integers(2, 40), st.integers(2, 8), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_everybody_plays_equally_often(teams: int, size: int, times: int) -> None:
    size = min(size, teams)
    each = times * size // gcd(teams, size)
    plan = _plan(teams, size, each)
    fixtures = known_fixtures(plan)
    assert all(len(set(fixture.teams)) == size for fixture in fixtures)
    played = dict.fromkeys(plan.teams, 0)
    for number in range(fixtures[-1].round + 1):
        seated = [team for fixture in fixtures if fixture.round == number for team in fixture.teams]
        assert len(set(seated)) == len(seated) > 0
        played |= {team: played[team] + 1 for team in seated}
        assert max(played.values()) - min(played.values()) <= 1
    assert set(played.values()) == {each}


def test_the_number_of_tables_lets_everybody_meet() -> None:
    assert [tables_each(*each) for each in ((20, 4), (5, 5), (8, 2), (20, 3), (6, 4))] == [7, 1, 7, 12, 2]
    plan = FixturePlan("tables", tuple(map(str, range(20))), table_size=4)
    assert len(known_fixtures(plan)) == duel_count(plan) == 35
    assert len(known_fixtures(plan._replace(rounds=3))) == duel_count(plan._replace(rounds=3)) == 15


def test_the_teams_of_each_table_are_drawn_anew_in_each_round() -> None:
    plan = FixturePlan("tables", tuple("ABCDEF"), table_size=3, rounds=2, secret=b"1")
    fixtures = known_fixtures(plan)
    assert fixtures == known_fixtures(plan)
    assert fixtures != known_fixtures(plan._replace(secret=b"2"))
    first, second = ([fixture.teams for fixture in fixtures if fixture.round == number] for number in (0, 1))
    assert first != second
    assert Counter(team for fixture in fixtures for team in fixture.teams) == dict.fromkeys("ABCDEF", 2)
