"""submit: hand in a bot to the server of an arena."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import secrets
import ssl
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import typer

from referee.cli.app import JsonFlag, app, command, put, put_json
from referee.cli.front import AUTHORS
from referee.cli.terminal import StatusLine
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The variable with a team's token.
_TOKEN = "REFEREE_TOKEN"  # noqa: S105 - the name of a variable
#: How long the server may take for an answer, and how often it is asked how far the check is, in seconds.
_PATIENCE, _PAUSE = 120.0, 0.3
#: The most bytes of an answer.
_MOST_ANSWER = 4 << 20
_ENDS = ("accepted", "refused")


@app.command("submit", rich_help_panel=AUTHORS)
@command
def submit(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of the arena's server.", show_default=False)],
    bot: Annotated[Path, typer.Argument(metavar="BOT", help="The bot: a file, a folder, or an archive of one.", show_default=False)],
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="T", help=f"Your team's token.  (default: the variable {_TOKEN})", show_default=False),
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What is new in this version.", show_default=False)] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Show the check while it runs, and what it found.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Hand in a bot as your team's new version to an arena that referee arena serve serves.

    Exit status 1 if the version is refused, which --wait waits for.
    """
    given = os.environ.get(_TOKEN, "") if token is None else token
    if not given:
        raise UsageError(f"Say who you are: --token T, or set the variable {_TOKEN} to your team's token.")
    if not (given.isascii() and given.isprintable()):
        raise UsageError("The token has characters that no token has; copy it from your invitation.")
    server = _Server.of(url, given)
    name, data = _packed(bot)
    found = server.hand_in(name, data, note)
    if wait:
        found = _waited(server, found["id"], is_quiet=as_json)
    if as_json:
        put_json(found)
    else:
        _put(found, url)
    if found["status"] == "refused":
        raise typer.Exit(1)


def _waited(server: _Server, number: int, *, is_quiet: bool) -> dict[str, Any]:
    line = StatusLine(is_quiet=is_quiet)
    try:
        while (found := server.submission(number))["status"] not in _ENDS:
            line.show(f"{found['status']}  {found['report'].get('progress', '')}")
            time.sleep(_PAUSE)
    finally:
        line.end()
    return found


def _put(found: Mapping[str, Any], url: str) -> None:
    report = found.get("report", {})
    if found["status"] not in _ENDS:
        put(f"Submission {found['id']} is {found['status']}. See what the check finds: {url.rstrip('/')}/submissions/{found['id']}")
        return
    number = f"version {found['version']}" if found["version"] else "the version"
    if found["status"] == "accepted":
        put(f"{found['team']}: {number} is accepted, and active.")
        return
    put(f"{found['team']}: {number} is refused. {report.get('reason', '')}")
    for one in report.get("failed", ()):
        text = f"{one['seat']}: {one['name']}: {one['text']}" + (f"  {one['remedy']}" if one["remedy"] else "")
        put(f"  {text}")


def _packed(bot: Path) -> tuple[str, bytes]:
    """Return what is sent of a bot, with its name: a file or an archive as it is, a folder as an archive of the files that belong to it."""
    from referee.isolation import contents
    from referee.isolation.submission import MOST_BYTES

    shown = str(bot)
    if not bot.exists():
        raise UsageError(f"There is no file or folder {shown}; name the bot's file, its folder or an archive of it.")
    try:
        if not bot.is_dir():
            if bot.stat().st_size > MOST_BYTES:
                raise UsageError(f"{shown} has more than {MOST_BYTES >> 20} MiB; hand in the bot's own files alone.")
            return bot.name, bot.read_bytes()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, entry in contents.entries(str(bot), bot.name).items():
                if entry.kind not in (contents.FILE, contents.EXECUTABLE, contents.FOLDER):
                    raise UsageError(f"{shown} has a link or another thing that is no file: {path}. Put a copy there.")
                archive.add(bot / path, path, recursive=False, filter=_anonymous)
    except OSError as error:
        raise UsageError(f"{error.filename or bot} can't be read: {error.strerror or error}.") from None
    return f"{bot.absolute().name}.tar.gz", packed.getvalue()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out whose a file is on this machine."""
    return entry.replace(uid=0, gid=0, uname="", gname="", deep=False)


class _Server(NamedTuple):
    """The server of an arena."""

    scheme: str
    host: str
    port: int | None
    path: str
    token: str

    @classmethod
    def of(cls, url: str, token: str) -> _Server:
        """Return the server with this address. UsageError if it is none."""
        with contextlib.suppress(ValueError):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and parts.hostname and not parts.query and url.isascii() and url.isprintable():
                return cls(parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/"), token)
        raise UsageError(f"{url!r:.200} is no address of a server; name one such as https://arena.example.org.")

    def hand_in(self, name: str, data: bytes, note: str) -> dict[str, Any]:
        """Hand in a file."""
        boundary = secrets.token_hex(16)
        quoted = name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_").replace("?", "_")
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="note"\r\n\r\n{note}\r\n'.encode("utf-8", "replace"),
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'.encode(),
            b"Content-Type: application/octet-stream\r\n\r\n",
            data,
            f"\r\n--{boundary}--\r\n".encode(),
        ]
        return self._asked("POST", "/api/submissions", b"".join(parts), {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def submission(self, number: int) -> dict[str, Any]:
        """Return how far the check of a submission is."""
        return self._asked("GET", f"/api/submissions/{number}", None, {})

    def _asked(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
        kind = http.client.HTTPSConnection if self.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=_PATIENCE)
        where = f"The server {self.host}{'' if self.port is None else f':{self.port}'}"
        try:
            with contextlib.closing(connection):
                # A server that refuses a large file answers before it has read all of it.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, self.path + path, body, {"Authorization": f"Bearer {self.token}", **headers})
                answer = connection.getresponse()
                found = json.loads(answer.read(_MOST_ANSWER))
        except ssl.SSLError as error:
            raise UsageError(f"{where} has no TLS certificate that this machine trusts: {error.reason}.") from None
        except OSError as error:
            raise UsageError(
                f"{where} can't be reached: {error.strerror or error}. Is the address right, and does the server run?"
            ) from None
        except (http.client.HTTPException, ValueError, RecursionError):
            raise UsageError(f"{where} doesn't answer as an arena does; check the address.") from None
        is_fine = isinstance(found, dict) and (answer.status >= 400 or {"id", "status"} <= found.keys())
        if not is_fine:
            raise UsageError(f"{where} doesn't answer as an arena does; check the address.")
        if answer.status >= 400:
            raise UsageError(str(found.get("error", f"{where} refuses with status {answer.status}.")))
        return dict(found)
