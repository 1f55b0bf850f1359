"""The marks as tables for programs, ``grades.csv`` and ``grades.json``, which only the teacher gets. docs/marks.md describes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from referee.grading.escaping import finite, number
from referee.support.csv_text import as_csv, with_mark
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json
    from referee.grading.values import Grades, RubricTest, StudentMarks, TrialMark
    from referee.tournament.values import Record, Task

#: The names of both files.
CSV, JSON = "grades.csv", "grades.json"
#: The version of grades.json. It increases when the meaning of a key changes or a key is removed.
FORMAT = 1
NAME = "name"
COLUMNS = ("student", NAME, "submission", "points", "maximum", "status", "reason", "from", "late", "replaced")


def needs(test: RubricTest) -> str:
    """Return what a test needs in words, such as "catch within 900"."""
    return " and ".join(
        need.kind.replace("_", " ")
        + ("" if need.value is True else f" {need.value:g}" if isinstance(need.value, float) else f" {need.value}")
        for need in test.needs
    )


def grades_csv(grades: Grades) -> bytes:
    """Return grades.csv: one row a student. Points that aren't complete are empty cells, not a mark that is too low.

    There is a column of names if at least one is known.
    """
    has_names = any(student.hand_in.full_name for student in grades.students)
    maximum = number(grades.rubric.maximum)
    rows: list[list[object]] = [[*(name for name in COLUMNS if has_names or name != NAME), *(test.name for test in grades.rubric.tests)]]
    rows += [
        [
            student.hand_in.student,
            *([student.hand_in.full_name] if has_names else []),
            student.hand_in.name,
            number(student.points) if student.is_complete else "",
            maximum,
            student.status,
            student.reason,
            student.hand_in.run or "",
            student.hand_in.late,
            ", ".join(student.hand_in.replaced),
            *(number(mark.points) if mark.is_complete else "" for mark in student.tests),
        ]
        for student in grades.students
    ]
    return with_mark(as_csv(rows, "\r\n")).encode()


def _summary(grades: Grades) -> dict[str, Json]:
    """Return the part that all students share: the rubric and its tests."""
    rubric = grades.rubric
    return {
        "name": rubric.name,
        "game": rubric.game,
        "rules": rubric.rules,
        "maximum": finite(rubric.maximum),
        "isolation": grades.isolation,
        "complete": grades.is_complete,
        "tests": [
            {
                "name": test.name,
                "seat": test.seat,
                "against": test.against,
                "need": {need.kind: need.value for need in test.needs},
                "points": finite(test.points),
                "starts": test.starts,
                "hidden": test.hidden,
                "when": test.when,
            }
            for test in rubric.tests
        ],
    }


def grades_json(grades: Grades, folders: Mapping[str, str]) -> bytes:
    """Return grades.json. ``folders`` has the name of each student's folder below ``students``."""
    value = {
        "format": FORMAT,
        "referee": __version__,
        "runs": list(grades.runs),
        **_summary(grades),
    }
    # One line for each student: readable, and fast to write.
    students = ",\n".join(json.dumps(_student(student, grades, folders), allow_nan=False) for student in grades.students)
    return f'{json.dumps(value, allow_nan=False)[:-1]}, "students": [\n{students}\n]}}\n'.encode()


def _student(student: StudentMarks, grades: Grades, folders: Mapping[str, str]) -> dict[str, Json]:
    hand_in = student.hand_in
    return {
        "student": hand_in.student,
        "full_name": hand_in.full_name,
        "identities": list(hand_in.identities),
        "submission": hand_in.name,
        "hash": grades.hashes.get(hand_in.student, ""),
        "folder": folders[hand_in.student],
        "status": student.status,
        "from": hand_in.run,
        "late": hand_in.late,
        "replaced": list(hand_in.replaced),
        "reason": student.reason,
        "points": _points(student.points),
        "complete": student.is_complete,
        "tests": [
            {
                "name": mark.test.name,
                "points": _points(mark.points),
                "hidden_points": _points(mark.hidden_points),
                "complete": mark.is_complete,
                "trials": [_trial(trial) for trial in mark.trials],
            }
            for mark in student.tests
        ],
    }


def _points(value: float) -> float:
    """Return points as all tables show them: with at most two decimals."""
    return round(value, 2)


def _trial(mark: TrialMark) -> dict[str, Json]:
    return {
        "start": mark.trial.start,
        "hidden": mark.trial.is_hidden,
        "passed": mark.passed,
        "points": finite(mark.points),
        "text": mark.text,
        "fault": mark.is_fault,
        "step": mark.step,
        "matches": [_match(task, record) for task, record in mark.matches],
    }


def _match(task: Task, record: Record) -> dict[str, Json]:
    return {
        "key": task.key,
        "seats": dict(task.names),
        "winner": record.winner,
        "reason": record.reason,
        "text": record.text,
        "steps": record.steps,
        "scores": {seat: finite(score) for seat, score in record.scores.items()},
        "faults": dict(record.faults),
        "seconds": {seat: finite(seconds) for seat, seconds in record.seconds.items()},
        "slowest": {seat: finite(seconds) for seat, seconds in record.slowest.items()},
        "replay": record.replay,
        "replay_hash": record.replay_hash,
    }
