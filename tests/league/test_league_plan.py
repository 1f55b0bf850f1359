"""The plan of a league: the same results, whoever plays what when; forfeits, repetitions, voids and blame."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from leagues import PretendPool, not_started, open_new, record

from referee.league.folder import state_of
from referee.league.plan import LeaguePlan, patience
from referee.tournament.plan import NoStore, play, settle
from referee.tournament.store import Store
from referee.tournament.values import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.league.league import OpenLeague
    from referee.tournament.values import Task

FORMS = (
    "",
    "repeat = 3",
    'repeat = 2\n[[variants]]\nname = "a"\n[[variants]]\nname = "b"\nmax_steps = 30',
    'format = "swiss"\nrounds = 3',
    'format = "swiss"\nrounds = 3\nrepeat = 2',
    'format = "elimination"\nrepeat = 2',
)


def by_chance(task: Task, *, constant: tuple[str, ...] = ("T1", "T2")) -> Record:
    """A match whose result its teams, settings and seed decide; the seed doesn't matter if all teams are constant."""
    parts = [dict(task.names), dict(task.settings), 0 if set(task.names.values()) <= set(constant) else task.seed]
    steps = int(hashlib.sha256(json.dumps(parts).encode()).hexdigest(), 16) % 37 + 1
    return record(task, steps)


def planned(opened: OpenLeague, how: Callable[[Task], Record], slots: int = 3, store: Store | None = None) -> LeaguePlan:
    """The plan of a league that was played."""
    plan = LeaguePlan(opened.schedule)
    play(plan, NoStore() if store is None else store, PretendPool(how, slots), gives_up=patience(opened.schedule))
    return plan


def broken(name: str, how: Callable[[Task], Record] = by_chance) -> Callable[[Task], Record]:
    """Matches in which a team never gets ready."""

    def play_one(task: Task) -> Record:
        report = how(task)
        assert report.replay
        seats = [seat for seat, team in task.names.items() if team == name]
        return report._replace(started=False, faults={seats[0]: "It exited."}) if seats else report

    return play_one


def unstartable(name: str) -> Callable[[Task], Record]:
    """Matches in which the program of a team can't be started."""
    return lambda task: not_started(task, name, "It is missing.") if name in task.names.values() else by_chance(task)


@pytest.mark.parametrize("how", [broken("T3"), unstartable("T3")], ids=["broken", "unstartable"])
def test_a_team_that_cannot_start_loses_all_its_duels(tmp_path: Path, how: Callable[[Task], Record]) -> None:
    plan = planned(open_new(tmp_path, teams=5), how)
    assert [*plan.forfeits] == ["T3"]
    assert all(
        result.points == {team: float(team != "T3") for team in result.duel.teams}
        for result in plan.results.values()
        if "T3" in result.duel.teams
    )
    assert all(result.totals for result in plan.results.values() if "T3" not in result.duel.teams)


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize(
    ("form", "how", "first", "last"),
    [
        ("", by_chance, 30, 30),
        ("", broken("T4"), 30, 22),
        ("", unstartable("T4"), 30, 20),
        ("[starts]\ncount = 5", unstartable("T4"), 150, 100),
        ('format = "swiss"\nrounds = 3', by_chance, 18, 18),
        ('format = "swiss"\nrounds = 3', unstartable("T4"), 18, 12),
        ('format = "elimination"\nrepeat = 2', lambda task: by_chance(task, constant=()), 20, 20),
    ],
)
def test_matches_of_later_rounds_count_and_those_of_teams_that_forfeit_dont(
    tmp_path: Path, form: str, how: Callable[[Task], Record], first: int, last: int, slots: int
) -> None:
    opened = open_new(tmp_path, teams=6, extra=form, settings="width = 30\nheight = 30\n")
    plan, counts = LeaguePlan(opened.schedule), []
    play(plan, NoStore(), PretendPool(how, slots), lambda *_: counts.append(state_of(plan, 0, 0).counts))
    sizes = [count.done + count.planned for count in counts]
    assert (sizes[0], sizes[-1], counts[-1].planned, plan.forfeited) == (first, last, 0, 0)
    # It is said once: from the forfeit on.
    assert sizes == sorted(sizes, reverse=True)
    assert len({*sizes}) <= 2 + (plan.forfeits != {})


