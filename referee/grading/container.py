"""Grades one hand-in in the container of an autograder, with a deadline and with results at any time.

Only the referee writes the results. It writes them again after every match, when no bot is running, and once more at the end.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import RefereeError
from referee.grading import gradescope
from referee.grading.grading import open_grading
from referee.grading.pools import TimeIsUp
from referee.grading.rubric import load
from referee.handins.collect import single
from referee.tournament.local import LocalPool
from referee.tournament.progress import ProgressListener

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.grading.grading import OpenGrading
    from referee.grading.pools import Deadline
    from referee.grading.values import Grades
    from referee.tournament.values import Record, Task

#: Paths in Gradescope's container, relative to its folder /autograder.
HAND_IN, RESULTS, METADATA, GRADING = "submission", "results/results.json", "submission_metadata.json", "grading"


class Graded(NamedTuple):
    """The result of a run. ``is_limited``: it exceeded the limit on runs, so it wasn't graded. ``grades`` is None if nothing was graded."""

    results: Path
    grades: Grades | None = None
    is_limited: bool = False


def run(
    home: Path,
    rubric_path: Path,
    deadline: Deadline,
    *,
    runs_per_day: int | None = None,
    report: Callable[[str], None] = print,
) -> Graded:
    """Grade the hand-in in Gradescope's folder ``home``, and write the results there.

    No match is begun after the deadline. At most ``runs_per_day`` runs within 24 hours are graded. ``report`` gets sentences for the
    instructor, which students don't see. RefereeError if nothing could be graded; the results say so, too.
    """
    file = home / RESULTS
    try:
        rubric = load(rubric_path)
        gradescope.write(file, gradescope.first_results(rubric))
        if runs_per_day is not None:
            try:
                results = gradescope.limited(home / METADATA, runs_per_day)
            except RefereeError as error:
                # The student did not cause this, so the run is graded.
                report(f"{error} The run is graded.")
                results = None
            if results is not None:
                gradescope.write(file, results)
                return Graded(file, is_limited=True)
        level = gradescope.level_here(rubric)
        report(f"The level of isolation is {level}.")
        with open_grading(home / GRADING, rubric._replace(options=rubric.options.replace(isolation=level))) as opened:
            opened.note_level(level)
            with opened.incoming() as folder:
                opened.take([single(home / HAND_IN, folder, opened.seats, opened.other_roles)])
            return Graded(file, _played(opened, file, deadline, report))
    except RefereeError as error:
        with contextlib.suppress(OSError):
            gradescope.write(file, gradescope.failed_results(str(error)))
        raise


def _played(opened: OpenGrading, file: Path, deadline: Deadline, report: Callable[[str], None]) -> Grades:
    """Play all matches, and return the marks. If something stops the grading, the results say so."""
    note = ""
    gradescope.write(file, gradescope.results(opened.grades()))
    try:
        opened.check_files()
        if opened.counts().planned:
            # The smallest container has half a core, which is enough for one match at a time.
            with contextlib.closing(LocalPool(opened.trials.terms, opened.entries, opened.replays, 1)) as workers:
                opened.run(workers, _ResultsWriter(opened, file, report), deadline)
    except TimeIsUp as error:
        report(str(error))
        note = "The time limit was reached before all matches were played."
    except RefereeError as error:
        report(str(error))
        note = "The grading was stopped before all matches were played, which you did not cause. Please tell your instructor."
    grades = opened.grades()
    gradescope.write(file, gradescope.results(grades, note))
    return grades


class _ResultsWriter(ProgressListener):
    """Writes the results after every match."""

    def __init__(self, opened: OpenGrading, file: Path, report: Callable[[str], None]) -> None:
        self._opened = opened
        self._file = file
        self._report = report

    def finished(self, task: Task, record: Record) -> None:
        """Write the current marks."""
        gradescope.write(self._file, gradescope.results(self._opened.grades()))

    def said(self, text: str) -> None:
        """Report a sentence to the instructor."""
        self._report(text)
