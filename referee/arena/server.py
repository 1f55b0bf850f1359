"""The server of an arena: its API and its pages, with the errors of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse

from referee.arena.api import Api, wrong
from referee.arena.players_version import PlayersVersions
from referee.arena.site import ArenaPages
from referee.arena.uploads import Uploads, full
from referee.arena.views import ArenaViews
from referee.errors import RefereeError
from referee.pages.security import SecurityMiddleware
from referee.tournament.transactions import DiskFull, StoreError
from referee.version import __version__
from referee.workshop.pages import WorkshopPages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from referee.arena.arena import OpenArena

#: Results of matches are shown after so many seconds at the latest: many readers share one reading of the store.
STALE_SECONDS = 0.5


class ArenaServer:
    """The ASGI application of an open arena, ``close`` it after use. ``report`` gets a line about each hand-in.

    ``stale_seconds`` are those of ``ArenaViews``.
    """

    def __init__(self, arena: OpenArena, report: Callable[[str], None] = lambda _: None, *, stale_seconds: float = STALE_SECONDS) -> None:
        views, uploads = ArenaViews(arena.store, stale_seconds=stale_seconds), Uploads(arena, report)
        self._versions = PlayersVersions()
        self._workshop = arena.config.workshop
        self._api = Api(arena, views, uploads, self._versions)
        self._pages = ArenaPages(arena, views, self._api, uploads, self._versions)

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the application; ``names`` and ``takes_addresses`` are as for ``SecurityMiddleware``."""
        names = tuple(names)
        errors: Any = {HTTPException: self._refused, RequestValidationError: self._invalid, RefereeError: _failed}
        made = FastAPI(
            title="A referee's arena",
            version=__version__,
            openapi_url="/api/openapi.json",
            # Their pages would load scripts from foreign hosts.
            docs_url=None,
            redoc_url=None,
            exception_handlers=errors,
        )
        made.state.api = self._api
        made.include_router(self._api.router())
        made.router.routes.extend(self._pages.routes())
        guarded = SecurityMiddleware(made, names, takes_addresses=takes_addresses, has_forms=True)
        watching = self._pages.watching(guarded, names, takes_addresses=takes_addresses)
        return watching if self._workshop is None else WorkshopPages(self._workshop, watching)

    def has_token(self, scope: Scope) -> bool:
        """Return whether a request has the token of a team or of the staff."""
        try:
            return self._api.holder(HTTPConnection(scope)) is not None
        except (HTTPException, RefereeError):
            return False

    def close(self) -> None:
        """End all work on replays."""
        self._pages.close()
        self._versions.close()

    async def _refused(self, request: Request, error: HTTPException) -> Response:
        if error.status_code == 405:
            # The framework says it without a sentence, for methods that no route has.
            error = self._api.unanswered(request)
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": error.detail}, error.status_code, error.headers)
        return await run_in_threadpool(self._pages.refused, request, error)

    async def _invalid(self, request: Request, error: RequestValidationError) -> Response:
        # The first part of a place is "body" or "query".
        return await self._refused(request, wrong(error.errors(), 1))


async def _failed(request: Request, error: RefereeError) -> Response:
    """The store can't be read or written now: the same request may succeed later."""
    # What is wrong with it, and where it is, is not for strangers.
    text = "The arena's store can't be read or written now; try again in a few seconds." if isinstance(error, StoreError) else str(error)
    failed = full() if isinstance(error, DiskFull) else HTTPException(503, text, {"Retry-After": "5"})
    is_api = request.url.path.startswith("/api/")
    made, body = (JSONResponse, {"error": failed.detail}) if is_api else (PlainTextResponse, failed.detail)
    return made(body, failed.status_code, failed.headers)
