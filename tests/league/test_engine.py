"""The engine of leagues, with workers that pretend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from leagues import EngineLeague, Notes, PretendPool, open_engine, play, record, reopen_engine

from referee.league.engine import UNPLAYED, Engine, LeagueStopped, MachineFailed, Queue
from referee.tournament.values import MatchTask, PlannedDuel
from referee.tournament.worker import Completed, NotStarted, Report, Void

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.tournament.values import Record


def run(opened: EngineLeague, how: Callable[[MatchTask], Report] = play, slots: int = 3) -> tuple[PretendPool, Notes]:
    """Play a league with workers that pretend."""
    pool, notes = PretendPool(how, slots), Notes()
    Engine(opened.store, pool, opened.schedule, notes).run()
    return pool, notes


def test_every_pair_meets_in_both_roles(tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=5)
    pool, notes = run(opened)
    assert len(pool.played) == len(notes.finished_keys) == 20
    assert {tuple(task.seats.values()) for task in pool.played} == {(f"T{a}", f"T{b}") for a in range(5) for b in range(5) if a != b}
    assert opened.store.counts()._asdict() == {"planned": 0, "done": 20, "stopped": 0, "voids": 0}
    assert len(opened.state().results) == 10


def test_a_second_run_plays_nothing(tmp_path: Path) -> None:
    opened = open_engine(tmp_path)
    run(opened)
    again, _ = run(opened)
    assert again.played == []


@pytest.mark.parametrize("extra", ['format = "round-robin"', 'format = "swiss"\nrounds = 3', 'format = "elimination"'])
def test_a_league_that_is_interrupted_anywhere_ends_as_one_that_is_not(tmp_path: Path, extra: str) -> None:
    whole = open_engine(tmp_path / "whole", teams=8, extra=extra)
    expected, _ = run(whole)
    table = whole.standings(whole.state(), resamples=50)

    class Killed(BaseException):
        """The process is gone."""

    broken = open_engine(tmp_path / "broken", teams=8, extra=extra)
    total = 0
    for _ in range(1000):
        left = [3]

        def mortal(task: MatchTask, left: list[int] = left) -> Report:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return play(task)

        try:
            pool, _ = run(broken, mortal)
        except Killed:
            total += 3
            broken.close()
            broken = reopen_engine(tmp_path / "broken" / "out")
            continue
        total += len(pool.played)
        break
    assert total == len(expected.played)
    assert broken.standings(broken.state(), resamples=50) == table


def test_void_matches_are_played_again_and_three_voids_stop_the_pair(tmp_path: Path) -> None:
    opened = open_engine(tmp_path)
    voided: list[str] = []

    def sometimes(task: MatchTask) -> Report:
        if set(task.seats.values()) == {"T0", "T1"}:
            return Void(task.key, "The sandbox failed.", "here")
        if task.key not in voided and len(voided) < 4:
            voided.append(task.key)
            return Void(task.key, "The referee was late.", "here")
        return play(task)

    _, notes = run(opened, sometimes)
    counts = opened.store.counts()
    # Both matches of the pair may have been running when the third void came.
    assert (counts.done, counts.stopped) == (10, 2)
    assert counts.voids in (7, 8)
    assert [text for text in notes.sentences if "T0 and T1" not in text] == []
    assert len(notes.sentences) == 1
    assert "The sandbox failed." in notes.sentences[0]
    # Nobody loses by it.
    row = {place.row.team: place.row for place in opened.standings(opened.state(), resamples=50)}
    assert row["T0"].played == 2
    assert row["T2"].played == 3


def hits(task: MatchTask, *teams: str) -> Void:
    """A match in which the machine failed, and these teams' bots."""
    return Void(task.key, "No memory is left.", "here", reason="memory", teams=teams)


