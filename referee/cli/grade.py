"""grade: mark a folder of submissions by a rubric."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, columns, command, put, put_json, say
from referee.cli.front import GRADERS
from referee.cli.options import Force, with_workers
from referee.errors import RefereeError, UsageError
from referee.isolation.limits import LIMITS, NONE
from referee.league.workers import Workers, open_pool
from referee.support.outputs import check_output, no_mark
from referee.support.packages import need_league
from referee.support.words import counted, program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.grading.grading import OpenGrading
    from referee.grading.values import Grades, Rubric

OTHER = "Instead of grading"
#: The rubric, if none is named.
RUBRIC = "rubric.toml"


_other = partial(typer.Option, rich_help_panel=OTHER)
_gradescope = partial(typer.Option, rich_help_panel="Gradescope")
#: The folder of Gradescope's container.
HOME = Path("/autograder")
FORMAT = "gradescope"
_DEADLINE = 540.0


class MarksIncomplete(RefereeError):
    """Some matches could not be played, through no fault of the submissions."""

    exit_code = 4


@app.command(rich_help_panel=GRADERS)
@command
@with_workers
def grade(
    *,
    submissions: Annotated[
        Path | None,
        typer.Argument(
            metavar="SUBMISSIONS",
            help="A folder of files, folders and archives, or a bulk download of Gradescope, Canvas or Moodle.  (default: what --out was begun with)",
        ),
    ] = None,
    rubric: Annotated[Path | None, typer.Option("--rubric", metavar="FILE", help="The rubric.  (default: rubric.toml)")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder for the marks; an unfinished grading in it is continued.  (default: matches/grades/NAME)",
        ),
    ] = None,
    roster: Annotated[
        Path | None, typer.Option("--roster", metavar="FILE", help="A CSV file of all students; those without a submission get a row.")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            help="How SUBMISSIONS is laid out: auto, gradescope, canvas, moodle or plain.  (default: auto)",
        ),
    ] = None,
    rerun: Annotated[
        str | None,
        typer.Option("--rerun", metavar="STUDENT", help="Play all matches of one student again, named by id or name, and compare."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="STUDENT", help="Look at the submission of one student, and mark it anew.")
    ] = None,
    missing_is_zero: Annotated[
        bool, typer.Option("--missing-is-zero", help="Students without a submission in SUBMISSIONS lose the marks that they have.")
    ] = False,
    after_due: Annotated[
        bool, typer.Option("--after-due", help='The due date has passed: show students the tests with when = "after_due".')
    ] = False,
    gradebook: Annotated[
        Path | None, typer.Option("--gradebook", metavar="FILE", help="Fill a gradebook that Canvas or Moodle exported.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The gradebook's column.  (default: the rubric's name)")
    ] = None,
    isolation: Annotated[
        str | None, typer.Option("--isolation", metavar="LEVEL", help="strict, limits or none, in place of the rubric's.")
    ] = None,
    workers: Workers,
    force: Force = False,
    init: Annotated[bool, _other("--init", help="Write a commented rubric for each game into the current folder.")] = False,
    init_gradescope: Annotated[
        Path | None, _gradescope("--init-gradescope", metavar="RUBRIC", help="Make the zip of an autograder.")
    ] = None,
    form: Annotated[
        str | None,
        _gradescope(
            "--format", metavar="gradescope", help="Grade one submission in an autograder's container, and write its results.json."
        ),
    ] = None,
    autograder: Annotated[
        Path | None,
        _gradescope("--autograder", metavar="DIR", help=f"The folder of the container.  (default: {HOME})"),
    ] = None,
    deadline: Annotated[
        float | None,
        _gradescope("--deadline", metavar="SECONDS", help=f"Begin no match later than this after the start.  (default: {_DEADLINE:g})"),
    ] = None,
    runs_per_day: Annotated[
        int | None,
        _gradescope("--max-runs-per-day", metavar="N", help="Grade at most N runs of a student in 24 hours.  (default: all)"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Mark submissions by a rubric: every test is played in the sandbox, and the marks can be repeated.

    After an interruption, run the same command again: it keeps all marks and continues.
    """
    looks = {"--roster": roster, "--layout": layout, "--missing-is-zero": missing_is_zero}
    begins = {"--rubric": rubric, "--isolation": isolation, **looks}
    marks = {**looks, "--after-due": after_due, "--gradebook": gradebook, "--column": column}
    modes = {
        "--init": init,
        "--rerun": rerun is not None,
        "--only": only is not None,
        "--init-gradescope": init_gradescope is not None,
        "--format": form is not None,
    }
    plays = {"--slots": workers.slots, "--cluster": workers.cluster}
    in_container = {"--deadline": deadline, "--max-runs-per-day": runs_per_day}
    _check_one(modes, submissions)
    _check_needed(modes, {"--autograder": autograder}, in_container)
    if init:
        check_none("--init takes no", {**begins, **marks, **plays, "--out": out})
        _init(as_json=as_json)
        return
    need_league("grade")
    if init_gradescope is not None:
        check_none("--init-gradescope takes no", {**begins, **marks, **plays})
        _make_zip(init_gradescope, out, deadline, runs_per_day, as_json=as_json)
        return
    if form is not None:
        check_none(f"--format {form} takes no", {**marks, **plays, "--isolation": isolation, "--out": out})
        _grade_one(form, autograder, rubric or Path(RUBRIC), submissions, deadline, runs_per_day, as_json=as_json)
        return
    from referee.grading.grade_class import Selection, grade_class
    from referee.grading.grading import is_begun

    _check_given(submissions, out, begins, gradebook, column)
    check_none("--only looks at one student, so there is no", {"--missing-is-zero": only is not None and missing_is_zero})
    is_kept = rubric is None and isolation is None and not Path(RUBRIC).exists() and out is not None and is_begun(out)
    found = None if submissions is None or is_kept else load_rubric(rubric, isolation)
    folder = out if out is not None else _default_folder(found)
    wanted = Selection(submissions, roster, only, rerun if submissions is not None else rerun or only, missing_is_zero, layout or "auto")
    inputs = [path for path in (submissions, rubric or Path(RUBRIC), roster, gradebook) if path is not None]
    _check_outputs(folder, inputs, gradebook, force=force)
    grades = grade_class(folder, found, wanted, Play(workers, is_quiet=quiet).all, say, after_due=after_due)
    _finish(grades, wanted.done(grades), after_due=after_due, gradebook=gradebook, column=column, as_json=as_json)


