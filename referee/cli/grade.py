"""grade run and grade rerun: mark hand-ins by a rubric, and play the matches of one student again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import GRADERS, app, columns, command, complain, group, put, put_json, put_more, say
from referee.cli.league_output import progress
from referee.cli.models import CommandModel
from referee.cli.options import Force, SeriesOptions
from referee.errors import RefereeError, UsageError
from referee.grading.marks_text import marks_lines, notes_lines
from referee.isolation.limits import LIMITS, NONE
from referee.support.outputs import check_output, no_mark
from referee.support.packages import need_league
from referee.support.words import counted, program
from referee.tournament.workers import open_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.grading.grading import OpenGrading
    from referee.grading.values import Grades, Rubric

#: The default rubric.
RUBRIC = "rubric.toml"

grade = group("grade", "Mark hand-ins by a rubric: every test is played in the sandbox, and the marks are reproducible.")
app.add_typer(grade, rich_help_panel=GRADERS)

RubricIsolation = Annotated[
    str | None, typer.Option("--isolation", metavar="LEVEL", help="strict, limits or none, in place of the rubric's.")
]
AfterDue = Annotated[bool, typer.Option("--after-due", help='The due date has passed: show students the tests with when = "after_due".')]


class MarksIncomplete(RefereeError):
    """Some matches could not be played, which no hand-in caused."""

    exit_code = 4


class HandInOptions(CommandModel):
    """How the folder of hand-ins is read. All of these options need such a folder."""

    rubric: Annotated[Path | None, typer.Option("--rubric", metavar="FILE", help="The rubric.  (default: rubric.toml)")] = None
    isolation: RubricIsolation = None
    roster: Annotated[
        Path | None, typer.Option("--roster", metavar="FILE", help="A CSV file of all students; those without a hand-in get a row.")
    ] = None
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            help="How SUBMISSIONS is laid out: auto, gradescope, canvas, moodle or plain.  (default: auto)",
        ),
    ] = None
    only: Annotated[
        str | None, typer.Option("--only", metavar="STUDENT", help="Read only the hand-in of one student, and mark it again.")
    ] = None
    missing_is_zero: Annotated[
        bool, typer.Option("--missing-is-zero", help="Students without a hand-in in SUBMISSIONS lose the marks that they have.")
    ] = False

    def check(self, hand_ins: Path | None) -> None:
        """Raise UsageError for an option that needs a folder of hand-ins, or that could remove marks by mistake."""
        option = next((name for name, value in self if value not in (None, False)), None)
        if hand_ins is None and option is not None:
            raise UsageError(f"--{option.replace('_', '-')} needs SUBMISSIONS. Leave it out to continue the grading in --out unchanged.")
        if self.only is not None and self.missing_is_zero:
            raise UsageError("--missing-is-zero can't be used with --only, which reads one student's hand-in. Leave it out.")


class MarksOptions(CommandModel):
    """Files that are written in addition to the tables of marks."""

    after_due: AfterDue = False
    gradebook: Annotated[
        Path | None, typer.Option("--gradebook", metavar="FILE", help="Fill a gradebook that Canvas or Moodle exported.")
    ] = None
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The gradebook's column.  (default: the rubric's name)")
    ] = None

    def check(self) -> None:
        """Raise UsageError for a gradebook that does not exist, or for a column without a gradebook."""
        if self.gradebook is None and self.column is not None:
            raise UsageError("--column needs --gradebook.")
        if self.gradebook is not None and not self.gradebook.is_file():
            raise UsageError(f"The gradebook {self.gradebook} does not exist, or is not a file.")


@grade.command("run")
@command
def run(
    *,
    submissions: Annotated[
        Path | None,
        typer.Argument(
            metavar="SUBMISSIONS",
            help="A folder of files, folders and archives, or a bulk download of Gradescope, Canvas or Moodle.  (default: the folder with which the grading in --out was begun)",
        ),
    ] = None,
    reading: HandInOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder for the marks; an unfinished grading in it is continued.  (default: matches/grades/NAME)",
        ),
    ] = None,
    marks: MarksOptions,
    force: Force = False,
    series: SeriesOptions,
) -> None:
    """Mark hand-ins by a rubric: every test is played in the sandbox, and the marks are reproducible.

    After an interruption, run the same command again: it keeps all marks and continues.
    """
    need_league("grade")
    from referee.grading.grade_class import Selection, grade_class
    from referee.grading.grading import is_begun

    if submissions is None and out is None:
        raise UsageError(f"Name what to grade: {program()} grade run SUBMISSIONS --rubric FILE --out DIR")
    reading.check(submissions)
    marks.check()
    keeps_rubric = reading.rubric is None and reading.isolation is None and not Path(RUBRIC).exists() and out is not None and is_begun(out)
    rubric = None if submissions is None or keeps_rubric else load_rubric(reading.rubric, reading.isolation)
    folder = out if out is not None else _default_folder(rubric)
    inputs = [path for path in (submissions, reading.rubric or Path(RUBRIC), reading.roster, marks.gradebook) if path is not None]
    _check_outputs(folder, inputs, marks.gradebook, force=force)
    selection = Selection(submissions, reading.roster, reading.only, None, reading.missing_is_zero, reading.layout or "auto")
    grades = grade_class(folder, rubric, selection, player(series), say, after_due=marks.after_due)
    _finish(grades, selection.done(grades), marks, as_json=series.as_json)


@grade.command("rerun")
@command
def rerun(
    *,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The student, by id or name.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the grading.")],
    after_due: AfterDue = False,
    series: SeriesOptions,
) -> None:
    """Play all matches of one student again, compare them with the earlier ones, and write the marks again."""
    need_league("grade")
    from referee.grading.grade_class import Selection, grade_class

    selection = Selection(rerun=student)
    grades = grade_class(out, None, selection, player(series), say, after_due=after_due)
    _finish(grades, selection.done(grades), MarksOptions(after_due=after_due), as_json=series.as_json)


def _check_outputs(folder: Path, inputs: list[Path], gradebook: Path | None, *, force: bool) -> None:
    """Raise UsageError if a file of the marks is an input, or replaces a file that no grading wrote."""
    from referee.grading.gradebook import is_own
    from referee.grading.grading import is_begun
    from referee.tournament.commitment import PRIVATE

    is_ours = is_begun(folder) or force
    for path in _outputs(folder):
        # The folder of the marks may lie in that of the hand-ins. It isn't read as a hand-in there.
        check_output(path, no_mark, [each for each in inputs if path.is_dir() or each.is_file()], force=is_ours)
    if gradebook is not None:
        # The folder of a begun grading may contain other files, such as a gradebook with marks that were entered by hand.
        filled = _filled(folder, gradebook)
        check_output(filled, lambda _: is_own(filled, folder / PRIVATE), inputs, force=force)


def _outputs(folder: Path) -> Iterator[Path]:
    """Yield the folders and files of the marks, and the files that exist in the students' folders."""
    from referee.grading import handout, tables
    from referee.grading.grading import RUBRIC as RUBRIC_USED
    from referee.pages.replay_scripts import PAGES, REPORT, VIEWER
    from referee.tournament.commitment import PRIVATE

    folders = [folder / name for name in (handout.STUDENTS, PAGES)]
    yield from (folder, *folders, *(path for each in folders for path in each.rglob("*") if path.is_file()))
    yield from (folder / name for name in (tables.CSV, tables.JSON, REPORT, VIEWER))
    yield folder / PRIVATE / RUBRIC_USED


