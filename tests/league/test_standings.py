"""Standings from results."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from leagues import beats, played, result, ties

from referee.errors import UsageError
from referee.league import schedule
from referee.league.schedule import FixturePlan
from referee.league.standings import StandingsRow, table
from referee.tournament.duels import DuelResult, PlannedDuel, comparisons, stopped


def forfeited(number: int, teams: str, out: str, points: dict[str, float] | None = None) -> DuelResult:
    won = points or {team: float(team not in out) for team in teams}
    return DuelResult(PlannedDuel(number, 0, tuple(teams)), won, dict.fromkeys(teams, 0.0), tuple(out))


def _places(rows: tuple[StandingsRow, ...]) -> str:
    """Teams by place: those between commas share one."""
    found: dict[int, str] = {}
    for row in rows:
        found[row.place] = found.get(row.place, "") + row.team
    return ",".join(found.values())


def test_a_class_of_three() -> None:
    results = [beats(0, "A", "B", (100, 150)), beats(1, "C", "A", (80, 120)), ties(2, "B", "C", 90)]
    assert table(results, "ABC") == (
        StandingsRow(1, False, "C", 2, 1, 1, 0, 0, 0, 1.5, 170.0, 0),
        StandingsRow(2, False, "A", 2, 1, 0, 1, 0, 0, 1.0, 220.0, 0),
        StandingsRow(3, False, "B", 2, 0, 1, 1, 0, 0, 0.5, 240.0, 0),
    )


@pytest.mark.parametrize(
    ("results", "places"),
    [
        ([], "ABC"),
        ([beats(0, "A", "B"), beats(1, "A", "C"), beats(2, "B", "C")], "A,B,C"),
        # Level on points: totals decide.
        ([beats(0, "A", "B", (9, 5)), beats(1, "B", "C", (5, 7)), beats(2, "C", "A", (7, 9))], "B,C,A"),
        # A circle, level on everything.
        ([beats(0, "A", "B", (5, 5)), beats(1, "B", "C", (5, 5)), beats(2, "C", "A", (5, 5))], "ABC"),
        # A and C are level, and have not met.
        ([beats(0, "A", "B", (5, 5)), beats(1, "C", "B", (5, 5))], "AC,B"),
        # B ties with A, wins against C; its total is missing once: worse than any.
        ([result(0, {"A": 0.5, "B": 0.5}, {"A": 900}), beats(1, "B", "C", (1, 5)), beats(2, "A", "C", (900, 5))], "A,B,C"),
    ],
)  # fmt: skip
def test_teams_are_placed_by_their_results(results: list[DuelResult], places: str) -> None:
    assert _places(table(results, "ABC")) == places


def test_head_to_head_decides_between_teams_that_are_level() -> None:
    pairs = [("C", "A"), ("A", "B"), ("D", "A"), ("B", "C"), ("D", "C")]
    results = [*(beats(number, *pair, (5, 5)) for number, pair in enumerate(pairs)), ties(5, "B", "D", 5)]
    rows = table(results, "ABCD")
    assert _places(rows) == "D,B,C,A"
    assert [row.head_to_head for row in rows] == [None, None, 1, 0]


def test_head_to_head_is_asked_again_among_those_it_leaves_level() -> None:
    # All have two points, E with more steps. Among the others A and B have two, C and D one; A beat B, and C beat D.
    pairs = ["AB", "AC", "DA", "BC", "BD", "CD"]
    results = [beats(number, pair[0], pair[1], (5, 5)) for number, pair in enumerate(pairs)]
    results += [beats(6, "C", "E", (5, 9)), beats(7, "D", "E", (5, 9)), beats(8, "E", "A", (9, 5)), beats(9, "E", "B", (9, 5))]
    rows = table(results, "EDCBA")
    assert {(row.points, row.total) for row in rows} == {(2, 20), (2, 36)}
    assert _places(rows) == "A,B,C,D,E"
    assert [row.head_to_head for row in rows] == [2, 2, 1, 1, None]


def test_more_is_better_at_the_tables_of_rectangle() -> None:
    results = [
        result(0, {"A": 0.5, "B": 1.0, "C": 0.0}, {"A": 40, "B": 50, "C": 10}, more=True),
        result(1, {"C": 0.5, "A": 1.0, "B": 0.0}, {"A": 60, "B": 20, "C": 30}, more=True),
        result(2, {"B": 0.5, "C": 0.5, "A": 0.5}, {"A": 30, "B": 30, "C": 30}, more=True),
    ]
    rows = table(results, "ABC")
    assert [(row.team, row.points, row.total, row.won, row.tied, row.lost) for row in rows] == [
        ("A", 2.0, 130, 1, 1, 1), ("B", 1.5, 100, 1, 1, 1), ("C", 1.0, 70, 0, 1, 2),
    ]  # fmt: skip
    level = [result(0, {"A": 0.5, "B": 0.5}, {"A": 40, "B": 50}, more=True)]
    assert _places(table(level, "AB")) == "B,A"
    assert _places(table(level, "AB", more_is_better=False)) == "A,B"


def test_a_forfeit_gives_the_other_the_point_and_no_steps() -> None:
    results = [
        forfeited(0, "AD", "D"),
        beats(1, "B", "D", (400, 500)),
        beats(2, "A", "C", (300, 300)),
        beats(3, "B", "C", (200, 300)),
        ties(4, "A", "B", 300),
    ]
    rows = table(results, "ABCD")
    # A and B are level; 300 a duel is as good as 900 in three, so that head to head would decide, but they tied.
    assert _places(rows) == "AB,C,D"
    assert [(row.played, row.won, row.lost, row.forfeits, row.missing) for row in rows] == [
        (3, 2, 0, 0, 0), (3, 2, 0, 0, 0), (2, 0, 2, 0, 0), (2, 0, 2, 1, 1),
    ]  # fmt: skip


def test_a_duel_that_both_forfeit_is_lost_by_both() -> None:
    rows = table([forfeited(0, "AB", "AB"), beats(1, "C", "D")], "ABCD")
    assert [(row.team, row.points, row.lost, row.tied) for row in rows] == [("C", 1, 0, 0), ("D", 0, 1, 0), ("A", 0, 1, 0), ("B", 0, 1, 0)]


def test_a_table_that_is_played_without_a_team_counts_for_the_others() -> None:
    points = {"A": 1.0, "B": 0.5, "C": 0.0}
    out = DuelResult(PlannedDuel(0, 0, ("A", "B", "C")), points, {"A": 9.0, "B": 0.0, "C": 0.0}, ("C",), more_is_better=True)
    assert [(row.team, row.total, row.forfeits, row.missing) for row in table([out], "ABC")] == [
        ("A", 9, 0, 0),
        ("B", 0, 0, 0),
        ("C", 0, 1, 0),
    ]
    unplayed = forfeited(0, "ABC", "C", {"A": 0.75, "B": 0.75, "C": 0.0})
    assert [(row.team, row.tied, row.missing) for row in table([unplayed], "ABC")] == [("A", 1, 0), ("B", 1, 0), ("C", 0, 1)]


def test_a_stopped_duel_counts_for_nobody() -> None:
    rows = table([stopped(PlannedDuel(0, 0, ("A", "B"))), beats(1, "B", "C")], "ABC")
    assert [(row.team, row.played) for row in rows] == [("B", 1), ("C", 1), ("A", 0)]


def test_a_bye_is_a_win_without_steps() -> None:
    rows = table([beats(0, "A", "B"), beats(1, "A", "B")], "ABC", byes={"C": 1}, duels_each=2)
    assert [(row.team, row.points, row.played, row.byes) for row in rows] == [("A", 2, 2, 0), ("C", 2, 0, 1), ("B", 0, 2, 0)]


def test_an_elimination_is_ordered_by_the_rounds_that_a_team_survived() -> None:
    plan = FixturePlan("elimination", tuple("ABCDEF"))
    fixtures, results = played(plan)
    rows = table(results, plan.teams, byes=schedule.byes(fixtures), stages=schedule.survived(plan, results))
    assert [(row.team, row.stage, row.place) for row in rows] == [
        ("A", 3, 1), ("B", 2, 2), ("C", 1, 3), ("D", 1, 3), ("E", 0, 5), ("F", 0, 5),
    ]  # fmt: skip


def test_a_team_of_another_league_is_refused() -> None:
    with pytest.raises(UsageError, match="Duel 4 has the team 'Eve', which is not in the league"):
        table([beats(4, "A", "Eve")], "AB")


_RESULTS = st.lists(
    st.tuples(st.permutations("ABCDE").map(lambda teams: tuple(teams[:2])), st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 3)),
    max_size=25,
)


@given(_RESULTS, st.randoms(use_true_random=False))
def test_the_points_of_every_table_add_up(drawn: list[tuple[tuple[str, str], float, int]], source: random.Random) -> None:
    results = [result(number, {a: score, b: 1 - score}, {a: steps / 10, b: 0.1}) for number, ((a, b), score, steps) in enumerate(drawn)]
    rows = table(results, "ABCDE")
    assert sum(row.points for row in rows) == len(results)
    assert sum(row.played for row in rows) == 2 * len(results)
    assert all(row.played == row.won + row.tied + row.lost for row in rows)
    assert sorted(row.team for row in rows) == list("ABCDE")
    assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)
    for row in rows:
        assert row.place == 1 + sum(other.place < row.place for other in rows)
        assert row.shared == (sum(other.place == row.place for other in rows) > 1)
    source.shuffle(results)
    assert table(results, "ABCDE") == rows


def test_two_teams_that_cannot_start_are_level() -> None:
    duel = PlannedDuel(0, 0, ("A", "B"))
    (both,) = comparisons(DuelResult(duel, {"A": 0.0, "B": 0.0}, {}, forfeits=("A", "B")))
    (one,) = comparisons(DuelResult(duel, {"A": 0.0, "B": 1.0}, {}, forfeits=("A",)))
    assert (both.score, one.score) == (0.5, 0.0)
