"""The plan of a grading: equal run by run, with one slot or eight, and with a machine that fails."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

import pytest
import rubrics

from referee.grading import rubric as reader
from referee.grading.marks import opponent_name
from referee.grading.plan import GradingPlan, Trials
from referee.handins.values import Entry
from referee.tournament.plan import play, settle
from referee.tournament.store import Store
from referee.tournament.values import Record, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class ShuffledPool:
    """Makes results up, in a random order; some attempts are void. Implements ``plan.Pool``."""

    has_workers = True

    def __init__(self, slots: int, lots: random.Random, failures: float = 0.0) -> None:
        self._slots, self._lots, self._failures = slots, lots, failures
        self._running: list[Task] = []
        self._tries: dict[str, int] = {}
        self.begun: list[Task] = []

    @property
    def room(self) -> int:
        return self._slots - len(self._running)

    def submit(self, task: Task) -> None:
        self._running.append(task)
        self.begun.append(task)

    def wait(self, seconds: float) -> Sequence[Record]:
        if not self._running:
            return []
        task = self._running.pop(self._lots.randrange(len(self._running)))
        tries = self._tries[task.key] = self._tries.get(task.key, 0) + 1
        if tries < 3 and self._lots.random() < self._failures:
            return [Record(task.key, void="The machine failed.")]
        if "carl" in task.names.values():
            seat = next(seat for seat, name in task.names.items() if name == "carl")
            return [Record(task.key, faults={seat: "It can't be built."}, started=False)]
        return [Record(task.key, steps=int(hashlib.sha256(task.key.encode()).hexdigest(), 16) % 40, replay=f"replays/{task.key}")]

    def cancel(self, key: str) -> None:
        self._running = [task for task in self._running if task.key != key]


def new_trials(folder: Path) -> Trials:
    (folder / "rubric.toml").write_text(rubrics.RUBRIC)
    rubric = reader.load(folder / "rubric.toml")
    players = {"hunter": "boxer", "prey": "runner"}
    students = {name: Entry(name, players, name) for name in ("ada", "bob", "carl")}
    students["dora"] = Entry("dora", {"prey": "runner"}, "dora")
    opponents = {opponent_name(test.against): Entry(opponent_name(test.against), players, test.against) for test in rubric.tests}
    return Trials(rubric, students, opponents)


class RecordedPlan(GradingPlan):
    """Keeps the records that it gets."""

    def __init__(self, trials: Trials) -> None:
        super().__init__(trials)
        self.calls: list[Sequence[Record]] = []

    def next(self, records: Sequence[Record]) -> Sequence[Sequence[Task]]:
        self.calls.append(list(records))
        return super().next(records)


@pytest.mark.parametrize(("slots", "failures"), [(1, 0.0), (8, 0.0), (3, 0.4)])
def test_a_plan_gets_the_same_records_in_every_run(slots: int, failures: float, tmp_path: Path) -> None:
    trials = new_trials(tmp_path)
    plain = RecordedPlan(trials)
    play(plain, Store.in_memory(), ShuffledPool(1, random.Random(0)))
    for seed in range(20):
        plan, store = RecordedPlan(trials), Store.in_memory()
        play(plan, store, ShuffledPool(slots, random.Random(seed), failures))
        assert (plan.calls, plan.absent) == (plain.calls, plain.absent)
        reading = RecordedPlan(trials)
        assert not settle(reading, store).order
        assert (reading.calls, reading.absent) == (plain.calls, plain.absent)


def test_stages_begin_one_after_the_other(tmp_path: Path) -> None:
    trials = new_trials(tmp_path)
    by_key = {task.key: trial for trial, tasks in trials.by_trial.items() for task in tasks}
    pool = ShuffledPool(8, random.Random(1), 0.4)
    play(GradingPlan(trials), Store.in_memory(), pool)
    stages = [2 if by_key[task.key].is_hidden else by_key[task.key].test for task in pool.begun]
    assert stages == sorted(stages)
    assert set(stages) == {0, 1, 2}
    assert {trial.test for trial in trials.by_trial if trial.student == "dora"} == {1}


def test_a_program_that_cannot_be_started_ends_the_trials_of_its_student_only(tmp_path: Path) -> None:
    trials, store = new_trials(tmp_path), Store.in_memory()
    plan, pool = GradingPlan(trials), ShuffledPool(1, random.Random(2))
    play(plan, store, pool)
    assert plan.absent == {"carl": "It can't be built."}
    assert sum("carl" in task.names.values() for task in pool.begun) == 1
    assert {task.key for task in trials.tasks} - {task.key for task, _ in store.done()} == {
        task.key for task in trials.tasks if "carl" in task.names.values() and task not in pool.begun
    }
    # A run that knows it from an earlier one begins none of its matches.
    pool = ShuffledPool(1, random.Random(2))
    play(GradingPlan(trials, plan.absent), Store.in_memory(), pool)
    assert not any("carl" in task.names.values() for task in pool.begun)