def _filled(folder: Path, gradebook: Path) -> Path:
    """Return the path of the filled gradebook."""
    return folder / f"gradebook-{gradebook.name}"


def load_rubric(path: Path | None, isolation: str | None) -> Rubric:
    """Return the rubric of a file. ``isolation`` replaces its level of isolation."""
    from referee.grading.rubric import load

    if isolation not in (None, "strict", "limits", "none"):
        raise UsageError(f"--isolation is {isolation!r:.60}, but must be strict, limits or none.")
    rubric = load(path or Path(RUBRIC))
    return rubric if isolation is None else rubric._replace(options=rubric.options.replace(isolation=isolation))


def _default_folder(rubric: Rubric | None) -> Path:
    from referee.handins.names import file_name

    assert rubric is not None
    return Path("matches/grades") / file_name(rubric.name)


def player(series: SeriesOptions, *, is_check: bool = False) -> Callable[[OpenGrading], None]:
    """Return the function that plays the matches of a grading that have no result yet. ``is_check``: all bots are example bots."""
    workers = series.place()

    def play(opened: OpenGrading) -> None:
        if not opened.counts().planned:
            return

        def note(level: str) -> None:
            opened.note_level(level)
            if level in (LIMITS, NONE) and not is_check:
                say(
                    f"warning: at isolation {level}, bots run as the user who grades: they can read the seed and other hand-ins, and "
                    "change marks. Grade programs that nobody has read with strict."
                )

        pool = open_pool(opened.trials.terms, opened.entries, opened.replays, workers, say, note)
        try:
            with progress(opened.counts, lambda *_: [], opened.replays) as watch:
                opened.run(pool, watch)
        finally:
            pool.close()

    return play


def _finish(grades: Grades, done: list[str], marks: MarksOptions, *, as_json: bool) -> None:
    """Write the marks, and print them. Raise MarksIncomplete if matches could not be played."""
    from referee.grading import page
    from referee.grading.grade_class import again

    page.write_all(grades, after_due=marks.after_due)
    if as_json:
        put_grades(grades)
        say(*grades.compared)
    else:
        put(*marks_lines(grades, columns(120)))
        put_more(
            "",
            *notes_lines(grades, done),
            "",
            f"Next:  {grades.folder / 'report.html'} is the report; {grades.folder / 'students'} has a folder for each student.",
        )
    sys.stdout.flush()
    if marks.gradebook is not None:
        _fill(marks.gradebook, grades, marks)
    if grades.is_complete:
        return
    count = sum(not student.is_complete for student in grades.students)
    text = (
        f"The marks of {counted(count, 'student')} are incomplete: matches could not be played, which no hand-in caused. "
        f"Play them again: {again(grades.folder)}"
    )
    if as_json:
        # Stdout has the object with the marks already.
        complain(f"referee: {text}")
        raise typer.Exit(MarksIncomplete.exit_code)
    raise MarksIncomplete(text)


def put_grades(grades: Grades) -> None:
    """Print the marks as JSON."""
    from referee.grading import handout, tables

    put_json(json.loads(tables.grades_json(grades, handout.folder_names(grades.students))))


def _fill(gradebook: Path, grades: Grades, marks: MarksOptions) -> None:
    """Fill an exported gradebook, and print which students it doesn't contain."""
    from referee.grading import gradebook as gradebooks

    written = _filled(grades.folder, gradebook)
    filled = gradebooks.fill(gradebook, grades, written, marks.column, after_due=marks.after_due)
    gradebooks.remember(written, grades.replays)
    say(*(*filled.notes, *filled.refused))
    if filled.unmatched:
        say(f"Not in the gradebook: {', '.join(filled.unmatched)}.")
    say(f"{counted(len(filled.written), 'student')} in {filled.kind}'s column '{filled.column}'. Written: {written}")
