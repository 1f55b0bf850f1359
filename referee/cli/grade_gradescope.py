"""The part of grade that makes and runs a Gradescope autograder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.app import put, put_json, say
from referee.errors import UsageError
from referee.support.words import program

_PANEL = "Gradescope"
#: The folder of Gradescope's container.
HOME = Path("/autograder")
FORMAT = "gradescope"
_DEADLINE = 540.0

InitGradescope = Annotated[
    Path | None,
    typer.Option("--init-gradescope", metavar="RUBRIC", help="Make the zip of an autograder.", rich_help_panel=_PANEL, show_default=False),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="gradescope",
        help="Grade one submission in an autograder's container, and write its results.json.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
Autograder = Annotated[
    Path | None,
    typer.Option(
        "--autograder",
        metavar="DIR",
        help=f"The folder of the container.  (default: {HOME})",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
DeadlineSeconds = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help=f"Begin no match later than this after the start.  (default: {_DEADLINE:g})",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
RunsPerDay = Annotated[
    int | None,
    typer.Option(
        "--max-runs-per-day",
        metavar="N",
        help="Grade at most N runs of a student in 24 hours.  (default: all)",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]


def make_zip(rubric: Path, out: Path | None, seconds: float | None, runs_per_day: int | None, *, as_json: bool) -> None:
    """Write the zip, and say what to do with it."""
    from referee.grading.autograder import init_zip

    made = init_zip(rubric, out or Path("autograder.zip"), runs_per_day=runs_per_day, seconds=_DEADLINE if seconds is None else seconds)
    if as_json:
        put_json({"file": str(made.path), "notes": list(made.notes)})
        return
    put(str(made.path))
    say(*made.notes)
    say("Next: upload it to Gradescope, at Configure Autograder of a programming assignment (docs/gradescope.md).")


def grade_one(
    form: str, home: Path | None, rubric: Path, source: Path | None, seconds: float | None, runs_per_day: int | None, *, as_json: bool
) -> None:
    """Grade the submission in a container."""
    from referee.grading import container
    from referee.grading.gradescope import Deadline, check_runs_per_day

    if form != FORMAT:
        raise UsageError(f"--format is {form!r:.60}, but must be {FORMAT}; without --format, {program()} grade grades a class.")
    check_runs_per_day(runs_per_day)
    deadline = Deadline(_DEADLINE if seconds is None else seconds)
    graded = container.run(home or HOME, rubric, deadline, source=source, runs_per_day=runs_per_day, say=say)
    if as_json:
        put_json({"results": str(graded.results)})
    else:
        put(str(graded.results))
