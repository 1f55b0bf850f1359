"""The server of an arena: its API and its pages, with the errors of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from referee.arena.api import Api
from referee.arena.readings import Readings
from referee.arena.receipt import Receipt
from referee.errors import RefereeError
from referee.web.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from referee.arena.arena import OpenArena
    from referee.arena.season_store import SeasonStore


class ArenaServer:
    """The ASGI application of an open arena."""

    def __init__(self, arena: OpenArena, store: SeasonStore) -> None:
        self.api = Api(Readings(arena, store), Receipt(arena.folder, store, arena.config))

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the application; ``names`` and ``takes_addresses`` are as for ``Guard``."""
        errors: Any = {HTTPException: _refused, RefereeError: _failed}
        return Guard(Starlette(routes=self.api.routes(), exception_handlers=errors), names, takes_addresses=takes_addresses)


async def _refused(_: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _failed(_: Request, error: RefereeError) -> Response:
    """The store can't be read or written now: the same request may succeed later."""
    return JSONResponse({"error": str(error)}, 503, {"Retry-After": "5"})
