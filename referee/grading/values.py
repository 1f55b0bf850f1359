"""The values of a grading: the rubric, the hand-ins, the trials and the marks. All of them are plain data."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from referee.handins.values import MISSING, OK, REFUSED
from referee.match.options import MatchOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from referee.games.game import Json, Seat
    from referee.handins.values import Entry, HandIn
    from referee.tournament.values import Record, Task

#: The status of a student: everything was played without a fault of the hand-in; one of its matches ended by its own fault; nothing was
#: submitted; the hand-in can't be graded.
FAULTY, VOID = ("faulty", "void")
STATUSES = (OK, FAULTY, VOID, MISSING, REFUSED)
#: When a student sees the result of a test: always, or after the due date.
ALWAYS, AFTER_DUE = ("always", "after_due")


def _total(points: Iterable[float]) -> float:
    """Return the sum of shares of points, rounded, so that six sixths of 20 points are 20 points."""
    return round(fsum(points), 9)


class Need(NamedTuple):
    """A condition that a match has to meet: its name in the rubric ("catch_within") and its value (900)."""

    kind: str
    value: bool | float | str


class RubricTest(NamedTuple):
    """A test of the rubric. ``number`` counts from 0.

    The hand-in plays ``seat`` and the player ``against`` plays all other seats. In a duel (need ``beats``) it plays every role, and
    ``seat`` is None. ``starts`` is the number of starts, of which the last ``hidden`` ones are hidden. ``points`` are shared equally by
    the starts. ``settings`` are all settings as JSON; those of a drawn start replace theirs. ``has_set_start``: the settings name the
    start, and none is drawn.
    """

    number: int
    name: str
    seat: Seat | None
    against: str
    needs: tuple[Need, ...]
    points: float
    starts: int
    hidden: int
    when: str
    settings: Mapping[str, Json]
    has_set_start: bool = False

    def is_hidden(self, start: int) -> bool:
        """True if this start of the test is hidden: the last ones are."""
        return start >= self.starts - self.hidden


class Rubric(NamedTuple):
    """A checked rubric. All starts are drawn from ``seed``; ``is_seed_drawn``: the file has none, so it was drawn. Paths of opponents are relative to ``home``.

    ``text`` is the content of the rubric file.
    """

    name: str
    game: str
    rules: str
    seed: str
    tests: tuple[RubricTest, ...]
    options: MatchOptions = MatchOptions(isolation="strict")
    home: str = ""
    text: str = ""
    is_seed_drawn: bool = False

    @property
    def maximum(self) -> float:
        """The points of all tests together."""
        return _total(test.points for test in self.tests)


class GradedHandIn(NamedTuple):
    """A hand-in with the entry that plays, None if it can't be graded."""

    hand_in: HandIn
    entry: Entry | None


class Trial(NamedTuple):
    """One start of one test for one student: the unit that earns points. It is one match, or two where the test is a duel."""

    student: str
    test: int
    start: int
    is_hidden: bool


class TrialMark(NamedTuple):
    """The result of a trial.

    ``passed`` is None while it isn't decided: its matches aren't played yet, or they were void. ``text`` says in one sentence what was
    lost and why; it is "" if the trial is passed. ``is_fault``: the hand-in failed. ``matches`` are the played matches, ``step`` is
    the step of the first one in which the points were lost.
    """

    trial: Trial
    passed: bool | None
    points: float
    text: str = ""
    is_fault: bool = False
    step: int | None = None
    matches: tuple[tuple[Task, Record], ...] = ()


class RubricMark(NamedTuple):
    """A student's result in a test."""

    test: RubricTest
    trials: tuple[TrialMark, ...]

    @property
    def points(self) -> float:
        """The points of all trials."""
        return _total(trial.points for trial in self.trials)

    @property
    def public(self) -> list[TrialMark]:
        """The trials on starts that the student may see."""
        return [trial for trial in self.trials if not trial.trial.is_hidden]

    @property
    def hidden(self) -> list[TrialMark]:
        """The trials on hidden starts."""
        return [trial for trial in self.trials if trial.trial.is_hidden]

    @property
    def hidden_points(self) -> float:
        """The points of the hidden trials."""
        return _total(trial.points for trial in self.hidden)

    @property
    def is_complete(self) -> bool:
        """True if every trial is decided."""
        return all(trial.passed is not None for trial in self.trials)


class StudentMarks(NamedTuple):
    """All marks of a student. ``reason`` explains a status other than "ok", and marks that aren't complete."""

    hand_in: HandIn
    status: str
    reason: str
    tests: tuple[RubricMark, ...]

    @property
    def points(self) -> float:
        """The points of all tests."""
        return _total(test.points for test in self.tests)

    @property
    def is_complete(self) -> bool:
        """True if every test is complete."""
        return all(test.is_complete for test in self.tests)


class Grades(NamedTuple):
    """The marks of everybody, in the order of the roster or else of the names.

    ``hashes`` has the hash of the files of each student and each opponent by name. ``isolation`` is the level that the matches were played
    at, in words, ``replays`` the folder in which ``Record.replay`` begins. ``runs`` has the time of each run that looked at hand-ins, in
    UTC, "" where it is unknown. ``compared`` are lines about students whose matches were played again.
    """

    rubric: Rubric
    students: tuple[StudentMarks, ...]
    folder: Path
    replays: Path
    hashes: Mapping[str, str] = {}
    isolation: str = ""
    runs: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if all marks are complete."""
        return all(student.is_complete for student in self.students)
