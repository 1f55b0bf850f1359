"""check-reveal, and what ``referee grade --reveal`` does: publish the seed of a rubric after the deadline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.app import JsonFlag, app, command, program, put, put_json
from referee.cli.front import GRADERS
from referee.cli.pages import need_league
from referee.wire.escape import escape

#: What a check without a problem has shown, by what the published hash covers.
_PROVED = {
    "starts": "Everything that decides a start is as it was when the hash was published, and it gives every start in the file.",
    "seed": (
        "The seed is the one whose hash was published, and it gives every start in the file.\n"
        "The hash has the format of earlier versions, which covers the seed alone. The game and its version, the rules, the settings, and the "
        "names and numbers of the tests and starts may have been chosen after it was published: compare them with the assignment."
    ),
    None: (
        "The seed gives every start in the file.\n"
        "Compare the hash above with the one that was published with the assignment, or give that one with --hash."
    ),
}


def reveal_grading(folder: Path, *, as_json: bool) -> None:
    """Write ``reveal.json`` into the folder of a grading and say how it is checked. Raises UsageError."""
    need_league("A grading")
    from referee.grading.family import committed
    from referee.grading.grading import open_grading
    from referee.grading.reveal import reveal

    with open_grading(folder) as opened:
        path, digest = reveal(opened.rubric, folder), committed(opened.rubric)
    if as_json:
        put_json({"file": str(path), "hash": digest})
        return
    put(f"{escape(str(path), 200)} has the seed and all starts, also the hidden ones: publish it after the deadline only.")
    put(f"Everybody can check it:  {program()} check-reveal {path.name} --hash {digest}")


@app.command("check-reveal", rich_help_panel=GRADERS)
@command
def check_reveal(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The reveal.json.", show_default=False)],
    digest: Annotated[
        str | None,
        typer.Option("--hash", metavar="HASH", help="The hash that was published with the assignment.", show_default=False),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check the seed and the starts that were revealed after the deadline against the hash that was published before it.

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
        put(f"hash: {found.hash}")
        if found.ok:
            put(f"Good. {_PROVED[found.hash_covers]}")
    if not found.ok:
        raise typer.Exit(1)
