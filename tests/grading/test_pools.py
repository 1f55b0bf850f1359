"""Which matches of a grading count, whoever fails in them, and what a grading that is stopped at any moment goes on with."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import TYPE_CHECKING

import gradings
import pytest
from leagues import Notes, PretendPool, not_started

from referee.errors import BUSY, SUPERVISOR
from referee.grading import rubric as reader
from referee.grading.grading import OpenGrading, open_grading
from referee.grading.pools import Deadline, TimeIsUp
from referee.handins.values import HandIn
from referee.isolation.machine import MEMORY
from referee.tournament.plan import PlayStopped
from referee.tournament.values import FATAL, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.grading.values import Grades, Rubric
    from referee.tournament.values import Task

STUDENTS = ("ada", "bob", "carl", "dora")


def written(folder: Path) -> Rubric:
    (folder / "rubric.toml").write_text(gradings.RUBRIC)
    return reader.load(folder / "rubric.toml")


def hand_in(name: str) -> HandIn:
    return HandIn(name, name, Path.cwd(), {"hunter": "boxer", "prey": "runner"})


def ended(task: Task, faults: dict[str, str] | None = None) -> Record:
    """A match that ends after a number of steps that the task decides."""
    faults = faults or {}
    steps = int(hashlib.sha256(task.key.encode()).hexdigest(), 16) % 40
    return Record(task.key, steps=steps, faults=faults, fault_kinds=dict.fromkeys(faults, "crashed"), replay=f"replays/{task.key}")


def judged(task: Task) -> Record:
    """Dora's program can't be started, carl's crashes as prey."""
    for seat, name in task.names.items():
        if name == "dora":
            return not_started(task, name, "It can't be built.")
        if name == "carl" and seat == "prey":
            return ended(task, {seat: "It crashed."})
    return ended(task)


class FailingMachine:
    """Matches as ``judged`` says, but of each the first two attempts can be void."""

    def __init__(self, lots: random.Random, failures: float) -> None:
        self._lots, self._failures = lots, failures
        self._tries: dict[str, int] = {}

    def __call__(self, task: Task) -> Record:
        tries = self._tries[task.key] = self._tries.get(task.key, 0) + 1
        if tries < 3 and self._lots.random() < self._failures:
            return Record(task.key, host="here", void="The machine failed.")
        return judged(task)


def graded(folder: Path, play: Callable[[Task], Record], slots: int = 1) -> tuple[Grades, Notes]:
    notes = Notes()
    with open_grading(folder, written(folder.parent)) as opened:
        opened.take([hand_in(name) for name in STUDENTS])
        opened.run(PretendPool(play, slots), notes)
        return opened.grades(), notes


@pytest.mark.parametrize(("slots", "failures"), [(1, 0.0), (8, 0.0), (8, 0.4), (3, 0.6)])
def test_marks_are_equal_run_by_run(slots: int, failures: float, tmp_path: Path) -> None:
    plain, _ = graded(tmp_path / "plain", judged)
    assert plain.is_complete
    assert [student.status for student in plain.students] == ["ok", "ok", "faulty", "faulty"]
    for seed in range(3):
        grades, _ = graded(tmp_path / f"{seed}", FailingMachine(random.Random(seed), failures), slots)
        assert grades.students == plain.students


class Killed(BaseException):
    """The end of a process."""


