"""``report.html``: the marks for the teacher, with a page of the class and one of each student.

It makes no requests. Beside it are ``viewer.html`` and the folder ``pages``, as with the report of a league, so that each lost point leads
to the replay at that step.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.grading.escaping import number
from referee.grading.handout import write_changed
from referee.grading.tables import needs
from referee.grading.values import STATUSES
from referee.handins.values import MISSING, OK, REFUSED
from referee.pages import replay_scripts
from referee.replay.paths import SUFFIX, log_path
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.games.game import Seat
    from referee.grading.values import Grades, StudentMarks
    from referee.tournament.values import Record, Task


def write(grades: Grades, folders: Mapping[str, str]) -> None:
    """Write the report with its viewer. Scripts of replays that are in no trial any more are removed."""
    replays = dict.fromkeys(
        path
        for student in grades.students
        for mark in student.tests
        for trial in mark.trials
        for _, record in trial.matches
        if (path := _path(grades, record)) is not None
    )
    viewable = replay_scripts.write_pages(replays, grades.folder)
    write_changed(grades.folder / replay_scripts.REPORT, html(grades, folders, viewable).encode())
    replay_scripts.remove_others(grades.folder / replay_scripts.PAGES, viewable)


def html(grades: Grades, folders: Mapping[str, str], viewable: Container[str] = ()) -> str:
    """Return the report as one page. ``viewable`` are the replays that the viewer beside it can show."""
    from referee.pages import render

    rubric = grades.rubric
    students = grades.students
    graded = [student for student in students if student.is_complete and student.status not in (MISSING, REFUSED)]
    over = f"over the {counted(len(graded), 'student')} of {len(students):,} whose hand-ins were graded completely"
    names = [student.hand_in for student in students]
    config = [{"name": render.well_formed(hand_in.student), "full": render.well_formed(hand_in.full_name)} for hand_in in names]
    return render.single(
        "grading",
        {"students": config},
        grades=grades,
        rubric=rubric,
        students=students,
        folders=folders,
        problems=[student for student in students if student.status != OK or student.reason],
        overview=_overview(students, graded, rubric.maximum, over),
        over=over,
        tests=[(test, [student.tests[at].points for student in graded]) for at, test in enumerate(rubric.tests)],
        needs=needs,
        mark=number,
        matches=lambda mark: [
            _match(grades, task, record, mark.step if at == 0 else None, viewable) for at, (task, record) in enumerate(mark.matches)
        ],
    )


def _overview(students: Sequence[StudentMarks], graded: Sequence[StudentMarks], maximum: float, over: str) -> list[tuple[str, str]]:
    """Return the facts about the class: how many students have each status, and their points."""
    facts = [(status, counted(sum(student.status == status for student in students), "student")) for status in STATUSES]
    undecided = sum(not student.is_complete for student in students)
    facts += [("not complete", counted(undecided, "student"))] if undecided else []
    points = [student.points for student in graded]
    if points:
        mean, median, least, most = map(number, (statistics.fmean(points), statistics.median(points), min(points), max(points)))
        facts.append(("points", f"mean {mean}, median {median}, from {least} to {most}, of {number(maximum)}; {over}"))
    return facts


class MatchView(NamedTuple):
    """What the page shows of a match. ``page`` is None if the viewer beside it has no replay of it; ``logs`` are files by their seats."""

    seats: str
    text: str
    steps: int
    page: str | None
    step: int | None
    label: str
    logs: Sequence[tuple[Seat, str]]


def _match(grades: Grades, task: Task, record: Record, step: int | None, viewable: Container[str]) -> MatchView:
    """Return what the page shows of a match."""
    path = _path(grades, record)
    logs = [(seat, log_path(Path(path), seat)) for seat in task.seats] if path is not None else []
    step = None if step is None else max(0, min(step, record.steps))
    return MatchView(
        seats=" · ".join(f"{seat}: {name}" for seat, name in task.names.items()),
        text=record.text,
        steps=record.steps,
        page=path.removesuffix(SUFFIX) if path is not None and path in viewable else None,
        step=step,
        label="▶ Replay" if step is None else f"▶ Step {step:,}",
        logs=[(seat, log.as_posix()) for seat, log in logs if (grades.folder / log).exists()],
    )


def _path(grades: Grades, record: Record) -> str | None:
    """Return the path of a match's replay in the folder of the report; None if it is elsewhere."""
    path = grades.replays / record.replay
    return path.relative_to(grades.folder).as_posix() if record.replay and path.is_relative_to(grades.folder) else None
