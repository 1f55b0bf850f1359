"""Serves the workshop, as a site of its own or as a part of an arena's."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from referee.errors import UsageError
from referee.support.files import open_regular
from referee.support.words import program
from referee.workshop.build import HEADERS, NAMES, PYODIDE, is_site

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

#: Where an arena has the workshop.
PATH = "/workshop/"
_HEADERS = {
    **HEADERS,
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}
_LASTING, _CHECKED = "public, max-age=31536000, immutable", "no-cache"


class WorkshopPages:
    """An application with the files of a built workshop: below ``PATH``, if all other requests go to the application of an arena.

    The files have policies of their own, which the rest of the site must not replace. In an arena their page offers to hand in, by its API.
    It is a ``ServedSite``, too. UsageError if the folder isn't a workshop.
    """

    def __init__(self, folder: Path, arena: ASGIApp | None = None) -> None:
        if not is_site(folder):
            what = "is not a workshop" if folder.exists() else "does not exist"
            raise UsageError(f"{folder} {what}. Build a workshop in a new folder: {program()} workshop build FOLDER")
        self._folder, self._arena, self._top = folder, arena, "/" if arena is None else PATH

    def app(self, _names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the application."""
        return self

    def has_token(self, _: Scope) -> bool:
        """Return False: nobody has one."""
        return False

    def close(self) -> None:
        """There is nothing to end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path, is_reading = scope.get("path", ""), scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        answer: ASGIApp = self._arena or PlainTextResponse("The workshop can only be read.\n", 405)
        if is_reading and f"{path}/" == PATH == self._top:
            answer = RedirectResponse(PATH)
        elif is_reading and path.startswith(self._top):
            answer = await run_in_threadpool(self._file, path.removeprefix(self._top) or "index.html")
        await answer(scope, receive, send)

    def _file(self, name: str) -> Response:
        try:
            if name not in NAMES:
                raise FileNotFoundError
            with open_regular(self._folder / name, self._folder) as file:
                data = file.read()
        except (OSError, ValueError):
            return PlainTextResponse("The workshop has no such file.\n", 404)
        if name == "index.html" and self._arena is not None:
            data = data.replace(b"<html", b"<html data-arena", 1)
        media_type = "application/gzip" if name.endswith(".gz") else mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(
            data, media_type=media_type, headers={**_HEADERS, "Cache-Control": _LASTING if name.startswith(PYODIDE) else _CHECKED}
        )
