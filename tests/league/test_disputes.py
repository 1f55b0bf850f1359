"""Who is to blame for void matches in which nobody can see that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from leagues import Notes, PretendPool, open_new, play, record

from referee.errors import BUSY, DISPUTED, SUPERVISOR
from referee.league.league import open_league
from referee.league.playing import LeaguePlay
from referee.tournament.disputes import Dispute, blamed
from referee.tournament.plan import MachineFailed
from referee.tournament.values import Record

if TYPE_CHECKING:
    from pathlib import Path

    from referee.tournament.values import Task


def disputes(text: str) -> list[Dispute]:
    """Void matches, as their teams: "ab a": one of a and b, one of a and a program of the organizers. ab:a: only a is suspected."""
    pairs = [match.partition(":") for match in text.split()]
    return [Dispute(frozenset(teams), frozenset(suspects or teams)) for teams, _, suspects in pairs]


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        ("", ""),
        ("ab", ""),
        ("ab ab ab ab ab", ""),
        ("ab ba ac", "a"),
        # Against a program of the organizers the first repeat decides, and it is an opponent as any other.
        ("a", ""),
        ("a a", "a"),
        ("a ab", "a"),
        # Who is to blame already explains what happens to others.
        ("ab ac bc", "a"),
        ("ab ac bc bd", "ab"),
        ("ab ac db dc", "ad"),
        ("ab ac ad be", "a"),
        # Two come to it by the same match.
        ("ax by ab", ""),
        ("ax by ab ac", "a"),
        # Only one of the two is suspected.
        ("ab:a ab:a", ""),
        ("ab:a ac:a", "a"),
        ("ab:b ac:c", ""),
        # More than two teams.
        ("abc abd", ""),
        ("abc ade", "a"),
    ],
)
def test_a_team_is_to_blame_after_two_opponents(matches: str, expected: str) -> None:
    assert blamed(disputes(matches)) == set(expected)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")).filter(lambda pair: pair[0] != pair[1]), max_size=30))
def test_nobody_is_to_blame_who_was_void_against_one_opponent_alone(pairs: list[tuple[str, str]]) -> None:
    found = blamed(Dispute(frozenset(pair), frozenset(pair)) for pair in pairs)
    for team in found:
        assert len({other for pair in pairs if team in pair for other in pair if other != team}) > 1
    for number in range(len(pairs)):
        # Later matches take nothing back.
        assert blamed(Dispute(frozenset(pair), frozenset(pair)) for pair in pairs[:number]) <= found


@given(st.lists(st.sampled_from("bcdef"), max_size=30))
def test_one_culprit_is_all_who_is_found(others: list[str]) -> None:
    assert blamed(Dispute(frozenset({"a", other}), frozenset({"a", other})) for other in others) == (
        {"a"} if len(set(others)) > 1 else set()
    )


def killer(task: Task, reason: str, *, is_judged: bool = True) -> Record:
    """Matches of T0 are void; once it is to blame it loses them, if they can be judged."""
    if "T0" not in task.names.values():
        return play(task)
    if "T0" in task.blamed and is_judged:
        seat = next(seat for seat, team in task.names.items() if team == "T0")
        return record(task, 0, faults={seat: "It killed."}, fault_kinds={seat: "crashed"})
    return Record(task.key, host="here", void="Something happened.", cause=reason)


@pytest.mark.parametrize("reason", DISPUTED)
@pytest.mark.parametrize("teams", [3, 5])
def test_all_void_matches_are_played_again_once_somebody_is_to_blame(reason: str, teams: int, tmp_path: Path) -> None:
    opened, notes = open_new(tmp_path, teams=teams), Notes()
    LeaguePlay(opened, PretendPool(lambda task: killer(task, reason), 1)).run(notes)
    counts = opened.view.state().counts
    assert (counts.planned, counts.stopped, counts.done) == (0, 0, teams * (teams - 1))
    assert sum("T0 is to blame" in text for text in notes.sentences) == 1
    assert opened.view.state().notes == {}
    assert opened.view.state().forfeits == {}


def test_what_is_known_outlasts_the_process(tmp_path: Path) -> None:
    """The first run ends after one pairing, the second one meets another opponent."""
    opened = open_new(tmp_path, teams=3)

    class Stopped(BaseException):
        """The process is gone."""

    left = [3]

    def mortal(task: Task) -> Record:
        left[0] -= "T0" in task.names.values()
        if left[0] < 0:
            raise Stopped
        return killer(task, SUPERVISOR)

    with pytest.raises(Stopped):
        LeaguePlay(opened, PretendPool(mortal, 1)).run(Notes())
    assert len(opened.view.state().notes) == 1
    opened.close()
    opened, notes = open_league(tmp_path / "out"), Notes()
    LeaguePlay(opened, PretendPool(lambda task: killer(task, SUPERVISOR), 1)).run(notes)
    assert opened.view.state().counts.done == 6
    assert any("T0 is to blame for void matches with T1 and T2" in text for text in notes.sentences)


def test_who_is_to_blame_and_leaves_nothing_to_judge_forfeits(tmp_path: Path) -> None:
    opened, notes = open_new(tmp_path, teams=4), Notes()
    LeaguePlay(opened, PretendPool(lambda task: killer(task, SUPERVISOR, is_judged=False), 1)).run(notes)
    assert opened.view.state().forfeits == {"T0": "Something happened."}
    rows = {place.row.team: place.row for place in opened.standings(opened.view.state(), resamples=50)}
    assert rows["T0"].points == 0
    assert min(rows[f"T{number}"].points for number in (1, 2, 3)) >= 1


def test_what_the_machine_lacks_blames_nobody(tmp_path: Path) -> None:
    opened, notes = open_new(tmp_path, teams=3), Notes()
    LeaguePlay(opened, PretendPool(lambda task: killer(task, ""), 1)).run(notes)
    assert opened.view.state().counts.done == 2
    assert opened.view.state().forfeits == {}
    assert not any("to blame" in text for text in notes.sentences)


def test_a_busy_machine_blames_the_one_that_it_could_not_judge(tmp_path: Path) -> None:
    """T1 is suspected by each of its opponents' matches, and T0 by none."""
    opened, notes = open_new(tmp_path, teams=3), Notes()

    def busy(task: Task) -> Record:
        if "T1" not in task.names.values() or "T1" in task.blamed:
            return play(task)
        return Record(task.key, host="here", void="The machine was too busy.", cause=BUSY, hit=("T1",))

    LeaguePlay(opened, PretendPool(busy, 1)).run(notes)
    assert [text for text in notes.sentences if "is to blame" in text and text.startswith("T1")]
    assert opened.view.state().counts.done == 6


def test_a_machine_that_is_too_busy_for_three_bots_in_a_row_stops_the_run(tmp_path: Path) -> None:
    opened = open_new(tmp_path, teams=4)

    def busy(task: Task) -> Record:
        return Record(task.key, host="here", void="The machine was too busy.", cause=BUSY, hit=(task.names["prey"],))

    with pytest.raises(MachineFailed, match="in a row with different bots"):
        LeaguePlay(opened, PretendPool(busy, 1)).run(Notes())
    assert opened.view.state().counts.done == 0
    assert opened.view.state().forfeits == {}
