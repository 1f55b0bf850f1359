"""Calculates the marks of each student from the matches of a grading. All functions are pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.grading import needs
from referee.grading.faults import NO_START, own_faults
from referee.grading.rubric import own_seats
from referee.grading.values import AFTER_DUE, FAULTY, VOID, RubricMark, StudentMarks, Trial, TrialMark
from referee.handins.values import MISSING, OK, REFUSED
from referee.isolation.file_names import for_author
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import AnyGame
    from referee.grading.faults import OwnFault
    from referee.grading.values import Rubric, RubricTest
    from referee.handins.values import HandIn
    from referee.tournament.values import Record, Task

#: The most faults in a reason.
_MOST_FAULTS = 3


class Results(NamedTuple):
    """The results of the trials so far. ``matches`` are all matches of each trial, with None for those without a result.

    ``absent`` says why a program can't be started, by the name of its student or opponent. ``notes`` says why the matches of some trials are
    not played in this run.
    """

    matches: Mapping[Trial, Sequence[tuple[Task, Record | None]]] = {}
    absent: Mapping[str, str] = {}
    notes: Mapping[Trial, str] = {}


def opponent_name(against: str) -> str:
    """Return the name of a test's opponent in the store and in replays."""
    return f"{against} (opponent)"


def trials(test: RubricTest, student: str) -> tuple[Trial, ...]:
    """Return the trials of a student in a test, in the order of its starts."""
    return tuple(Trial(student, test.number, start, test.is_hidden(start)) for start in range(test.starts))


def student_marks(game: AnyGame, rubric: Rubric, hand_in: HandIn, results: Results) -> StudentMarks:
    """Return all marks of a student.

    A hand-in that is missing or refused, or can't start, has no points for any test. A trial that isn't decided has none yet.
    """
    if hand_in.status in (MISSING, REFUSED):
        nothing = tuple(_nothing(test, hand_in.student, hand_in.reason) for test in rubric.tests)
        return StudentMarks(hand_in, hand_in.status, hand_in.reason, nothing)
    tests = tuple(
        _lacking(game, rubric, test, hand_in)
        or RubricMark(test, tuple(_trial_mark(game, rubric, trial, results) for trial in trials(test, hand_in.student)))
        for test in rubric.tests
    )
    status, reason = _verdict(tests, show_all=True, is_due=True)
    if hand_in.student in results.absent:
        status, reason = FAULTY, f"The hand-in can't start: {for_author(results.absent[hand_in.student])}"
    # A graded hand-in can have a note, for example that it belongs to nobody on the roster.
    reason = " ".join(part for part in (reason, hand_in.reason) if part)
    return StudentMarks(hand_in, status, reason, tests)


def public(marks: StudentMarks, *, is_due: bool = False) -> tuple[str, str]:
    """Return the status and the reason without anything from hidden matches, so that the student may see them.

    A hand-out, feedback in a gradebook and Gradescope's results show these. Tests that are shown after the due date count only if it
    ``is_due``. ``StudentMarks.reason`` is only for the grader.
    """
    every = [trial for test in marks.tests for trial in test.trials]
    if marks.status not in (OK, FAULTY, VOID) or (marks.status == FAULTY and not any(trial.matches for trial in every)):
        # No program ran, so the reason says nothing that a program saw.
        return marks.status, marks.reason
    return _verdict(marks.tests, show_all=False, is_due=is_due)


def _nothing(test: RubricTest, student: str, text: str) -> RubricMark:
    """Return a mark without points for a test that isn't played."""
    return RubricMark(test, tuple(TrialMark(trial, passed=False, points=0.0, text=text) for trial in trials(test, student)))


def _lacking(game: AnyGame, rubric: Rubric, test: RubricTest, hand_in: HandIn) -> RubricMark | None:
    """Return marks without points for a test in which the hand-in has no program for a seat; None if it has one."""
    seats = own_seats(game, test, game.seats(game.codec.settings(rubric.rules, dict(test.settings))))
    missing = next((seat for seat in seats if hand_in.players and seat not in hand_in.players), None)
    if missing is None:
        return None
    return _nothing(test, hand_in.student, f"The hand-in has no program for the {missing}.")


def _trial_mark(game: AnyGame, rubric: Rubric, trial: Trial, results: Results) -> TrialMark:
    reason = results.absent.get(opponent_name(rubric.tests[trial.test].against))
    note = results.notes.get(trial, "") if reason is None else f"The opponent can't start, so this doesn't count: {reason}"
    mark = needs.judge(game, rubric, trial, results.matches.get(trial, ()), note)
    if mark.passed is None and trial.student in results.absent:
        # The reason may come from a hidden match, in which the bot saw the start.
        return mark._replace(passed=False, text="The hand-in can't start, so this match was not played.", is_fault=True)
    return mark


def _verdict(tests: Sequence[RubricMark], *, show_all: bool, is_due: bool) -> tuple[str, str]:
    """Return the status and the reason: the hand-in's faults, the most frequent one first, and the number of undecided starts."""
    marked_trials = [
        (mark, trial)
        for mark in tests
        for trial in mark.trials
        if show_all or not (trial.trial.is_hidden or (mark.test.when == AFTER_DUE and not is_due))
    ]
    failed = [(mark.test, trial) for mark, trial in marked_trials if trial.is_fault]
    undecided = [(mark.test, trial) for mark, trial in marked_trials if trial.passed is None]
    reasons = []
    if failed:
        # A sentence about a public match helps the student more.
        faults = own_faults(sorted(failed, key=lambda each: each[1].trial.is_hidden))
        reasons += [_fault(fault, len(marked_trials)) for fault in faults[:_MOST_FAULTS]]
        reasons += [f"And {counted(len(faults) - _MOST_FAULTS, 'other fault')}."] if len(faults) > _MOST_FAULTS else []
    if undecided:
        count = f"{len(undecided):,} start{'s are' if len(undecided) > 1 else ' is'} not decided"
        test, first = next((each for each in undecided if each[1].text), undecided[0])
        # The text may come from another match of this student, even from a hidden one.
        reasons.append(f"{count}, as in {_place(test, first.trial)}: {first.text}" if show_all and first.text else f"{count} yet.")
    # Undecided trials have a text only if a match was void. Students see only that they are undecided.
    is_void = show_all and any(trial.text for _, trial in undecided)
    return FAULTY if failed else VOID if is_void else OK, " ".join(reasons)


def _fault(fault: OwnFault, starts: int) -> str:
    """Return a fault as a sentence that begins with its kind, its number of starts and its place."""
    count = f" in {len(fault.marked):,} of {counted(starts, 'start')}" if starts > 1 else ""
    where = f", at {fault.place}" if fault.place else ""
    return f"{(fault.kind or 'failed').capitalize()}{count}{where}: {fault.text.removeprefix(NO_START)}"


def _place(test: RubricTest, trial: Trial) -> str:
    return f"'{test.name}', start {trial.start + 1}" if test.starts > 1 else f"'{test.name}'"