class KilledAt(Notes):
    """Ends the process when this number of matches has ended."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def finished(self, task: Task, record: Record) -> None:
        super().finished(task, record)
        if len(self.finished_keys) == self._most:
            raise Killed


def test_stopped_at_any_moment_it_goes_on_to_the_same_marks(tmp_path: Path) -> None:
    plain, notes = graded(tmp_path / "plain", judged)
    for most in range(1, len(notes.finished_keys) + 1):
        with open_grading(tmp_path / f"{most}", written(tmp_path)) as opened, pytest.raises(Killed):
            opened.take([hand_in(name) for name in STUDENTS])
            opened.run(PretendPool(judged, 3), KilledAt(most))
        with open_grading(tmp_path / f"{most}") as opened:
            before = {task.key for task, _ in opened.store.done()}
            assert len(before) >= most
            pool = PretendPool(judged, 3)
            opened.run(pool, Notes())
            assert before.isdisjoint(task.key for task in pool.begun)
            assert opened.grades().students == plain.students


def records(grades: Grades) -> list[Record]:
    return [record for student in grades.students for test in student.tests for trial in test.trials for _, record in trial.matches]


def test_a_moved_grading_and_the_same_files_at_another_place_keep_their_records(tmp_path: Path) -> None:
    (tmp_path / "first" / "ada").mkdir(parents=True)
    program = tmp_path / "first" / "ada" / "bot.py"
    program.write_text(gradings.CRASHES)
    (tmp_path / "out").mkdir()
    with open_grading(tmp_path / "out" / "grading", written(tmp_path)) as opened:
        opened.take([HandIn("ada", "ada", program.parent, {"hunter": str(program), "prey": str(program)})])
        opened.run(PretendPool(judged), Notes())
        before = opened.grades()
    (tmp_path / "out").rename(tmp_path / "moved")
    program.parent.rename(tmp_path / "moved" / "ada")
    program = tmp_path / "moved" / "ada" / "bot.py"
    with open_grading(tmp_path / "moved" / "grading") as opened:
        assert opened.take([HandIn("ada", "ada", program.parent, {"hunter": str(program), "prey": str(program)})]) == []
        assert (opened.counts().done, opened.counts().planned) == (4, 0)
        assert opened.entries["ada"].home == str(tmp_path / "moved")
        assert records(opened.grades()) == records(before)


def opened_for(folder: Path, play: Callable[[Task], Record]) -> tuple[Grades, Notes, int]:
    """Grade ada alone; return the marks, what was said, and the number of void attempts."""
    notes = Notes()
    with open_grading(folder, written(folder.parent)) as opened:
        opened.take([hand_in("ada")])
        opened.run(PretendPool(play, 1), notes)
        return opened.grades(), notes, opened.counts().voids


@pytest.mark.parametrize("reason", [SUPERVISOR, BUSY])
def test_after_two_voids_without_a_culprit_the_hand_in_loses_the_next_one(reason: str, tmp_path: Path) -> None:
    """A bot that ends its worker leaves nothing to judge; one that keeps the machine busy loses by the match's own judgement."""
    blamed: list[bool] = []

    def play(task: Task) -> Record:
        blamed.append(bool(task.blamed))
        if reason == BUSY and task.blamed:
            return ended(task, {"hunter": "It kept the machine busy."} if task.names["hunter"] == "ada" else {"prey": "It did."})
        return Record(task.key, host="here", void="Nobody saw it.", cause=reason, hit=("ada", "still (opponent)") if reason == BUSY else ())

    grades, notes, voids = opened_for(tmp_path / "out", play)
    assert (blamed, voids) == ([False, False, True, True, True, True], 2)
    assert (grades.students[0].status, grades.students[0].points, grades.is_complete) == ("faulty", 0.0, True)
    assert notes.sentences == ["ada is to blame for void matches with still (opponent), and loses if that happens again: Nobody saw it."]
    # Another run knows it, until the matches are played again.
    with open_grading(tmp_path / "out") as opened:
        opened.rerun("ada")
        del blamed[:]
        opened.run(PretendPool(play, 1), Notes())
        assert blamed == [False, False, True, True, True, True]


def test_a_busy_machine_that_hits_only_the_opponent_is_nobodys_fault(tmp_path: Path) -> None:
    def play(task: Task) -> Record:
        assert not task.blamed
        opponent = next(name for name in task.names.values() if name != "ada")
        return Record(task.key, host="here", void="It was busy.", cause=BUSY, hit=(opponent,))

    grades, _, voids = opened_for(tmp_path / "out", play)
    assert (grades.students[0].status, voids) == ("void", 12)
    assert "Its match was void 3 times: It was busy." in grades.students[0].reason


def test_what_the_machine_lacks_is_left_to_another_run_at_once(tmp_path: Path) -> None:
    grades, notes, voids = opened_for(tmp_path / "out", lambda task: Record(task.key, host="here", void="No memory is left.", cause=MEMORY))
    assert (grades.students[0].status, voids) == ("void", 4)
    assert notes.sentences[0] == "ada and still (opponent): No memory is left."
    with open_grading(tmp_path / "out") as opened:
        assert opened.counts().planned == 0
        opened.retry()
        assert opened.counts().planned == 4
        opened.run(PretendPool(judged), Notes())
        assert opened.grades().is_complete


