"""The marks as lines of text, and counts of what was graded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from referee.grading.escaping import number
from referee.support.escape import printable
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.grading.values import Grades
    from referee.handins.values import HandIn
    from referee.tournament.values import Record, Task

#: With fewer columns left than this, a reason is printed below its row.
_LEAST_REASON = 30


def marks_lines(grades: Grades, room: int) -> list[str]:
    """Return the marks as a table of at most ``room`` columns."""
    maximum = number(grades.rubric.maximum)
    head = f"points of {maximum}"
    wide = max([7, *(len(printable(student.hand_in.student)) for student in grades.students)])
    wide = min(wide, 30, max(7, room - len(head) - 11))
    lines = [f"{'student':<{wide}}  {head}  status"]
    for student in grades.students:
        name = _cut(student.hand_in.student, wide)
        points = number(student.points) if student.is_complete else "?"
        line = f"{name:<{wide}}  {points:>{len(head)}}  {student.status:<7}"
        reason = student.reason
        left = room - len(line) - 2
        if left >= _LEAST_REASON:
            lines.append(f"{line}  {_cut(reason, left)}".rstrip())
        else:
            lines += [line.rstrip(), *([f"  {_cut(reason, max(room, 20) - 2)}"] if reason else [])]
    return lines


def notes_lines(grades: Grades, done: Sequence[str] = ()) -> list[str]:
    """Return how many hand-ins have each status, what was ``done``, and how many were faulty and why."""
    statuses = Counter(student.status for student in grades.students)
    lines = [
        f"{counted(len(grades.students), 'student')}: {', '.join(f'{count:,} {status}' for status, count in sorted(statuses.items()))}"
    ]
    lines += done
    kinds = Counter(
        kind
        for student in grades.students
        for kind in {
            kind
            for test in student.tests
            for trial in test.trials
            if trial.is_fault
            for kind in _fault_kinds(student.hand_in.student, trial.matches)
        }
    )
    if kinds:
        faults = [f"{kind} ({counted(count, 'student')})" for kind, count in kinds.most_common()]
        lines.append(f"Faults: {', '.join(faults)}")
    return lines


def _cut(text: str, longest: int) -> str:
    """Return an escaped text, cut to a number of characters."""
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _fault_kinds(student: str, matches: Sequence[tuple[Task, Record]]) -> set[str]:
    return {kind for task, record in matches for seat, kind in record.fault_kinds.items() if task.names[seat] == student}


def run_counts(hand_ins: Iterable[HandIn], run: int) -> str:
    """Return how many hand-ins a run has read, and how many students keep their earlier one."""
    runs = [hand_in.run for hand_in in hand_ins if hand_in.run]
    return f"Run {run}: {runs.count(run):,} new, {len(runs) - runs.count(run):,} kept"
