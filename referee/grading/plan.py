"""The plan of a grading: every test of the rubric on each of its starts, for every student.

Public trials come first, then those that are shown after the due date, then hidden ones. A bot that knows a start could signal it by the load
of the machine. When a stage begins, all matches that students see earlier have ended, so these can't contain such a signal.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.grading.marks import opponent_name
from referee.grading.rubric import commitment_of, own_seats
from referee.grading.values import AFTER_DUE, Trial
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.starts import match_seed, placed
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from referee.games.game import AnyGame, Json, Settings
    from referee.grading.values import Rubric, RubricTest
    from referee.handins.values import Entry
    from referee.tournament.values import MatchStart, Record, Task

#: The stages, in the order in which they are played.
_PUBLIC, _AFTER_DUE, _HIDDEN = _STAGES = range(3)


class _Place(NamedTuple):
    """One start of a test, the same for all students: its settings as JSON and checked."""

    test: RubricTest
    start: MatchStart
    settings: dict[str, Json]
    checked: Settings

    @property
    def stage(self) -> int:
        """The stage in which its matches are played."""
        return _HIDDEN if self.test.is_hidden(self.start.number) else _AFTER_DUE if self.test.when == AFTER_DUE else _PUBLIC


class Trials:
    """The trials of some students, with their tasks.

    ``students`` and ``opponents`` are entries by name; an opponent's name is ``opponent_name``.
    """

    def __init__(self, rubric: Rubric, students: Mapping[str, Entry], opponents: Mapping[str, Entry]) -> None:
        self.rubric = rubric
        self.game: AnyGame = games.get(rubric.game)
        #: The options of all matches.
        self.terms = Terms(rubric.game, rubric.rules, rubric.options)
        self._hash = terms_hash(self.game, rubric.rules, rubric.options)
        self._students, self._opponents = students, opponents
        commitment = commitment_of(rubric)
        places = [self._place(test, start) for test in rubric.tests for start in commitment.starts(test.number)]
        #: The trials of each stage for which there is a program, with their tasks.
        self.stages = tuple(dict(self._trials([place for place in places if place.stage == stage])) for stage in _STAGES)
        #: The tasks of all trials, in the order in which they are played.
        self.by_trial: dict[Trial, tuple[Task, ...]] = {trial: tasks for stage in self.stages for trial, tasks in stage.items()}
        self.tasks: list[Task] = [task for tasks in self.by_trial.values() for task in tasks]
        #: The student of each match, by the key of its task.
        self.student_by_key = {task.key: trial.student for trial, tasks in self.by_trial.items() for task in tasks}

    def _place(self, test: RubricTest, start: MatchStart) -> _Place:
        checked = placed(self.game, self.game.codec.settings(self.rubric.rules, dict(test.settings)), start.settings)
        return _Place(test, start, self.game.codec.settings_json(checked), checked)

    def _trials(self, places: Sequence[_Place]) -> Iterator[tuple[Trial, tuple[Task, ...]]]:
        for name, entry in self._students.items():
            for place in places:
                if entry.players.keys() >= set(own_seats(self.game, place.test, self.game.seats(place.checked))):
                    trial = Trial(name, place.test.number, place.start.number, place.stage == _HIDDEN)
                    yield trial, tuple(self._tasks(entry, place))

    def _tasks(self, student: Entry, place: _Place) -> Iterator[Task]:
        """Yield the match of a trial, or both matches of a test in which the roles are swapped."""
        seats = self.game.seats(place.checked)
        opponent = self._opponents[opponent_name(place.test.against)]
        for mine in own_seats(self.game, place.test, seats):
            lineup = {seat: student if seat == mine else opponent for seat in seats}
            yield new_task(self._hash, lineup, place.settings, match_seed(place.start))


def absences(matches: Iterable[tuple[Task, Record | None]]) -> dict[str, str]:
    """Return, by name, why the program of a student or an opponent can't be started. Its matches can't be played."""
    reasons: dict[str, str] = {}
    for task, record in matches:
        if record is not None and not record.void and not record.is_startable:
            for seat, text in record.faults.items():
                # A compiler's messages have several lines, but tables have room for one.
                reasons.setdefault(task.names[seat], " / ".join(line.strip() for line in text.splitlines()))
    return reasons


class GradingPlan:
    """Asks for all trials, stage after stage. Implements ``tournament.plan.Plan``.

    ``absent`` says why a program can't be started, by the name of its student or opponent: its other matches are not played. A plan begins
    with the results of earlier runs.
    """

    def __init__(self, trials: Trials, absent: Mapping[str, str] | None = None) -> None:
        self._trials = trials
        self._stages = deque(trials.stages)
        self._open: deque[Trial] = deque()
        self.absent: dict[str, str] = dict(absent or {})

    def next(self, records: Sequence[Record]) -> Sequence[Sequence[Task]]:
        """Take the records of a trial. Return the trials of the next stage after the last one of this stage."""
        if records:
            self.absent = absences(zip(self._trials.by_trial[self._open.popleft()], records, strict=True)) | self.absent
        if self._open:
            return []
        while self._stages and not self._open:
            self._open.extend(self._stages.popleft())
        return [self._trials.by_trial[trial] for trial in self._open]

    def wants(self, task: Task) -> bool:
        """Return False if a program of the match can't be started."""
        return not self.absent or self.absent.keys().isdisjoint(task.names.values())
