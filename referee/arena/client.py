"""The client of an arena's server: what it sends of a bot, and its requests."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import secrets
import ssl
import tarfile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from referee.errors import UsageError
from referee.isolation import contents
from referee.isolation.submission import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Json

#: How long the server may take for an answer, in seconds.
_PATIENCE = 120.0
#: The most bytes of an answer.
_MOST_ANSWER = 4 << 20


def packed(bot: Path) -> tuple[str, bytes]:
    """Return what is sent of a bot, with its name: a file or an archive as it is, a folder as an archive of the files that belong to it."""
    if not bot.exists():
        raise UsageError(f"There is no file or folder {bot}; name the bot's file, its folder or an archive of it.")
    try:
        if not bot.is_dir():
            if not bot.is_file():
                raise UsageError(f"{bot} is a device or a pipe; name the bot's file, its folder or an archive of it.")
            if bot.stat().st_size > MOST_BYTES:
                raise UsageError(f"{bot} has more than {MOST_BYTES >> 20} MiB; hand in the bot's own files alone.")
            return bot.name, bot.read_bytes()
        packed, entries = io.BytesIO(), contents.entries(str(bot), bot.name)
        if all(entry.kind == contents.FOLDER for entry in entries.values()):
            raise UsageError(f"{bot} has no file that belongs to a bot; name the bot's own folder.")
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, entry in entries.items():
                if entry.kind not in (contents.FILE, contents.EXECUTABLE, contents.FOLDER):
                    raise UsageError(f"{bot} has a link or another thing that is no file: {path}. Put a copy there.")
                archive.add(bot / path, path, recursive=False, filter=_anonymous)
    except OSError as error:
        raise UsageError(f"{error.filename or bot} can't be read: {error.strerror or error}.") from None
    return f"{bot.absolute().name}.tar.gz", packed.getvalue()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out whose a file is on this machine."""
    return entry.replace(uid=0, gid=0, uname="", gname="", deep=False)


class ArenaClient(NamedTuple):
    """The server of an arena."""

    scheme: str
    host: str
    port: int | None
    path: str
    token: str

    @classmethod
    def of(cls, url: str, token: str) -> ArenaClient:
        """Return the server with this address. UsageError if it is none."""
        with contextlib.suppress(ValueError):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and parts.hostname and not parts.query and url.isascii() and url.isprintable():
                return cls(parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/"), token)
        raise UsageError(f"{url!r:.200} is no address of a server; name one such as https://arena.example.org.")

    def hand_in(self, name: str, data: bytes, note: str) -> dict[str, Json]:
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
        return self._request("POST", "/api/submissions", b"".join(parts), {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def submission(self, number: int) -> dict[str, Json]:
        """Return how far the check of a submission is."""
        return self._request("GET", f"/api/submissions/{number}", None, {})

    def _request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Json]:
        kind = http.client.HTTPSConnection if self.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=_PATIENCE)
        where = f"The server {self.host}{'' if self.port is None else f':{self.port}'}"
        try:
            with contextlib.closing(connection):
                # A server that refuses a large file answers before it has read all of it.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, self.path + path, body, {"Authorization": f"Bearer {self.token}", **headers})
                answer = connection.getresponse()
                content = json.loads(answer.read(_MOST_ANSWER))
        except ssl.SSLError as error:
            raise UsageError(f"{where} has no TLS certificate that this machine trusts: {error.reason}.") from None
        except OSError as error:
            raise UsageError(
                f"{where} can't be reached: {error.strerror or error}. Is the address right, and does the server run?"
            ) from None
        except (http.client.HTTPException, ValueError, RecursionError):
            raise UsageError(f"{where} doesn't answer as an arena does; check the address.") from None
        if not isinstance(content, dict) or (answer.status < 400 and not {"id", "status"} <= content.keys()):
            raise UsageError(f"{where} doesn't answer as an arena does; check the address.")
        if answer.status >= 400:
            raise UsageError(str(content.get("error", f"{where} refuses with status {answer.status}.")))
        return dict(content)