@pytest.mark.parametrize("form", ["round-robin", "elimination"])
def test_matches_in_which_the_machine_failed_wait_for_another_run(tmp_path: Path, form: str) -> None:
    whole, opened = (open_engine(tmp_path / name, extra=f'format = "{form}"') for name in ("whole", "out"))
    run(whole)

    def fails_for_t1(task: MatchTask) -> Report:
        return hits(task, "T1") if "T1" in task.seats.values() else play(task)

    pool, notes = PretendPool(fails_for_t1, 3), Notes()
    engine = Engine(opened.store, pool, opened.schedule, notes)
    engine.run()
    # Each is tried once, all others are played, and nobody loses.
    tried = [task.key for task in pool.played if "T1" in task.seats.values()]
    assert len(tried) == len(set(tried)) == len(engine.unplayed) == len(notes.sentences)
    assert opened.store.fact(UNPLAYED) == engine.unplayed == dict.fromkeys(tried, "No memory is left.")
    assert opened.store.counts().planned == len(tried)
    again, _ = run(opened)
    assert {task.key for task in again.played} >= set(tried)
    assert opened.store.fact(UNPLAYED) == {}
    tables = [one.standings(one.state(), resamples=50) for one in (whole, opened)]
    assert tables[0] == tables[1]


def test_a_machine_that_fails_three_different_bots_in_a_row_ends_the_run(tmp_path: Path) -> None:
    opened = open_engine(tmp_path)
    with pytest.raises(MachineFailed, match="No memory is left") as raised:
        run(opened, lambda task: hits(task, *task.seats.values()), slots=1)
    assert raised.value.exit_code == 4
    assert len(opened.store.fact(UNPLAYED)) >= 3


def test_failures_between_which_a_match_was_played_end_no_run(tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=5)
    count = iter(range(1000))
    run(opened, lambda task: hits(task, *task.seats.values()) if next(count) % 3 else play(task), slots=1)
    assert opened.store.counts().done >= 6


def test_a_program_that_cannot_start_forfeits_and_stops_nobody(tmp_path: Path) -> None:
    opened = open_engine(tmp_path)

    def refused(task: MatchTask) -> Report:
        return NotStarted(task.key, "T3", "The file does not exist.") if "T3" in task.seats.values() else play(task)

    _, notes = run(opened, refused)
    assert any("T3 can't start and forfeits" in text for text in notes.sentences)
    assert opened.store.forfeits() == {"T3": "The file does not exist."}
    places = {place.row.team: place for place in opened.standings(opened.state(), resamples=50)}
    assert places["T3"].row.points == 0
    assert places["T3"].row.forfeits == 3
    assert places["T3"].forfeit == "The file does not exist."
    assert all(places[f"T{number}"].row.points >= 1 for number in range(3))


def test_a_bot_that_always_crashes_at_the_start_forfeits_after_two_matches(tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=6)

    def crashes(task: MatchTask) -> Report:
        seat = next((seat for seat, team in task.seats.items() if team == "T5"), None)
        if seat is None:
            return play(task)
        return Completed(record(task, 0, started=False, faults={seat: "It crashed."}, fault_kinds={seat: "crashed"}, reason="crashed"))

    pool, notes = run(opened, crashes, slots=1)
    assert sum("T5" in task.seats.values() for task in pool.played) == 2
    assert [text.partition(":")[0] for text in notes.sentences] == ["T5 did not start", "T5 can't start and forfeits its other matches"]
    assert opened.store.forfeits() == {"T5": "It crashed."}


def test_one_bad_start_of_a_team_that_can_start_loses_that_duel_alone(tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=4)
    unlucky: list[str] = []

    def crashes_once(task: MatchTask) -> Report:
        seat = next((seat for seat, team in task.seats.items() if team == "T2"), None)
        if seat is None or (unlucky and task.key not in unlucky):
            return play(task)
        unlucky.append(task.key)
        return Completed(record(task, 0, started=False, faults={seat: "It crashed."}, fault_kinds={seat: "crashed"}))

    run(opened, crashes_once)
    assert opened.store.forfeits() == {}
    row = next(place.row for place in opened.standings(opened.state(), resamples=50) if place.row.team == "T2")
    assert (row.played, row.forfeits) == (3, 1)


