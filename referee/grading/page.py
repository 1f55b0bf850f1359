"""``report.html``: the marks for the teacher, with a page of the class and one of each student.

It makes no requests. Beside it are ``viewer.html`` and the folder ``pages``, as with the report of a league, so that each lost point leads
to the replay at that step.
"""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.grading import faults, handout, tables
from referee.grading.escaping import number
from referee.grading.handout import write_changed
from referee.grading.tables import needs
from referee.grading.values import STATUSES
from referee.handins.values import MISSING, OK, REFUSED
from referee.pages import replay_scripts
from referee.replay.paths import SUFFIX, log_path
from referee.support.times import shown_span
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.games.game import Seat
    from referee.grading.values import Grades, StudentMarks
    from referee.tournament.values import Record, Task

#: The number of columns of the histogram, the fewest hand-ins for a correlation, and the shortest time that the notes mention.
_BINS, _FEWEST, _LONG_SECONDS = 10, 5, 10.0


def write_all(grades: Grades, *, after_due: bool = False) -> None:
    """Write all files of a grading into ``grades.folder``: tables and the report for the teacher, and a page for each student.

    OSError if that fails; each file is then the old one or the new one. Unchanged files are not written again. The pages of students
    have no test that is shown after the due date, unless ``after_due``.
    """
    folder = grades.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folders = handout.folder_names(grades.students)
    handout.write_changed(folder / tables.CSV, tables.grades_csv(grades))
    handout.write_changed(folder / tables.JSON, tables.grades_json(grades, folders))
    handout.write(grades, folders, after_due=after_due)
    write(grades, folders)


def write(grades: Grades, folders: Mapping[str, str]) -> None:
    """Write the report with its viewer. Remove the scripts of replays that belong to no trial any more."""
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
    points = [student.points for student in graded]
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
        tiles=_tiles(students, points, rubric.maximum),
        notes=_notes(students, points, rubric.maximum, over),
        histogram=_histogram(students, points, rubric.maximum),
        absence=_absence,
        over=over,
        tests=[
            (test, results, separation(results, [all_points - own for all_points, own in zip(points, results, strict=True)]))
            for test, results in ((test, [student.tests[at].points for student in graded]) for at, test in enumerate(rubric.tests))
        ],
        cards=lambda student: faults.cards(student.hand_in, [(mark.test, trial) for mark in student.tests for trial in mark.trials]),
        fault_numbers=faults.numbers,
        needs=needs,
        mark=number,
        matches=lambda mark: [
            _match(grades, task, record, mark.step if at == 0 else None, viewable) for at, (task, record) in enumerate(mark.matches)
        ],
    )


class Tile(NamedTuple):
    """A number about the class in large type, with its label."""

    value: str
    words: str


class Column(NamedTuple):
    """A column of the histogram: the number of hand-ins with these points, or without points and with the status ``kind``."""

    label: str
    students: int
    kind: str = ""


def _tiles(students: Sequence[StudentMarks], points: Sequence[float], maximum: float) -> list[Tile]:
    """Return the numbers of the class: its mean and median, and how many students have each status."""
    tiles = [Tile(f"{len(students):,}", "student" if len(students) == 1 else "students")]
    if points:
        tiles += [Tile(number(statistics.fmean(points)), f"mean, of {number(maximum)}"), Tile(number(statistics.median(points)), "median")]
    counts = Counter(student.status for student in students)
    tiles += [Tile(f"{counts[status]:,}", status) for status in STATUSES if counts[status]]
    undecided = sum(not student.is_complete for student in students)
    return [*tiles, Tile(f"{undecided:,}", "not complete")] if undecided else tiles


def _notes(students: Sequence[StudentMarks], points: Sequence[float], maximum: float, over: str) -> list[str]:
    """Return the sentences below the tiles: the range of the points, and which hand-in took most of the time."""
    notes = []
    if points:
        mean, median, least, most = map(number, (statistics.fmean(points), statistics.median(points), min(points), max(points)))
        notes.append(f"Points: mean {mean}, median {median}, from {least} to {most}, of {number(maximum)}; {over}.")
    seconds = {student.hand_in.student: _wall_seconds(student) for student in students}
    total, slowest = sum(seconds.values()), max(seconds, key=seconds.__getitem__, default="")
    if len(seconds) > 2 and seconds[slowest] >= max(_LONG_SECONDS, total / 3):
        notes.append(f"Most of the time went to {slowest}: {shown_span(seconds[slowest])} of {shown_span(total)} for all matches.")
    return notes


def _wall_seconds(student: StudentMarks) -> float:
    return sum(record.wall_seconds for mark in student.tests for trial in mark.trials for _, record in trial.matches)


def _histogram(students: Sequence[StudentMarks], points: Sequence[float], maximum: float) -> list[Column]:
    """Return the columns of the histogram: hand-ins without marks by status, then points in tenths of the maximum."""
    counts = Counter(student.status for student in students)
    columns = [Column(status, counts[status], status) for status in (MISSING, REFUSED) if counts[status]]
    tenths = Counter(min(_BINS - 1, max(0, int(value / maximum * _BINS + 1e-9))) for value in points) if maximum else Counter[int]()
    ends = [number(maximum * at / _BINS) for at in range(_BINS + 1)]
    return [*columns, *(Column(f"{ends[at]}\N{EN DASH}{ends[at + 1]}", tenths[at]) for at in range(_BINS))]


def separation(test: Sequence[float], others: Sequence[float]) -> float | None:
    """Return how well a test separates weak hand-ins from strong ones: the correlation of its points with those of the other tests, -1 to 1.

    None for fewer than five hand-ins, or if all have the same points in the test or in the others. Source: the item-rest correlation of
    classical test theory.
    """
    if len(test) < _FEWEST or len(set(test)) < 2 or len(set(others)) < 2:
        return None
    return statistics.correlation(test, others)


def _absence(student: StudentMarks) -> str:
    """Return why a hand-in has zero points without playing: "missing", "refused" or "unable" (no match began); "" if it played."""
    if student.status in (MISSING, REFUSED):
        return student.status
    trials = [trial for mark in student.tests for trial in mark.trials]
    has_begun = any(record.started for trial in trials for _, record in trial.matches)
    return "" if has_begun or not any(trial.is_fault for trial in trials) else "unable"


class MatchView(NamedTuple):
    """A match for the page. ``page`` is None if the viewer doesn't have its replay; ``logs`` are files by seat."""

    seats: str
    text: str
    steps: int
    page: str | None
    step: int | None
    label: str
    logs: Sequence[tuple[Seat, str]]


def _match(grades: Grades, task: Task, record: Record, step: int | None, viewable: Container[str]) -> MatchView:
    """Return a match for the page."""
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
