"""One run of a grading: read the hand-ins, play the matches that have no result yet, and write the marks."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import RefereeError, UsageError
from referee.grading import grading, page
from referee.grading.marks_text import run_counts
from referee.grading.rubric import commitment_of, example_hand_ins
from referee.handins.collect import collect
from referee.handins.values import HandIn
from referee.isolation import machine
from referee.support.words import counted, program
from referee.tournament.commitment import announcement, private_file
from referee.tournament.plan import MachineFailed, PlayStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from referee.grading.grading import OpenGrading
    from referee.grading.values import Grades, Rubric


class Selection(NamedTuple):
    """What a run reads and plays: hand-ins with a roster, or nothing new; all students, one, or one whose matches are played again."""

    hand_ins: Path | None = None
    roster: Path | None = None
    only: str | None = None
    rerun: str | None = None
    missing_is_zero: bool = False
    layout: str = "auto"

    def done(self, grades: Grades) -> list[str]:
        """Return lines about what the run has done, to be printed below the marks."""
        is_later = self.hand_ins is not None and len(grades.runs) > 1
        counts = [run_counts((student.hand_in for student in grades.students), len(grades.runs))] if is_later else []
        return [*counts, *grades.compared]


def grade_class(
    folder: Path,
    rubric: Rubric | None,
    selection: Selection,
    play: Callable[[OpenGrading], None],
    report: Callable[..., None],
    *,
    after_due: bool,
) -> Grades:
    """Grade a folder of hand-ins, or continue a grading. Results are stored and written even if play is stopped.

    ``play`` plays the matches that have no result yet; ``report`` gets messages for the grader.
    """
    machine.refuse_disk(folder)
    is_new = not grading.is_begun(folder)
    with grading.open_grading(folder, rubric) as opened:
        if selection.hand_ins is not None:
            try:
                _take(opened, selection.hand_ins, selection, report)
            except UsageError:
                if is_new:
                    # Otherwise a corrected command could not name another rubric.
                    grading.forget(folder)
                raise
        elif selection.rerun is None:
            opened.retry()
        opened.check_files()
        if selection.rerun is not None:
            opened.rerun(selection.rerun)
        report(
            f"{opened.rubric.name}: {counted(len(opened.hand_ins), 'student')}, {counted(opened.counts().planned, 'match')} to play, in {folder}"
        )
        if is_new:
            report(*announcement(commitment_of(opened.rubric), private_file(folder)))
        try:
            play(opened)
        except (KeyboardInterrupt, SystemExit, RefereeError) as error:
            counts = opened.counts()
            can_be_corrected = isinstance(error, UsageError | PlayStopped) and not isinstance(error, MachineFailed)
            if is_new and can_be_corrected and not (counts.done or opened.rubric.is_seed_drawn):
                # The rubric or the command asks for something impossible. Forget the grading, so that both can be corrected.
                grading.forget(folder)
                raise
            report(f"{counts.done:,} of {counted(counts.done + counts.planned, 'match')} are done and stored. Go on:  {again(folder)}")
            page.write_all(opened.grades(), after_due=after_due)
            raise
        return opened.grades()._replace(compared=tuple(opened.compared()))


def _take(opened: OpenGrading, source: Path, selection: Selection, report: Callable[..., None]) -> None:
    """Read the hand-ins, and report what has changed. UsageError if they can't be read, or if the selected student has none."""
    with opened.incoming() as folder:
        hand_ins = collect(
            source, folder, opened.seats, selection.roster, opened.other_roles, layout=selection.layout, earlier=opened.hand_ins
        )
        if selection.only is not None:
            hand_ins = (_only(hand_ins, selection.only, source),)
        for text in opened.take(hand_ins, missing_is_zero=selection.missing_is_zero, is_only=selection.only is not None):
            report(text)
    if len(opened.runs) > 1:
        report(f"{run_counts(opened.hand_ins, len(opened.runs))}.")


def _only(hand_ins: Sequence[HandIn], student: str, source: Path) -> HandIn:
    mine = [hand_in for hand_in in hand_ins if hand_in.student == student and hand_in.name]
    if mine:
        return mine[0]
    students = ", ".join(hand_in.student for hand_in in hand_ins if hand_in.name) or "nobody"
    raise UsageError(f"{source} has no hand-in of {student!r:.80}. It has hand-ins of {students}.")


def again(folder: Path) -> str:
    """Return the command that continues a grading."""
    return f"{program()} grade run --out {shlex.quote(str(folder))}"


@contextlib.contextmanager
def graded_examples(rubric: Rubric, play: Callable[[OpenGrading], None]) -> Iterator[Grades]:
    """Grade all example bots, in a folder that is removed afterwards. UsageError if no bot plays every seat.

    The bots are ordered from weak to strong in each seat.
    """
    hand_ins = enumerate(example_hand_ins(rubric))
    examples = [HandIn(name, name, Path.cwd(), players, place=place) for place, (name, players) in hand_ins]
    if not examples:
        raise UsageError(f"The rubric is valid, but no example bot plays every seat that it tests in {rubric.game}.")
    folder = Path(tempfile.mkdtemp(prefix="referee-rubric-"))
    try:
        with grading.open_grading(folder, rubric) as opened:
            opened.take(examples)
            play(opened)
            grades = opened.grades()
        yield grades
    finally:
        shutil.rmtree(folder, ignore_errors=True)
