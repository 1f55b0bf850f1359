"""grade: mark a folder of submissions by a rubric."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import GRADERS, JsonFlag, app, columns, command, program, put, put_json, say
from referee.cli.grade_gradescope import HOME, Autograder, DeadlineSeconds, Format, InitGradescope, RunsPerDay, grade_one, make_zip
from referee.cli.pages import need_league
from referee.cli.workers import Workers, open_pool, with_workers
from referee.errors import RefereeError, UsageError
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.grading.grading import OpenGrading
    from referee.grading.values import Grades, Rubric
    from referee.league.values import MatchRecord, MatchTask

OTHER = "Instead of grading"


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
            show_default=False,
        ),
    ] = None,
    rubric: Annotated[Path, typer.Option("--rubric", metavar="FILE", help="The rubric.")] = Path("rubric.toml"),
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the marks go; an unfinished grading there goes on.", show_default=False),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            "--roster", metavar="FILE", help="A CSV file of all students; those without a submission get a row.", show_default=False
        ),
    ] = None,
    rerun: Annotated[
        str | None, typer.Option("--rerun", metavar="STUDENT", help="Play all matches of one student again.", show_default=False)
    ] = None,
    after_due: Annotated[bool, typer.Option("--after-due", help="Show students the tests that are shown after the due date.")] = False,
    gradebook: Annotated[
        Path | None,
        typer.Option("--gradebook", metavar="FILE", help="Fill a gradebook that Canvas or Moodle exported.", show_default=False),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The gradebook's column.  (default: the rubric's name)", show_default=False),
    ] = None,
    isolation: Annotated[
        str | None, typer.Option("--isolation", metavar="LEVEL", help="strict or limits, in place of the rubric's.", show_default=False)
    ] = None,
    workers: Workers,
    check: Annotated[
        bool, typer.Option("--check-rubric", help="Play all example bots through the rubric, and print their marks.", rich_help_panel=OTHER)
    ] = False,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented rubric for each game into the current folder.", rich_help_panel=OTHER)
    ] = False,
    init_gradescope: InitGradescope = None,
    form: Format = None,
    autograder: Autograder = HOME,
    deadline: DeadlineSeconds = 540.0,
    runs_per_day: RunsPerDay = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Mark submissions by a rubric: every test is played in the sandbox, and the marks can be repeated.

    Run the same command again after an interruption: what is marked stays marked.
    """
    _check_one(
        {"--check-rubric": check, "--init": init, "--rerun": rerun, "--init-gradescope": init_gradescope},
        submissions,
    )
    if init:
        _init()
        return
    need_league("grade")
    if init_gradescope is not None:
        make_zip(init_gradescope, out, deadline, runs_per_day)
        return
    if form is not None:
        grade_one(form, autograder, rubric, submissions, deadline, runs_per_day)
        return
    play = _Play(workers, is_quiet=quiet)
    if check:
        _check_rubric(_load(rubric if submissions is None else submissions, isolation), play, as_json=as_json)
        return
    if submissions is None and out is None:
        raise UsageError(f"Say what to grade: {program()} grade SUBMISSIONS --rubric FILE --out DIR")
    found = None if submissions is None else _load(rubric, isolation)
    folder = out if out is not None else _default_folder(found)
    grades = _grade(folder, found, submissions, roster, rerun, play)
    _finish(grades, after_due=after_due, gradebook=gradebook, column=column, as_json=as_json)


def _check_one(modes: Mapping[str, object], submissions: Path | None) -> None:
    """At most one of the modes may be asked for; most of them take no submissions."""
    given = [name for name, value in modes.items() if value]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} are different tasks; run them one after the other.")
    if given and given[0] not in ("--rerun", "--check-rubric") and submissions is not None:
        raise UsageError(f"{given[0]} takes no SUBMISSIONS, but {escape(str(submissions), 100)} was given.")


def _load(path: Path, isolation: str | None) -> Rubric:
    from referee.grading.rubric import load

    if isolation not in (None, "strict", "limits", "none"):
        raise UsageError(f"--isolation is {escape(repr(isolation), 60)}, but must be strict, limits or none.")
    found = load(path)
    return found if isolation is None else found._replace(isolation=isolation)


def _default_folder(rubric: Rubric | None) -> Path:
    from referee.league.teams import file_name

    assert rubric is not None
    return Path("matches/grades") / file_name(rubric.name)


def _init() -> None:
    from referee.games import registry
    from referee.grading import templates

    paths = {name: Path(f"rubric-{name}.toml") for name in registry.names()}
    for path in paths.values():
        if path.exists():
            raise UsageError(f"{path} is there already, and its seed may be in use; move it away first.")
    for name, path in paths.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(templates.text(name, path.name))
        put(str(path))
    say(f"Next:  {program()} grade --check-rubric --rubric rubric-{registry.names()[0]}.toml")


class _Play:
    """How matches are played."""

    def __init__(self, workers: Workers, *, is_quiet: bool) -> None:
        self._workers = workers
        self._is_quiet = is_quiet

    def all(self, opened: OpenGrading, on_match: Callable[[], None] | None = None) -> None:
        """Play what has no result yet. ``on_match`` is called after every match."""
        from referee.cli.league_progress import progress

        if not opened.store.counts().planned:
            return
        pool = open_pool(opened.plan.terms, opened.teams, opened.replays, opened.store, self._workers)
        try:
            with progress(opened.store, lambda *_: [], is_quiet=self._is_quiet) as watch:
                opened.run(pool, watch)
        finally:
            pool.close()


