"""The pages of many replays below one address: each replay has a site of its own, and only the latest ones are kept."""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from referee.pages.app import Site
from referee.pages.replay_session import ReplaySession
from referee.pages.security import SecurityMiddleware
from referee.replay.paths import log_path
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from referee.games.game import Json, Seat

    Answer = Callable[[Request], Awaitable[Response]]

#: How many replays are kept open at once.
_MOST_SITES = 8


class ReplaySites:
    """The sites of many replays, by keys. One replay is worked on at a time.

    ``is_public``: strangers see the pages, which then name nothing outside the current folder. ``is_framed``: another page
    of the server may hold these pages in a frame.
    """

    def __init__(self, token: str, *, is_public: bool = False, is_framed: bool = False) -> None:
        self._token = token
        self._names: tuple[str, ...] = ()
        self._takes_addresses = False
        self._sites: dict[str, tuple[Site, ASGIApp]] = {}
        self._is_public, self._is_framed = is_public, is_framed
        self._turn = asyncio.Lock()

    def admit(self, names: Iterable[str], *, takes_addresses: bool) -> None:
        """Let requests in as ``SecurityMiddleware`` does with these parameters."""
        self._names, self._takes_addresses = tuple(names), takes_addresses

    def app(
        self,
        pages: Mapping[str, Answer],
        folder: str,
        site: Callable[[str], ASGIApp | None],
        gone: str,
        names: Iterable[str] = (),
        *,
        takes_addresses: bool = False,
    ) -> ASGIApp:
        """Return the ASGI application of some pages by their addresses below the token, and of the replays below ``folder``.

        ``site`` returns the pages of a replay, by the part of the address after ``folder``; None if there is no such replay. ``gone`` is the
        answer to any other address; ``names`` and ``takes_addresses`` are as for ``SecurityMiddleware``.
        """
        self.admit(names, takes_addresses=takes_addresses)

        async def unknown(_: Request) -> Response:
            return PlainTextResponse(gone, 404, {"Connection": "close"})

        def with_access(answer: Answer) -> Answer:
            async def checked(request: Request) -> Response:
                return await (answer if self._is_ours(request.path_params["token"]) else unknown)(request)

            return checked

        routes = [Route(f"/{{token}}/{address}", with_access(answer)) for address, answer in pages.items()]
        guarded = SecurityMiddleware(
            Starlette(routes=[*routes, Route("/{path:path}", unknown)]), self._names, takes_addresses=takes_addresses
        )

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            parts = scope["path"].split("/", 4) if scope["type"] in ("http", "websocket") else []
            pages = site(parts[3]) if len(parts) == 5 and parts[2] == folder and self._is_ours(parts[1]) else None
            if pages is None:
                await guarded(scope, receive, send)
                return
            address = f"/{parts[1]}/{parts[4]}"
            await pages({**scope, "path": address, "raw_path": address.encode()}, receive, send)

        return app

    def _is_ours(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    def open(
        self, key: str, path: Path, below: Path | None, seats: Iterable[Seat], config: Mapping[str, Json] | None = None
    ) -> ASGIApp | None:
        """Return the pages of a replay; None if it can't be opened.

        ``below`` is as for ``open_regular``, ``config`` is further data for its viewer.
        """
        try:
            open_regular(path, below).close()
        except (OSError, ValueError):
            return None
        site_and_app = self._sites.pop(key, None)
        if site_and_app is None:
            viewer_config = {"mode": "watch", "name": path.name, "server": True, **(config or {})}
            logs = {seat: log_path(path, seat) for seat in seats}
            session = ReplaySession(path, turn=self._turn, below=below)
            site = Site(session, viewer_config, {self._token: None}, logs, is_public=self._is_public, is_framed=self._is_framed)
            site_and_app = site, site.app(self._names, takes_addresses=self._takes_addresses)
        # The last one that was asked for is the last one that goes.
        self._sites[key] = site_and_app
        while len(self._sites) > _MOST_SITES:
            self.drop(next(iter(self._sites)))
        return site_and_app[1]

    def drop(self, key: str) -> None:
        """End the work on a replay, if it is open."""
        site_and_app = self._sites.pop(key, None)
        if site_and_app is not None:
            site_and_app[0].close()

    def close(self) -> None:
        """End all work."""
        for key in list(self._sites):
            self.drop(key)
