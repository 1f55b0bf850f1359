"""``report.html``: the marks for the teacher, with a page of the class and one of each student.

It makes no requests. Beside it are ``viewer.html`` and the folder ``pages``, as with the report of a league, so that each lost point leads
to the replay at that step.
"""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.grading.escaping import finite
from referee.grading.handout import write_changed
from referee.grading.tables import marks_of, needs, summary
from referee.league import report, report_folder
from referee.replay.paths import SUFFIX, log_path
from referee.web import page

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from referee.grading.values import Grades, StudentMarks, TrialMark
    from referee.league.values import MatchRecord, MatchTask

FOLDER = "grading/page"
_PAGE = Path(__file__).parent / "page"


def write(grades: Grades, folders: Mapping[str, str], most_bytes: int = report_folder.MOST_BYTES) -> None:
    """Write the report with its viewer. Scripts of replays that are in no trial any more are removed."""
    wanted = dict.fromkeys(
        path
        for student in grades.students
        for mark in student.tests
        for trial in mark.trials
        for _, record in trial.matches
        if (path := _path(grades, record)) is not None
    )
    shown = report_folder.write_pages(wanted, grades.folder, most_bytes)
    write_changed(grades.folder / report_folder.REPORT, html(grades, folders, shown).encode())
    report_folder.remove_others(grades.folder / report_folder.PAGES, shown)


def html(grades: Grades, folders: Mapping[str, str], shown: Container[str] = ()) -> str:
    """Return the report as one page. ``shown`` are the replays that the viewer beside it can show."""
    students = [_student(grades, student, folders[student.submission.student], shown) for student in grades.students]
    packed = gzip.compress(json.dumps(students, separators=(",", ":"), allow_nan=False).encode(), 6, mtime=0)
    text = (_PAGE / "index.html").read_text(encoding="utf-8")
    text = page.inlined(text, _style(), page.bundle(f"{FOLDER}/main.js", asset))
    text = text.replace("<!--bulk-->", f'<script type="text/plain" id="bulk">{base64.b64encode(packed).decode()}</script>')
    about = summary(grades, {test.number: {"needs": needs(test)} for test in grades.rubric.tests})
    return page.configured(text, {**about, "runs": list(grades.runs)})


@cache
def asset(path: str) -> page.Asset | None:
    """Return a script of this report, of a league's or of the viewer by its address; None if it doesn't exist."""
    folder, _, name = path.rpartition("/")
    if folder != FOLDER:
        return report.asset(path)
    return page.Asset((_PAGE / name).read_bytes(), "text/javascript; charset=utf-8")


def _style() -> str:
    return report.script("style.css") + (_PAGE / "style.css").read_text(encoding="utf-8")


def _student(grades: Grades, student: StudentMarks, folder: str, shown: Container[str]) -> dict[str, Any]:
    submission = student.submission
    return {
        "student": submission.student,
        "full_name": submission.full_name,
        "submission": submission.name,
        "folder": folder,
        "status": student.status,
        "run": submission.run,
        "reason": student.reason,
        "points": finite(student.points),
        "complete": student.is_complete,
        "tests": [
            {
                "points": finite(mark.points),
                "hidden_points": finite(mark.hidden_points),
                "complete": mark.is_complete,
                "trials": [_trial(grades, trial, shown) for trial in mark.trials],
            }
            for mark in marks_of(student, grades.rubric.tests)
        ],
    }


def _trial(grades: Grades, mark: TrialMark, shown: Container[str]) -> dict[str, Any]:
    return {
        "start": mark.trial.start,
        "hidden": mark.trial.is_hidden,
        "passed": mark.passed,
        "points": finite(mark.points),
        "text": mark.text,
        "fault": mark.is_fault,
        "matches": [_match(grades, task, record, mark.step if at == 0 else None, shown) for at, (task, record) in enumerate(mark.matches)],
    }


def _match(grades: Grades, task: MatchTask, record: MatchRecord, step: int | None, shown: Container[str]) -> dict[str, Any]:
    path = _path(grades, record)
    logs = [(seat, log_path(Path(path), seat)) for seat in task.seats] if path is not None else []
    return {
        "seats": list(task.seats.items()),
        "text": record.text,
        "reason": record.reason,
        "steps": record.steps,
        "page": path.removesuffix(SUFFIX) if path is not None and path in shown else None,
        "step": None if step is None else max(0, min(step, record.steps)),
        "logs": [(seat, log.as_posix()) for seat, log in logs if (grades.folder / log).exists()],
    }


def _path(grades: Grades, record: MatchRecord) -> str | None:
    """Return the path of a match's replay in the folder of the report; None if it is elsewhere."""
    path = grades.replays / record.replay
    return path.relative_to(grades.folder).as_posix() if record.replay and path.is_relative_to(grades.folder) else None
