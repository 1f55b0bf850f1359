"""What a grading plays: every test of the rubric on each of its starts, for every student. Implements ``tournament.plan.Plan``.

Public trials come first, then those that are shown after the due date, then hidden ones. A bot that knows a start could signal it by the load
of the machine. When a stage begins, every match that is handed out earlier has ended, so nothing that is handed out can contain such a signal.
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
    from collections.abc import Iterable, Mapping, Sequence

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


class TrialPlan:
    """The trials of some students. ``students`` and ``opponents`` are entries by name; an opponent's name is ``opponent_name``."""

    def __init__(self, rubric: Rubric, students: Mapping[str, Entry], opponents: Mapping[str, Entry]) -> None:
        self.rubric = rubric
        self.game: AnyGame = games.get(rubric.game)
        #: How all matches are played.
        self.terms = Terms(rubric.game, rubric.rules, rubric.options)
        self._hash = terms_hash(self.game, rubric.rules, rubric.options)
        self._students, self._opponents = students, opponents
        commitment = commitment_of(rubric)
        places = [self._place(test, start) for test in rubric.tests for start in commitment.starts(test.number)]
        #: All trials for which there is a program, in the order in which they are played, with their tasks.
        self.tasks: dict[Trial, tuple[Task, ...]] = {}
        self._stages: deque[list[Trial]] = deque()
        for stage in _STAGES:
            trials = dict(self._trials(place for place in places if place.stage == stage))
            self.tasks.update(trials)
            self._stages.append(list(trials))
        self._open: deque[Trial] = deque()
        #: The records of the trials that are over.
        self.records: dict[Trial, tuple[Record, ...]] = {}
        #: Why the program of a student or an opponent can't be started, by name. No other match of theirs is played.
        self.absent: dict[str, str] = {}

    def _place(self, test: RubricTest, start: MatchStart) -> _Place:
        checked = placed(self.game, self.game.codec.settings(self.rubric.rules, dict(test.settings)), start.settings)
        return _Place(test, start, self.game.codec.settings_json(checked), checked)

    def _trials(self, places: Iterable[_Place]) -> Iterable[tuple[Trial, tuple[Task, ...]]]:
        kept = list(places)
        for name, entry in self._students.items():
            for place in kept:
                if entry.players.keys() >= set(own_seats(self.game, place.test, self.game.seats(place.checked))):
                    trial = Trial(name, place.test.number, place.start.number, place.stage == _HIDDEN)
                    yield trial, tuple(self._tasks(entry, place))

    def _tasks(self, student: Entry, place: _Place) -> Iterable[Task]:
        """Yield the match of a trial, or both matches of a test in which the roles are swapped."""
        seats = self.game.seats(place.checked)
        opponent = self._opponents[opponent_name(place.test.against)]
        for mine in own_seats(self.game, place.test, seats):
            lineup = {seat: student if seat == mine else opponent for seat in seats}
            yield new_task(self._hash, lineup, place.settings, match_seed(place.start))

    def next(self, records: Sequence[Record]) -> Sequence[Sequence[Task]]:
        """Take the records of a trial; return the trials of the next stage when those of this one are over."""
        if records:
            trial = self._open.popleft()
            self.records[trial] = tuple(records)
            for task, record in zip(self.tasks[trial], records, strict=True):
                if not record.void and not record.is_startable:
                    self.absent.update((task.names[seat], text) for seat, text in record.faults.items())
        if self._open:
            return []
        while self._stages and not self._open:
            self._open.extend(self._stages.popleft())
        return [self.tasks[trial] for trial in self._open]

    def wants(self, task: Task) -> bool:
        """False if a program of the match can't be started."""
        return self.absent.keys().isdisjoint(task.names.values())