def _check_outputs(folder: Path, inputs: list[Path], gradebook: Path | None, *, force: bool) -> None:
    """Raise UsageError if a file of the marks is an input, or replaces a file that no grading wrote."""
    from referee.grading.gradebook import is_gradebook
    from referee.grading.grading import is_begun

    is_ours = is_begun(folder) or force
    for path in _outputs(folder):
        # The folder of the marks may be in that of the submissions, where it is no submission.
        check_output(path, no_mark, [each for each in inputs if path.is_dir() or each.is_file()], force=is_ours)
    if gradebook is not None:
        # A begun grading can have any file beside the marks.
        check_output(_filled(folder, gradebook), is_gradebook, inputs, force=force)


def _outputs(folder: Path) -> Iterator[Path]:
    """Yield the folders and files of the marks; of the students' folders, the files that are there."""
    from referee.grading import handout, outputs
    from referee.league.report_folder import PAGES, REPORT, VIEWER

    folders = [folder / name for name in (handout.STUDENTS, PAGES)]
    yield from (folder, *folders, *(path for each in folders for path in each.rglob("*") if path.is_file()))
    yield from (folder / name for name in (outputs.CSV, outputs.JSON, REPORT, VIEWER))


def _filled(folder: Path, gradebook: Path) -> Path:
    """Return the file into which a gradebook is filled."""
    return folder / f"gradebook-{gradebook.name}"


def _check_given(
    submissions: Path | None, out: Path | None, begins: Mapping[str, object], gradebook: Path | None, column: str | None
) -> None:
    """Something must be given to grade, and nothing that would have no effect."""
    if submissions is None:
        if out is None:
            raise UsageError(f"Say what to grade: {program()} grade SUBMISSIONS --rubric FILE --out DIR")
        check_none("Without SUBMISSIONS, the grading in --out continues as it was begun, so there is no", begins)
    if gradebook is None:
        check_none("Without --gradebook there is no", {"--column": column})
    elif not gradebook.is_file():
        raise UsageError(f"The gradebook {gradebook} does not exist, or is not a file.")


def _check_one(modes: Mapping[str, bool], submissions: Path | None) -> None:
    """At most one of the modes may be asked for; most of them take no submissions."""
    given = [name for name, is_asked in modes.items() if is_asked]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} are different tasks; run them one after the other.")
    if given and given[0] not in ("--rerun", "--only", "--format") and submissions is not None:
        raise UsageError(f"{given[0]} takes no SUBMISSIONS, but {submissions} was given.")


def _check_needed(modes: Mapping[str, bool], of_format: Mapping[str, object], in_container: Mapping[str, object]) -> None:
    """Options that belong to one task are given with it only."""
    if not modes["--format"]:
        check_none("Without --format there is no", of_format)
        if not modes["--init-gradescope"]:
            check_none("Without --format or --init-gradescope there is no", in_container)


def check_none(why: str, options: Mapping[str, object]) -> None:
    """None of these options may be given: it would have no effect. ``why`` begins the sentence."""
    given = next((name for name, value in options.items() if value not in (None, False)), None)
    if given is not None:
        raise UsageError(f"{why} {given}; leave it out.")


def load_rubric(path: Path | None, isolation: str | None) -> Rubric:
    """Return a rubric, at another level of isolation if one is given."""
    from referee.grading.rubric import load

    if isolation not in (None, "strict", "limits", "none"):
        raise UsageError(f"--isolation is {isolation!r:.60}, but must be strict, limits or none.")
    found = load(path or Path(RUBRIC))
    return found if isolation is None else found._replace(options=found.options.replace(isolation=isolation))