@pytest.mark.parametrize("form", FORMS)
def test_a_league_is_the_same_with_any_number_of_workers_and_in_a_reader(tmp_path: Path, form: str) -> None:
    opened = open_new(tmp_path, teams=6, extra=form)
    lots, lost = random.Random(5), Counter[str]()

    def flaky(task: Task) -> Record:
        if lots.random() < 0.2 and lost[task.key] < 2:
            lost[task.key] += 1
            return Record(task.key, host="here", void="Its worker was lost.")
        return broken("T4")(task)

    one = planned(opened, broken("T4"), 1)
    store = Store.in_memory()
    eight, reader = planned(opened, flaky, 8, store), LeaguePlan(opened.schedule)
    settle(reader, store)
    for plan in (eight, reader):
        assert (plan.results, plan.notes, plan.forfeits, [*plan.sentences]) == (one.results, one.notes, one.forfeits, [*one.sentences])


def test_a_pair_whose_match_is_given_up_is_stopped(tmp_path: Path) -> None:
    opened = open_new(tmp_path, settings="width = 30\nheight = 30\n", extra="[starts]\ncount = 3\n")

    def fails(task: Task) -> Record:
        return Record(task.key, host="here", void="The sandbox failed.") if {*task.names.values()} == {"T0", "T1"} else by_chance(task)

    plan = planned(opened, fails)
    note = "3 matches of T0 and T1 were void, so no more of them are played: The sandbox failed."
    assert [*plan.sentences] == [note]
    assert {plan.notes[number] for number, result in plan.results.items() if set(result.duel.teams) == {"T0", "T1"}} == {note}
    rows = {row.team: row for row in opened.rows(state_of(plan, 0, 0))}
    assert (rows["T0"].played, rows["T2"].played) == (6, 9)


@pytest.mark.parametrize("form", ["round-robin", "elimination"])
def test_matches_in_which_the_machine_failed_have_no_result(tmp_path: Path, form: str) -> None:
    opened = open_new(tmp_path, extra=f'format = "{form}"')

    def fails(task: Task) -> Record:
        return (
            Record(task.key, host="here", void="No memory is left.", cause="memory", hit=("T1",))
            if "T1" in task.names.values()
            else by_chance(task)
        )

    store = Store.in_memory()
    ill = planned(opened, fails, 1, store)
    assert set(ill.unplayed.values()) == {"No memory is left."}
    assert not [result for result in ill.results.values() if "T1" in result.duel.teams]
    # Another run plays them.
    store.forget(ill.unplayed)
    assert planned(opened, by_chance, 1, store).results == planned(opened, by_chance, 1).results


def kills(task: Task, *, culprit: str) -> Record:
    """A match in which a team kills the supervisor, which is its fault as soon as it is blamed."""
    if culprit not in task.names.values():
        return by_chance(task)
    if culprit in task.blamed:
        [seat] = [seat for seat, team in task.names.items() if team == culprit]
        return record(task, 1)._replace(faults={seat: "It killed the supervisor."}, fault_kinds={seat: "crashed"})
    return Record(task.key, host="here", void="The supervisor was killed.", cause="supervisor", hit=tuple(task.names.values()))


@pytest.mark.parametrize("slots", [1, 8])
def test_who_is_to_blame_for_voids_plays_those_duels_again(tmp_path: Path, slots: int) -> None:
    opened = open_new(tmp_path, teams=5)
    plan = planned(opened, lambda task: kills(task, culprit="T1"), slots)
    assert [text for text in plan.sentences if "T1 is to blame for void matches with" in text]
    assert len(plan.results) == 10
    assert not [number for number, result in plan.results.items() if not result.points], plan.notes
    assert not plan.notes
    assert not plan.forfeits
    assert (plan.total, plan.done, plan.skipped) == (20, 20, 0)


def voids_of(store: Store) -> list[tuple[str, ...]]:
    """The teams of each void attempt, first of those that were tried again."""
    names = {ended.task.key: tuple(sorted(ended.task.names.values())) for ended in store.done()}
    attempts = [record.key for record in store.others() if record.void]
    return [names[key] for key in attempts] + [names[ended.task.key] for ended in store.done() if ended.record.void]