def test_a_fatal_void_stops_the_league_with_a_sentence_and_it_resumes(tmp_path: Path) -> None:
    opened = open_engine(tmp_path)
    count = [0]

    def full(task: MatchTask) -> Report:
        count[0] += 1
        return Void(task.key, "No space left on device.", "here", is_fatal=True) if count[0] == 4 else play(task)

    with pytest.raises(LeagueStopped, match="can be resumed: No space left on device"):
        run(opened, full)
    pool, _ = run(opened)
    assert len(pool.played) == 12 - 3


def test_repetitions_of_deterministic_pairs_are_refused(tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=3, extra="repeat = 4")

    def plays(task: MatchTask) -> Report:
        # T2 draws its moves by lot.
        is_random = "T2" in task.seats.values()
        return Completed(record(task, 5, position=f"{task.seed if is_random else 0}"))

    pool, notes = run(opened, plays)
    played = [frozenset(task.seats.values()) for task in pool.played]
    # One duel and the repetition that showed it.
    assert played.count(frozenset({"T0", "T1"})) == 4
    assert played.count(frozenset({"T0", "T2"})) == 8
    assert [text for text in notes.sentences if text.startswith("T0 and T1 play the same game again")]
    rows = {place.row.team: place.row for place in opened.standings(opened.state(), resamples=50)}
    assert (rows["T0"].played, rows["T2"].played) == (5, 8)


def task(number: int, *teams: str) -> MatchTask:
    """A match of some teams."""
    return MatchTask(f"{number}", number, 0, dict(zip(("hunter", "prey"), teams, strict=False)), {}, 0)


@pytest.mark.parametrize("teams", [4, 7])
def test_matches_are_played_round_by_round(teams: int, tmp_path: Path) -> None:
    opened = open_engine(tmp_path, teams=teams, extra="[starts]\ncount = 4\n", settings="width = 30\nheight = 30\n")
    pool, _ = run(opened, slots=1)
    duels = {duel.number: duel for duel in opened.store.duels()}
    begun = [duels[task.duel] for task in pool.begun]
    rounds = [(duel.start, duel.round) for duel in begun]
    assert rounds == sorted(rounds)
    # One team rests in each round if their number is odd. All have played about as many duels, whenever one looks.
    most_apart = 1 if teams % 2 == 0 else 2
    played = dict.fromkeys(opened.schedule.teams, 0)
    for task in pool.begun[::2]:
        for team in duels[task.duel].teams:
            played[team] += 1
        assert max(played.values()) - min(played.values()) <= most_apart


@pytest.mark.parametrize("slots", [1, 3])
def test_a_free_slot_plays_again_before_a_result_is_told(slots: int, tmp_path: Path) -> None:
    """Storing and telling results holds up no slot."""
    opened = open_engine(tmp_path, teams=5)
    pool = PretendPool(play, slots)
    told: list[int] = []

    class Watching(Notes):
        def finished(self, task: MatchTask, record: Record) -> None:
            told.append(len(pool.begun))

    Engine(opened.store, pool, opened.schedule, Watching()).run()
    assert told == [min(20, ended + slots) for ended in range(1, 21)]


def test_a_void_match_is_played_again_in_its_place() -> None:
    duels = {number: PlannedDuel(number, number // 2, ("A", "B")) for number in range(6)}
    queue = Queue(lambda duel: (duel.round, duel.number), duels)
    for number in (3, 1, 5, 0):
        queue.push(task(number, "A", "B"))
    assert [queue.pop().duel, queue.pop().duel] == [0, 1]
    queue.push(task(1, "A", "B"))
    assert ([queue.pop().duel for _ in range(3)], len(queue)) == ([1, 3, 5], 0)
