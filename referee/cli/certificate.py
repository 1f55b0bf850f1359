"""certificate, and what ``grade --reveal`` and ``grade --check-reveal`` do: others can check the results of gradings and leagues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from referee.cli.app import put, put_json
from referee.errors import UsageError
from referee.support.words import program

if TYPE_CHECKING:
    from referee.grading.published import CheckReport


def _show(found: CheckReport, *, as_json: bool) -> None:
    """Print the report of a check. Exit with status 1 if there is a problem."""
    if as_json:
        put_json(found.to_json())
    else:
        put(*found.lines())
    if not found.ok:
        raise typer.Exit(1)


def reveal_grading(folder: Path, *, as_json: bool) -> None:
    """Write ``reveal.json`` into the folder of a grading and say how it is checked. Raises UsageError."""
    from referee.grading.family import committed
    from referee.grading.grading import open_grading
    from referee.grading.reveal import reveal

    with open_grading(folder) as opened:
        path, digest = reveal(opened.rubric, folder), committed(opened.rubric)
    if as_json:
        put_json({"file": str(path), "hash": digest})
        return
    put(f"{path} has the seed and all starts, also the hidden ones: publish it after the deadline only.")
    put(f"Everybody can check it:  {program()} grade --check-reveal {path.name} --hash {digest}")


def check_revealed(file: Path | None, digest: str | None, *, as_json: bool) -> None:
    """Check a ``reveal.json`` against the hash that was published before the deadline. Exit with status 1 if they differ. Raises UsageError."""
    if file is None:
        raise UsageError(f"Name the published file: {program()} grade --check-reveal reveal.json --hash HASH")
    from referee.grading.reveal import check_reveal

    _show(check_reveal(file, digest), as_json=as_json)