def test_no_more_is_void_than_shows_who_is_to_blame(tmp_path: Path) -> None:
    opened, store = open_new(tmp_path, teams=3), Store.in_memory()
    plan = planned(opened, lambda task: kills(task, culprit="T0"), 1, store)
    # Three of the first pair, and one of the other pair, which shows who it is.
    assert sorted(Counter(voids_of(store)).values()) == [1, 3]
    assert (plan.total, plan.done, plan.skipped) == (6, 6, 0)
    assert all(result.points for result in plan.results.values())
    reader = LeaguePlan(opened.schedule)
    settle(reader, store)
    assert (reader.results, reader.notes, [*reader.sentences]) == (plan.results, plan.notes, [*plan.sentences])


def test_duels_that_were_not_played_meanwhile_are_played_once_it_is_known(tmp_path: Path) -> None:
    opened = open_new(tmp_path, teams=3, settings="width = 30\nheight = 30\n", extra="[starts]\ncount = 3\n")
    seeds: list[int] = []

    def later(task: Task) -> Record:
        if set(task.names.values()) == {"T0", "T2"}:
            seeds.extend({task.seed}.difference(seeds))
            if len(seeds) < 3:
                return by_chance(task)
        return kills(task, culprit="T0")

    plan = planned(opened, later, 1)
    assert ("T0 is to blame" in plan.sentences[-1], plan.notes) == (True, {})
    assert all(result.points for result in plan.results.values())
    assert (len(plan.results), plan.total, plan.done, plan.skipped) == (9, 18, 18, 0)


@pytest.mark.parametrize("culprit", ["T0", "T1", "T2", "T3", "T4", "T5"])
@pytest.mark.parametrize("form", ['format = "elimination"\n[starts]\ncount = 2', 'format = "swiss"\nrounds = 3'])
def test_blame_changes_no_round_from_which_pairs_have_followed(tmp_path: Path, form: str, culprit: str) -> None:
    opened, store = open_new(tmp_path, teams=6, extra=form, settings="width = 30\nheight = 30\n"), Store.in_memory()

    def loses(task: Task) -> Record:
        if culprit in task.blamed:
            return record(task, 39 if task.names["hunter"] == culprit else 1)
        return kills(task, culprit=culprit)

    plan, reader = planned(opened, loses, 1, store), LeaguePlan(opened.schedule)
    settle(reader, store)
    assert reader.results == plan.results
    assert opened.schedule.duels(plan.sorted_results) == [result.duel for result in plan.sorted_results]
    assert plan.total == plan.done + plan.skipped


def test_between_two_teams_the_third_void_is_the_last_one(tmp_path: Path) -> None:
    opened, store = open_new(tmp_path, teams=2), Store.in_memory()
    plan = planned(opened, lambda task: kills(task, culprit="T0"), 1, store)
    assert voids_of(store) == [("T0", "T1")] * 3
    assert [note.partition(":")[0] for note in plan.notes.values()] == ["Nobody can see who is to blame"]


def test_who_kills_again_when_it_is_blamed_forfeits_after_three_more(tmp_path: Path) -> None:
    opened, store = open_new(tmp_path, teams=3), Store.in_memory()

    def fails(task: Task) -> Record:
        names = tuple(task.names.values())
        return (
            Record(task.key, host="here", void="The supervisor was killed.", cause="supervisor", hit=names)
            if "T0" in names
            else by_chance(task)
        )

    plan = planned(opened, fails, 1, store)
    assert ([*plan.forfeits], len(voids_of(store))) == (["T0"], 7)


def test_a_match_that_the_machine_failed_to_play_is_tried_once(tmp_path: Path) -> None:
    opened, store = open_new(tmp_path, teams=2), Store.in_memory()
    ill = planned(opened, lambda task: Record(task.key, host="here", void="No memory is left.", cause="memory"), 1, store)
    assert len(ill.unplayed) == len(voids_of(store)) == 2


def test_who_leaves_nothing_to_be_judged_forfeits(tmp_path: Path) -> None:
    opened = open_new(tmp_path, teams=5)

    def fails(task: Task) -> Record:
        kind = Record(task.key, host="here", void="The supervisor was killed.", cause="supervisor", hit=tuple(task.names.values()))
        return kind if "T1" in task.names.values() else by_chance(task)

    plan = planned(opened, fails)
    assert [*plan.forfeits] == ["T1"]
    assert all(result.points["T1"] == 0.0 for result in plan.results.values() if "T1" in result.duel.teams)