def _grade(folder: Path, rubric: Rubric | None, submissions: Path | None, roster: Path | None, rerun: str | None, play: _Play) -> Grades:
    from referee.grading import family, outputs
    from referee.grading.grading import drop_copies, new_copies, open_grading
    from referee.grading.submissions import collect

    with open_grading(folder, rubric) as opened:
        if submissions is not None:
            copies = new_copies(folder)
            for text in opened.take(collect(submissions, copies, opened.seats, roster)):
                say(text)
            drop_copies(folder, copies)
        else:
            opened.retry()
        opened.check_files()
        if rerun is not None:
            opened.rerun(rerun)
        say(
            f"{escape(opened.rubric.name, 100)}: {len(opened.submissions):,} students, {opened.store.counts().planned:,} matches to play, in {folder}"
        )
        say(f"sha256 of the seed, to be published with the assignment: {family.seed_hash(opened.rubric.seed)}")
        try:
            play.all(opened)
        except (KeyboardInterrupt, SystemExit, RefereeError):
            outputs.write(opened.grades())
            found = opened.store.counts()
            say(
                f"{found.done:,} of {found.total:,} matches are done and stored. Go on:  {program()} grade --out {shlex.quote(str(folder))}"
            )
            raise
        return opened.grades()


def _finish(grades: Grades, *, after_due: bool, gradebook: Path | None, column: str | None, as_json: bool) -> None:
    """Write the marks, and say what there is."""
    from referee.grading import gradebook as gradebooks
    from referee.grading import outputs, tables

    outputs.write(grades, after_due=after_due)
    if gradebook is not None:
        written = grades.folder / f"gradebook-{gradebook.name}"
        filled = gradebooks.fill(gradebook, grades, written, column, after_due=after_due)
        for text in filled.notes:
            say(text)
        say(f"Written: {written}")
    if as_json:
        put_json(json.loads(tables.grades_json(grades, {})))
    else:
        _print(grades)
        put(
            f"\nNext:  {escape(str(grades.folder / 'report.html'), 200)} is the report; {grades.folder / 'students'} has a folder for each student."
        )
    sys.stdout.flush()
    if not grades.is_complete:
        open_ones = sum(not student.is_complete for student in grades.students)
        raise MarksIncomplete(
            f"The marks of {open_ones:,} {'student is' if open_ones == 1 else 'students are'} not complete: matches could not be played, through no "
            f"fault of the submissions. Play them again: {program()} grade --out {shlex.quote(str(grades.folder))}"
        )


def _print(grades: Grades) -> None:
    """The marks as a table, and how many were faulty and why."""
    from referee.grading.marks import shown_points

    maximum = shown_points(grades.rubric.maximum)
    wide = max([12, *(min(30, len(escape(student.submission.student, 200))) for student in grades.students)])
    put(f"{'student':<{wide}} {'points':>8} of {maximum}  status")
    for student in grades.students:
        name = escape(student.submission.student, 200)
        points = shown_points(student.points) if student.is_complete else "?"
        line = f"{name[:wide]:<{wide}} {points:>8} {'':<{len(maximum) + 3}}  {student.status}"
        reason = escape(student.reason, 300)
        room = max(20, columns(120) - len(line) - 2)
        put(f"{line}  {reason if len(reason) <= room else reason[: room - 1] + '…'}".rstrip())
    found = Counter(student.status for student in grades.students)
    put(f"\n{len(grades.students):,} students: {', '.join(f'{count:,} {status}' for status, count in sorted(found.items()))}")
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
        put(f"Faults: {', '.join(f'{kind} ({count:,} {_students(count)})' for kind, count in kinds.most_common())}")


def _students(count: int) -> str:
    return "student" if count == 1 else "students"


def _fault_kinds(student: str, matches: Sequence[tuple[MatchTask, MatchRecord]]) -> set[str]:
    return {kind for task, record in matches for seat, kind in record.fault_kinds.items() if task.seats[seat] == student}


def _check_rubric(rubric: Rubric, play: _Play, *, as_json: bool) -> None:
    """Grade all example bots in a folder that is removed afterwards."""
    from referee.grading import tables
    from referee.grading.grading import open_grading
    from referee.grading.rubric import example_submissions
    from referee.grading.values import Submission

    examples = [Submission(name, name, Path.cwd(), players) for name, players in example_submissions(rubric)]
    if not examples:
        raise UsageError(f"The rubric is valid, but no example bot plays every seat that it tests in {rubric.game}.")
    folder = Path(tempfile.mkdtemp(prefix="referee-rubric-"))
    try:
        with open_grading(folder, rubric) as opened:
            opened.take(examples)
            play.all(opened)
            grades = opened.grades()
        if as_json:
            put_json(json.loads(tables.grades_json(grades, {})))
            return
        for test in rubric.tests:
            put(f"{escape(test.name, 100)}: " + ", ".join(_example_marks(grades, test.number)))
        _print(grades)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _example_marks(grades: Grades, number: int) -> list[str]:
    from referee.grading.marks import shown_points

    return [f"{escape(student.submission.student, 60)} {shown_points(student.tests[number].points)}" for student in grades.students]