def _default_folder(rubric: Rubric | None) -> Path:
    from referee.league.teams import file_name

    assert rubric is not None
    return Path("matches/grades") / file_name(rubric.name)


def _init(*, as_json: bool) -> None:
    from referee.grading.templates import write_all

    paths = write_all()
    if as_json:
        put_json({"files": [str(path) for path in paths]})
        return
    put(*map(str, paths))
    say(f"Next:  {program()} check-rubric {paths[0]}")


def _make_zip(rubric: Path, out: Path | None, seconds: float | None, runs_per_day: int | None, *, as_json: bool) -> None:
    """Write the zip, and say what to do with it."""
    from referee.grading.autograder import init_zip

    made = init_zip(rubric, out or Path("autograder.zip"), runs_per_day=runs_per_day, seconds=_DEADLINE if seconds is None else seconds)
    if as_json:
        put_json({"file": str(made.path), "notes": list(made.notes)})
        return
    put(str(made.path))
    say(*made.notes)
    say("Next: upload it to Gradescope, at Configure Autograder of a programming assignment (docs/gradescope.md).")


def _grade_one(
    form: str, home: Path | None, rubric: Path, source: Path | None, seconds: float | None, runs_per_day: int | None, *, as_json: bool
) -> None:
    """Grade the submission in a container."""
    from referee.grading import container
    from referee.grading.gradescope import check_runs_per_day
    from referee.grading.pools import Deadline

    if form != FORMAT:
        raise UsageError(f"--format is {form!r:.60}, but must be {FORMAT}; without --format, {program()} grade grades a class.")
    check_runs_per_day(runs_per_day)
    deadline = Deadline(_DEADLINE if seconds is None else seconds)
    graded = container.run(home or HOME, rubric, deadline, source=source, runs_per_day=runs_per_day, report=say)
    if as_json:
        put_json({"results": str(graded.results)})
    else:
        put(str(graded.results))


class Play:
    """How matches are played. ``is_check``: only example bots play."""

    def __init__(self, workers: Workers, *, is_quiet: bool, is_check: bool = False) -> None:
        self._workers = workers
        self._is_check = is_check
        self._is_quiet = is_quiet

    def all(self, opened: OpenGrading) -> None:
        """Play what has no result yet."""
        from referee.cli.league_output import progress

        if not opened.store.counts().planned:
            return

        def note(level: str) -> None:
            opened.note_level(level)
            if level in (LIMITS, NONE) and not self._is_check:
                say(
                    f"warning: at isolation {level}, bots run as the user who grades: they can read the seed and other submissions, and "
                    "change marks. Grade programs that nobody has read with strict."
                )

        pool = open_pool(opened.plan.terms, opened.teams, opened.replays, opened.store, self._workers, say, note)
        try:
            with progress(opened.store, lambda *_: [], is_quiet=self._is_quiet) as watch:
                opened.run(pool, watch)
        finally:
            pool.close()


def _finish(grades: Grades, done: list[str], *, after_due: bool, gradebook: Path | None, column: str | None, as_json: bool) -> None:
    """Write the marks, and say what there is."""
    from referee.grading import outputs
    from referee.grading.grade_class import again
    from referee.grading.marks_text import marks_lines

    outputs.write(grades, after_due=after_due)
    if as_json:
        put_grades(grades)
        say(*grades.compared)
    else:
        put(*marks_lines(grades, columns(120), done))
        put(
            "",
            f"Next:  {grades.folder / 'report.html'} is the report; {grades.folder / 'students'} has a folder for each student.",
        )
    sys.stdout.flush()
    if gradebook is not None:
        _fill(gradebook, grades, column, after_due=after_due)
    if grades.is_complete:
        return
    count = sum(not student.is_complete for student in grades.students)
    text = (
        f"The marks of {counted(count, 'student')} are not complete: matches could not be played, through no fault of the "
        f"{'submission' if count == 1 else 'submissions'}. Play them again: {again(grades.folder)}"
    )
    if as_json:
        # The marks are the one object on stdout.
        say(f"referee: {text}")
        raise typer.Exit(MarksIncomplete.exit_code)
    raise MarksIncomplete(text)


def put_grades(grades: Grades) -> None:
    """Print the marks as JSON."""
    from referee.grading import handout, tables

    put_json(json.loads(tables.grades_json(grades, handout.folder_names(grades.students))))


def _fill(gradebook: Path, grades: Grades, column: str | None, *, after_due: bool) -> None:
    """Fill an exported gradebook, and say which marks are not in it."""
    from referee.grading import gradebook as gradebooks

    written = _filled(grades.folder, gradebook)
    filled = gradebooks.fill(gradebook, grades, written, column, after_due=after_due)
    say(*(*filled.notes, *filled.refused))
    if filled.unmatched:
        say(f"Not in the gradebook: {', '.join(filled.unmatched)}.")
    say(f"{counted(len(filled.written), 'student')} in {filled.kind}'s column '{filled.column}'. Written: {written}")
