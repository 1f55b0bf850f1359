"""check-rubric: grade the example bots by a rubric, or print the starts that follow from it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, columns, command, put, put_json, say
from referee.cli.front import GRADERS
from referee.cli.grade import RUBRIC, Play, check_none, load_rubric, put_grades
from referee.cli.options import with_workers
from referee.errors import UsageError
from referee.league.workers import Workers
from referee.support.packages import need_league

if TYPE_CHECKING:
    from referee.grading.values import Grades, Rubric


@app.command("check-rubric", rich_help_panel=GRADERS)
@command
@with_workers
def check_rubric(
    *,
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The rubric, or with --starts a published commitment.toml.")] = Path(
        RUBRIC
    ),
    starts: Annotated[bool, typer.Option("--starts", help="Print the starts that follow from FILE, and play nothing.")] = False,
    isolation: Annotated[
        str | None, typer.Option("--isolation", metavar="LEVEL", help="strict, limits or none, in place of the rubric's.")
    ] = None,
    workers: Workers,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Grade all example bots by a rubric, and print their marks and the commitment to the starts. With --starts, print every start."""
    need_league("check-rubric")
    from referee.league.commitment import is_commitment

    if starts:
        check_none(
            "--starts plays nothing, so it takes no", {"--isolation": isolation, "--slots": workers.slots, "--cluster": workers.cluster}
        )
        _put_starts(file, as_json=as_json)
        return
    if is_commitment(file):
        raise UsageError(f"{file} is a commitment, not a rubric; add --starts to see the starts that follow from it.")
    _check(load_rubric(file, isolation), Play(workers, is_quiet=quiet, is_check=True), as_json=as_json)


def _put_starts(file: Path, *, as_json: bool) -> None:
    from referee.grading.rubric import commitment_of
    from referee.league.commitment import GRADING, is_commitment, read, starts_json, starts_lines

    if is_commitment(file):
        commitment, digest = read(file, GRADING)
    else:
        rubric = load_rubric(file, None)
        if rubric.is_seed_drawn:
            raise UsageError(f"The rubric {file} has no seed: its starts are drawn when a grading begins.")
        commitment, digest = commitment_of(rubric), ""
    if as_json:
        put_json({"file": str(file), **({"sha256": digest} if digest else {}), **starts_json(commitment)})
        return
    put(*([f"sha256 {digest}"] if digest else []), *starts_lines(commitment))


def _check(rubric: Rubric, play: Play, *, as_json: bool) -> None:
    """Grade all example bots in a folder that is removed afterwards."""
    from referee.grading.grade_class import graded_examples
    from referee.grading.marks_text import marks_lines
    from referee.grading.rubric import commitment_of
    from referee.league.commitment import digest, no_commitment

    with graded_examples(rubric, play.all) as grades:
        if as_json:
            put_grades(grades)
            return
        for test in rubric.tests:
            line = f"{test.name}: {', '.join(_example_marks(grades, test.number))}"
            put(*textwrap.wrap(line, max(columns(120), 30), subsequent_indent="  ", break_on_hyphens=False))
        put(*marks_lines(grades, columns(120)))
    commitment = commitment_of(rubric)
    if commitment.is_guessable:
        say(no_commitment(commitment))
    elif rubric.is_seed_drawn:
        say("The rubric has no seed, so these starts were drawn for this check alone. A grading draws its own when it begins.")
    else:
        say(f"commitment to the starts, to be published with the assignment: {digest(commitment.text())}")


def _example_marks(grades: Grades, at: int) -> list[str]:
    from referee.grading.escaping import number

    return [f"{student.submission.student} {number(student.tests[at].points)}" for student in grades.students]
