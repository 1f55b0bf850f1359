"""The client of an arena's server: its requests."""

from __future__ import annotations

import contextlib
import http.client
import json
import secrets
import ssl
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json

#: The most seconds for an answer of the server.
_PATIENCE = 120.0
#: The most bytes of an answer.
_MOST_ANSWER = 4 << 20


class ArenaClient(NamedTuple):
    """The server of an arena."""

    scheme: str
    host: str
    port: int | None
    path: str
    token: str

    @classmethod
    def of(cls, url: str, token: str) -> ArenaClient:
        """Return the server with this address. UsageError for a wrong address."""
        with contextlib.suppress(ValueError):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and parts.hostname and not parts.query and url.isascii() and url.isprintable():
                return cls(parts.scheme, parts.hostname, parts.port, parts.path.rstrip("/"), token)
        raise UsageError(f"{url!r:.200} is not the address of a server. Example: https://arena.example.org")

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
        """Return a submission with the progress or the result of its check."""
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
            raise UsageError(f"{where} doesn't answer like an arena; check the address.") from None
        if not isinstance(content, dict) or (answer.status < 400 and not {"id", "status"} <= content.keys()):
            raise UsageError(f"{where} doesn't answer like an arena; check the address.")
        if answer.status >= 400:
            raise UsageError(str(content.get("error", f"{where} refuses with status {answer.status}.")))
        return dict(content)
