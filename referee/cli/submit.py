"""submit: hand in a bot to the server of an arena."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import AUTHORS, JsonFlag, app, command, put, put_json
from referee.cli.terminal import StatusLine
from referee.errors import UsageError
from referee.support.words import program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.arena.client import ArenaClient

#: The variable with a team's token.
_TOKEN = "REFEREE_TOKEN"  # noqa: S105 - the name of a variable
#: Seconds between two requests for the state of the check.
_PAUSE = 0.3
#: Seconds without an answer from the server after which the command gives up.
_PATIENCE = 60.0
_ENDS = ("accepted", "refused")


@app.command("submit", rich_help_panel=AUTHORS)
@command
def submit(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of the arena's server.")],
    bot: Annotated[Path, typer.Argument(metavar="BOT", help="The bot: a file, a folder, or an archive of one.")],
    token: Annotated[str | None, typer.Option("--token", metavar="T", help=f"Your team's token.  (default: the variable {_TOKEN})")] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What is new in this version.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Show the check while it runs, and its result.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Hand in a bot as your team's new version to an arena that referee arena serve serves.

    Exit status 1 if the version is refused, which --wait waits for.
    """
    from referee.arena.client import ArenaClient
    from referee.handins.packing import packed

    if "://" not in url and str(bot).startswith(("http:/", "https:/")):
        raise UsageError(f"The address comes first: {program()} submit {str(bot).replace(':/', '://', 1)} {shlex.quote(url)}")
    key = os.environ.get(_TOKEN, "") if token is None else token
    if not key:
        raise UsageError(f"Your team's token is missing: add --token T, or set the variable {_TOKEN}.")
    if not (key.isascii() and key.isprintable()):
        raise UsageError("The token contains an invalid character. Copy it from your invitation.")
    server = ArenaClient.of(url, key)
    name, data = packed(bot)
    submission = server.hand_in(name, data, note)
    if wait:
        submission = _waited(server, submission["id"], url)
    if as_json:
        put_json(submission)
    else:
        _put(submission, url)
    if submission["status"] == "refused":
        raise typer.Exit(1)


def _waited(server: ArenaClient, number: int, url: str) -> dict[str, Any]:
    """Return a submission with its verdict. Repeat requests without an answer for a minute, because the server may be restarting."""
    until = monotonic() + _PATIENCE
    with contextlib.closing(StatusLine()) as line:
        while True:
            try:
                submission = server.submission(number)
            except UsageError as error:
                if monotonic() > until:
                    raise UsageError(f"{error} Submission {number} was received; see its result later at {_page(url, number)}") from None
                line.show("The server doesn't answer; trying again.")
            else:
                if submission["status"] in _ENDS:
                    return submission
                until = monotonic() + _PATIENCE
                line.show(f"{submission['status']}  {submission['report'].get('progress', '')}")
            time.sleep(_PAUSE)


def _page(url: str, number: int) -> str:
    return f"{url.rstrip('/')}/submissions/{number}"


def _put(submission: Mapping[str, Any], url: str) -> None:
    report = submission.get("report", {})
    if submission["status"] not in _ENDS:
        put(f"Submission {submission['id']} is {submission['status']}. Result of the check: {_page(url, submission['id'])}")
        return
    number = f"version {submission['version']}" if submission["version"] else "the version"
    if submission["status"] == "accepted":
        put(f"{submission['team']}: {number} is accepted, and active.")
        return
    put(f"{submission['team']}: {number} is refused. {report.get('reason', '')}")
    for failure in report.get("failed", ()):
        text = f"{failure['seat']}: {failure['name']}: {failure['text']}" + (f"  {failure['remedy']}" if failure["remedy"] else "")
        put(f"  {text}")