def test_a_rerun_plays_and_mentions_nobody_else(tmp_path: Path) -> None:
    def plays_badly(task: Task) -> Record:
        if "bob" in task.names.values():
            return Record(task.key, host="here", void="The machine failed.")
        return judged(task)

    _, first = graded(tmp_path / "out", plays_badly)
    assert any(text.startswith("bob and ") for text in first.sentences)
    assert any(text.startswith("dora can't start, so no match of it is played: ") for text in first.sentences)
    with open_grading(tmp_path / "out") as opened:
        opened.rerun("ada")
        notes, pool = Notes(), PretendPool(plays_badly)
        opened.run(pool, notes)
    assert notes.sentences == []
    assert {name for task in pool.begun for name in task.names.values() if "(" not in name} == {"ada"}
    assert len(pool.begun) == 4


def test_a_full_disk_stops_play_and_what_has_ended_before_is_stored(tmp_path: Path) -> None:
    ends: list[str] = []

    def fills_the_disk(task: Task) -> Record:
        ends.append(task.key)
        return Record(task.key, host="here", void="replays: No space left on device", cause=FATAL) if len(ends) == 3 else judged(task)

    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([hand_in(name) for name in STUDENTS])
        with pytest.raises(PlayStopped, match="No space left on device"):
            opened.run(PretendPool(fills_the_disk, 1), Notes())
        assert (opened.counts().done, opened.counts().voids) == (2, 0)
        opened.run(PretendPool(judged, 1), Notes())
        assert opened.grades().is_complete


class SetDeadline(Deadline):
    """A deadline that is set by hand."""

    seconds = 10.0

    def left(self) -> float:
        return self.seconds


def test_matches_that_run_at_the_deadline_count(tmp_path: Path) -> None:
    """The results of a container are complete as far as there was time."""
    deadline, notes = SetDeadline(), Notes()

    def passes_it(task: Task) -> Record:
        deadline.seconds = -1.0
        return judged(task)

    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([hand_in(name) for name in STUDENTS])
        with pytest.raises(TimeIsUp, match="the remaining matches are not played"):
            opened.run(PretendPool(passes_it, 3), notes, deadline)
        assert len(notes.finished_keys) == opened.counts().done == 3


def test_a_match_that_runs_too_long_is_given_up(tmp_path: Path) -> None:
    deadline = SetDeadline()

    class Slow(PretendPool):
        """The second match never ends."""

        def wait(self, seconds: float) -> Sequence[Record]:
            if self.played:
                deadline.seconds -= 20.0
                return []
            return super().wait(seconds)

    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([hand_in(name) for name in STUDENTS])
        with pytest.raises(TimeIsUp, match="is given up"):
            opened.run(Slow(judged, 2), Notes(), deadline)
        assert opened.counts().done == 1


def test_an_opponent_that_could_not_start_is_tried_again(tmp_path: Path) -> None:
    def lacks_still(task: Task) -> Record:
        if "still (opponent)" in task.names.values():
            return not_started(task, "still (opponent)", "It is no program.")
        return judged(task)

    grades, _, _ = opened_for(tmp_path / "out", lacks_still)
    assert not grades.is_complete
    assert "The opponent can't start, so this doesn't count: It is no program." in grades.students[0].reason
    with open_grading(tmp_path / "out") as opened:
        opened.retry()
        opened.run(PretendPool(judged), Notes())
        assert opened.grades().is_complete


def test_old_files_that_are_handed_in_again_have_their_old_marks(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        points = [_points_of(opened, "runner"), _points_of(opened, "evader"), _points_of(opened, "runner")]
    assert points[0] == points[2]
    with open_grading(tmp_path / "out") as opened:
        assert opened.counts().planned == 0
        assert len(opened.store.others()) == 0


def _points_of(opened: OpenGrading, prey: str) -> float:
    opened.take([hand_in("ada")._replace(players={"hunter": "boxer", "prey": prey})])
    opened.run(PretendPool(judged), Notes())
    return opened.grades().students[0].points
