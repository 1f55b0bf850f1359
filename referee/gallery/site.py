"""The server of a gallery: its list, its pictures, the viewer of each replay, two replays side by side, and the projector's page."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from referee.gallery.thumbnails import SIZE, Thumbnails
from referee.web import page
from referee.web.app import in_thread
from referee.web.guard import Guard
from referee.web.replay_sites import ReplaySites, passed_on

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from referee.gallery.shelf import Shelf

_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_PAGES = ("compare", "projector")
_NO_PICTURE = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}"/>'


class Gallery:
    """The pages of the replays on a shelf. ``standings`` is called if the folder is that of a league."""

    def __init__(self, shelf: Shelf, token: str, name: str, standings: Callable[[], dict[str, Any]] | None = None) -> None:
        self.shelf = shelf
        self._token = token
        self._name = name
        self._standings = standings
        self._asking = asyncio.Lock()
        self._thumbnails = Thumbnails()
        self._sites = ReplaySites(token, (), takes_addresses=False)

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the ASGI application; ``names`` and ``takes_addresses`` as for ``Guard``."""
        names = tuple(names)
        routes = [
            Route("/{token}/", self._with_access(self._page("gallery"))),
            *(Route(f"/{{token}}/{each}", self._with_access(self._page(each))) for each in _PAGES),
            Route("/{token}/list", self._with_access(self._list)),
            Route("/{token}/standings", self._with_access(self._table)),
            Route("/{token}/picture/{number}", self._with_access(self._picture)),
            Route("/{token}/{path:path}", self._with_access(self._asset)),
            Route("/{path:path}", _unknown),
        ]
        guarded = Guard(Starlette(routes=routes), names, takes_addresses=takes_addresses)
        self._sites = ReplaySites(self._token, names, takes_addresses=takes_addresses)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            parts = scope["path"].split("/", 4) if scope["type"] in ("http", "websocket") else []
            if len(parts) == 5 and parts[2] == "replay" and self._is_ours(parts[1]):
                site = self._site(parts[3])
                if site is not None:
                    await passed_on(site, parts[1], parts[4], scope, receive, send)
                    return
            await guarded(scope, receive, send)

        return app

    def close(self) -> None:
        """End all work on replays."""
        self._sites.close()

    def _is_ours(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    def _with_access(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            return await (answer if self._is_ours(request.path_params["token"]) else _unknown)(request)

        return checked

    def _page(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            config = {"name": self._name, "league": self._standings is not None}
            return Response(page.many_page(kind, config), media_type="text/html; charset=utf-8")

        return answer

    async def _asset(self, request: Request) -> Response:
        found = page.asset(request.path_params["path"])
        if found is None:
            return PlainTextResponse("There is no such page.\n", 404)
        return Response(found.data, media_type=found.media_type)

    async def _list(self, request: Request) -> Response:
        """Return the entries from an index on."""
        given = request.query_params.get("from", "")
        if not _NUMBER.fullmatch(given):
            return PlainTextResponse("from must be a whole number.\n", 400)
        return _json(await self.shelf.after(int(given)))

    async def _table(self, _: Request) -> Response:
        """Return the standings of the league; an empty object if there is no league."""
        if self._standings is None:
            return _json({})
        async with self._asking:
            try:
                return _json(await in_thread(self._standings))
            except Exception as error:  # noqa: BLE001 - the page outlives moments in which the store can't be read, and says so
                return _json({"problem": f"The standings can't be read: {error}"})

    async def _picture(self, request: Request) -> Response:
        number = request.path_params["number"]
        path = self.shelf.path(int(number)) if _NUMBER.fullmatch(number) else None
        if path is None:
            return PlainTextResponse("There is no such picture.\n", 404)
        modified = self.shelf.files[int(number)].modified
        found = await in_thread(lambda: self._thumbnails.get(path, modified))
        return Response(found or _NO_PICTURE, media_type="image/svg+xml")

    def _site(self, number: str) -> ASGIApp | None:
        """Return the viewer of a replay; None if there is none."""
        path = self.shelf.path(int(number)) if _NUMBER.fullmatch(number) else None
        if path is None or not path.is_file():
            return None
        # A replay that has grown or changed is another one.
        key = f"{number}.{self.shelf.files[int(number)].modified}"
        return self._sites.open(key, path, self.shelf.entries[int(number)].players, {"gallery": int(number)})


def _json(value: Any) -> Response:
    # Escaped, because names of files can hold what UTF-8 can't.
    return Response(json.dumps(value, allow_nan=False), media_type="application/json")


async def _unknown(_: Request) -> Response:
    text = "The address is not complete, or this gallery is over; use the one that the referee printed, to the last sign.\n"
    return PlainTextResponse(text, 404, {"Connection": "close"})
