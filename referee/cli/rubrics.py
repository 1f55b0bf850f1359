"""grade init, check-rubric and gradescope: write rubrics, test them on the example bots, and grade in Gradescope's containers."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, columns, command, put, put_json, put_more, say
from referee.cli.grade import RUBRIC, RubricIsolation, grade, load_rubric, player, put_grades
from referee.cli.options import SeriesOptions
from referee.errors import UsageError
from referee.grading.escaping import number
from referee.grading.marks_text import marks_lines, notes_lines
from referee.support.packages import need_league
from referee.support.words import program

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.grading.grading import OpenGrading
    from referee.grading.values import Grades, Rubric

#: The root folder of an autograder in Gradescope's container.
HOME = Path("/autograder")
#: Gradescope stops a container after 600 seconds; the last match begins a minute before.
_DEADLINE = 540.0


@grade.command("init")
@command
def init(
    game: Annotated[str | None, typer.Option("--game", metavar="GAME", help="Write only the rubric of this game.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a commented rubric for each game into the current folder. Nothing is overwritten."""
    from referee.grading.templates import write_all

    paths = write_all(game)
    if as_json:
        put_json({"files": [str(path) for path in paths]})
        return
    put(*map(str, paths))
    say(f"Next:  {program()} grade check-rubric {paths[0]}")


@grade.command("gradescope")
@command
def gradescope(
    *,
    rubric: Annotated[
        Path | None,
        typer.Argument(metavar="RUBRIC", help=f"The rubric.  (default: {RUBRIC}; in a container, the one of the zip)"),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The zip to write.  (default: autograder.zip)")] = None,
    is_in_container: Annotated[
        bool,
        typer.Option("--in-container", help="Grade the hand-in in an autograder's container, and write its results.json instead of a zip."),
    ] = False,
    autograder: Annotated[
        Path | None, typer.Option("--autograder", metavar="DIR", help=f"The folder of the container.  (default: {HOME})")
    ] = None,
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", help="Begin no match later than this after the start.")
    ] = _DEADLINE,
    runs_per_day: Annotated[
        int | None,
        typer.Option("--max-runs-per-day", metavar="N", help="Grade at most N runs of a student in 24 hours.  (default: all)"),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make the zip of an autograder for Gradescope, which grades each hand-in in a container of its own."""
    need_league("grade")
    from referee.grading import autograder as zips
    from referee.grading import container
    from referee.grading.gradescope import check_runs_per_day
    from referee.grading.pools import Deadline

    if is_in_container:
        if out is not None:
            raise UsageError("--out and --in-container can't be used together: --in-container writes no zip.")
        check_runs_per_day(runs_per_day)
        home = autograder or HOME
        results = container.run(home, rubric or home / zips.RUBRIC_PLACE, Deadline(deadline), runs_per_day=runs_per_day, report=say).results
        if as_json:
            put_json({"results": str(results)})
        else:
            put(str(results))
        return
    if autograder is not None:
        raise UsageError("--autograder is the folder of a container; add --in-container to grade in it.")
    made = zips.init_zip(rubric or Path(RUBRIC), out or Path("autograder.zip"), runs_per_day=runs_per_day, seconds=deadline)
    if as_json:
        put_json({"file": str(made.path), "notes": list(made.notes)})
        return
    put(str(made.path))
    say(*made.notes)
    say("Next: upload it to Gradescope, at Configure Autograder of a programming assignment (docs/gradescope.md).")


@grade.command("check-rubric")
@command
def check_rubric(
    *,
    file: Annotated[Path, typer.Argument(metavar="RUBRIC", help="The rubric, or with --starts a published commitment.toml.")] = Path(
        RUBRIC
    ),
    starts: Annotated[bool, typer.Option("--starts", help="Print the starts that follow from the file, and play nothing.")] = False,
    isolation: RubricIsolation = None,
    series: SeriesOptions,
) -> None:
    """Grade all example bots by a rubric, and print their marks and the commitment to the starts. With --starts, print every start."""
    need_league("grade")
    from referee.grading.rubric import check_there
    from referee.tournament.commitment import is_commitment

    check_there(file)
    if starts:
        if (series.slots, series.cluster, isolation) != (None, None, None):
            raise UsageError("--starts only prints; leave out --slots, --cluster and --isolation.")
        _put_starts(file, as_json=series.as_json)
        return
    if is_commitment(file):
        raise UsageError(f"{file} is a commitment, not a rubric; add --starts to see the starts that follow from it.")
    _check(load_rubric(file, isolation), player(series, is_check=True), as_json=series.as_json)


def _put_starts(file: Path, *, as_json: bool) -> None:
    from referee.grading.rubric import commitment_of
    from referee.tournament.commitment import GRADING, is_commitment, read, starts_json, starts_lines

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


def _check(rubric: Rubric, play: Callable[[OpenGrading], None], *, as_json: bool) -> None:
    """Grade all example bots in a folder that is removed afterwards."""
    from referee.grading.grade_class import graded_examples
    from referee.grading.rubric import commitment_of
    from referee.tournament.commitment import digest, no_commitment

    with graded_examples(rubric, play) as grades:
        if as_json:
            put_grades(grades)
            return
        for test in rubric.tests:
            line = f"{test.name}: {', '.join(_example_marks(grades, test.number))}"
            put_more(*textwrap.wrap(line, max(columns(120), 30), subsequent_indent="  ", break_on_hyphens=False))
        put(*marks_lines(grades, columns(120)))
        put_more("", *notes_lines(grades))
    commitment = commitment_of(rubric)
    if commitment.is_guessable:
        say(no_commitment(commitment))
    elif rubric.is_seed_drawn:
        say("The rubric has no seed, so these starts were drawn only for this check. A grading draws its own when it begins.")
    else:
        say(f"commitment to the starts, to be published with the assignment: {digest(commitment.text())}")


def _example_marks(grades: Grades, at: int) -> list[str]:
    return [f"{student.hand_in.student} {number(student.tests[at].points)}" for student in grades.students]
