"""The workshop as a part of another site, such as that of an arena."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from referee.support.files import open_regular
from referee.workshop.build import HEADERS, NAMES, PYODIDE

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

#: Where the site has the workshop.
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
    """An application with the files of a built workshop below ``PATH``; all other requests go to ``app``.

    The files have policies of their own, which the rest of the site must not replace. Their page offers to hand in, by the API of the site.
    """

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        self._app, self._folder = app, folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not path.startswith(PATH.rstrip("/")):
            await self._app(scope, receive, send)
        elif path == PATH.rstrip("/"):
            await RedirectResponse(PATH)(scope, receive, send)
        elif path.startswith(PATH):
            response = await run_in_threadpool(self._file, path.removeprefix(PATH) or "index.html")
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _file(self, name: str) -> Response:
        try:
            if name not in NAMES:
                raise FileNotFoundError
            with open_regular(self._folder / name, self._folder) as file:
                data = file.read()
        except (OSError, ValueError):
            return PlainTextResponse("The workshop has no such file.\n", 404)
        if name == "index.html":
            data = data.replace(b"<html", b"<html data-arena", 1)
        media_type = "application/gzip" if name.endswith(".gz") else mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(
            data, media_type=media_type, headers={**_HEADERS, "Cache-Control": _LASTING if name.startswith(PYODIDE) else _CHECKED}
        )
