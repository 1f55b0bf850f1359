"""The marks on a terminal, and counts of what was graded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from referee.cli.app import columns, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.grading.values import Grades, Submission
    from referee.league.values import MatchRecord, MatchTask

#: Fewer columns than these have no room for a reason beside the rest of the row: it goes below.
_LEAST_REASON = 30


def print_marks(grades: Grades) -> None:
    """Print the marks as a table, and how many submissions were faulty and why."""
    from referee.grading.marks import shown_points

    room = columns(120)
    maximum = shown_points(grades.rubric.maximum)
    head = f"points of {maximum}"
    wide = max([7, *(len(student.submission.student) for student in grades.students)])
    wide = min(wide, 30, max(7, room - len(head) - 11))
    put(f"{'student':<{wide}}  {head}  status")
    for student in grades.students:
        name = _cut(student.submission.student, wide)
        points = shown_points(student.points) if student.is_complete else "?"
        line = f"{name:<{wide}}  {points:>{len(head)}}  {student.status:<7}"
        reason = student.reason
        left = room - len(line) - 2
        if left >= _LEAST_REASON:
            put(f"{line}  {_cut(reason, left)}".rstrip())
        else:
            put(line.rstrip())
            if reason:
                put(f"  {_cut(reason, max(room, 20) - 2)}")
    found = Counter(student.status for student in grades.students)
    put("", f"{students(len(grades.students))}: {', '.join(f'{count:,} {status}' for status, count in sorted(found.items()))}")
    if len(grades.runs) > 1:
        put(told((student.submission for student in grades.students), len(grades.runs)))
    kinds = Counter(
        kind
        for student in grades.students
        for kind in {
            kind
            for test in student.tests
            for trial in test.trials
            if trial.is_fault
            for kind in _fault_kinds(student.submission.student, trial.matches)
        }
    )
    if kinds:
        put(f"Faults: {', '.join(f'{kind} ({students(count)})' for kind, count in kinds.most_common())}")


def _cut(text: str, longest: int) -> str:
    """Return a text cut to a number of characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def students(count: int) -> str:
    """Return a number of students in words."""
    return f"{count:,} student{'' if count == 1 else 's'}"


def matches(count: int) -> str:
    """Return a number of matches in words."""
    return f"{count:,} match{'' if count == 1 else 'es'}"


def _fault_kinds(student: str, matches: Sequence[tuple[MatchTask, MatchRecord]]) -> set[str]:
    return {kind for task, record in matches for seat, kind in record.fault_kinds.items() if task.seats[seat] == student}


def told(submissions: Iterable[Submission], run: int) -> str:
    """Return how many submissions a run has taken, and how many students keep what they had."""
    runs = [submission.run for submission in submissions if submission.run]
    return f"Run {run}: {runs.count(run):,} new, {len(runs) - runs.count(run):,} kept"
