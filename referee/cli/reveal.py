"""check-reveal, and what ``referee grade --reveal`` does: publish the seed of a rubric after the deadline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.app import JsonFlag, app, command, program, put, put_json
from referee.cli.front import GRADERS
from referee.cli.pages import need_league
from referee.wire.escape import escape


def reveal_grading(folder: Path, *, as_json: bool) -> None:
    """Write ``reveal.json`` into the folder of a grading and say how it is checked. Raises UsageError."""
    need_league("A grading")
    from referee.grading.family import seed_hash
    from referee.grading.grading import open_grading
    from referee.grading.reveal import reveal

    with open_grading(folder) as opened:
        path, digest = reveal(opened.rubric, folder), seed_hash(opened.rubric.seed)
    if as_json:
        put_json({"file": str(path), "seed_sha256": digest})
        return
    put(f"{escape(str(path), 200)} has the seed and all starts, also the hidden ones: publish it after the deadline only.")
    put(f"Everybody can check it:  {program()} check-reveal {path.name} --hash {digest}")


@app.command("check-reveal", rich_help_panel=GRADERS)
@command
def check_reveal(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The reveal.json.", show_default=False)],
    digest: Annotated[
        str | None,
        typer.Option("--hash", metavar="SHA256", help="The hash of the seed that was published with the assignment.", show_default=False),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check a seed that was revealed after the deadline against its published hash, and draw all starts again from it.

    Exit status 1 if there is a problem.
    """
    need_league("A reveal")
    from referee.grading.reveal import check_reveal as check

    found = check(file, digest)
    if as_json:
        put_json({**found.to_json(), "is_by_hash": digest is not None and found.ok})
    else:
        for problem in found.problems:
            put(problem)
        count = f"{found.starts:,} start{'s' * (found.starts != 1)} in {found.tests:,} test{'s' * (found.tests != 1)}"
        put(f"{escape(found.name, 100)}: {count}, {found.hidden:,} of them hidden")
        put(f"SHA-256 of the seed: {found.seed_sha256}")
        if found.ok:
            known = "The seed is the one whose hash was published, and it gives" if digest is not None else "The seed gives"
            put(f"Good. {known} every start in the file.")
            put("The hash does not cover the number of tests and starts: compare it with the students' reports.")
            if digest is None:
                put("Compare the hash above with the one that was published with the assignment, or give it with --hash.")
    if not found.ok:
        raise typer.Exit(1)
