"""The server side of the pages: serves the page itself, replays, and the engine's analyses."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
from typing import TYPE_CHECKING, BinaryIO

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute

from referee.errors import ReplayError
from referee.pages import page
from referee.pages.replay_session import worked
from referee.pages.security import SecurityMiddleware
from referee.support.files import open_regular, open_whole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Scope
    from starlette.websockets import WebSocket

    from referee.games.game import Json, Seat
    from referee.pages.replay_session import ReplaySession

#: How many bytes of a file are read at once.
_READ_BYTES = 256 << 10
#: How many questions about positions are answered at once.
_MOST_QUESTIONS = 4
#: The most bytes of a bot's log that are sent.
_LOG_BYTES = 4 << 20
_HIDDEN = "That can't be seen from here.\n"
_CLOSE = {"Connection": "close"}
#: After so many seconds without an answer, a visitor is told to ask again, and when. Nobody holds a connection until the end of a match.
ANSWER_SECONDS = 20.0
_LATER = {"Retry-After": "5"}


class Site:
    """The pages of one replay. ``tokens`` maps a token to its seat, or to None for a spectator.

    ``is_here`` and ``is_public`` are as for ``commands_of``, ``is_framed`` for ``SecurityMiddleware``.
    """

    def __init__(
        self,
        replay: ReplaySession,
        config: Mapping[str, Json],
        tokens: Mapping[str, Seat | None],
        logs: Mapping[Seat, Path],
        *,
        is_here: bool = True,
        is_public: bool = False,
        is_framed: bool = False,
    ) -> None:
        self.replay = replay
        self.is_here, self.is_public, self.is_framed = is_here, is_public, is_framed
        #: The seconds after which a visitor is told to ask again.
        self.patience = ANSWER_SECONDS
        self.config = config
        self.tokens = tokens
        self.logs = logs
        #: Only one expensive request runs at a time.
        self.thinking = asyncio.Lock()
        self._questions = asyncio.Semaphore(_MOST_QUESTIONS)

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """The ASGI application."""
        # Where others may come, they read the page.
        self.is_public |= takes_addresses
        analyses = {
            "check": self._check,
            "question": self._question,
            "judged": self._judged,
            "mistakes": self._mistakes,
            "overlay": self._overlay,
            "commands": self._commands,
        }
        routes = [
            Route("/{token}/", self._with_access(self._page)),
            Route("/{token}/replay", self._with_access(self._replay)),
            *(Route(f"/{{token}}/{name}", self._with_access(answer)) for name, answer in analyses.items()),
            Route("/{token}/log", self._with_access(self._log)),
            *self.more_routes(),
            WebSocketRoute("/{token}/socket", self._socket),
            Route("/{token}/{path:path}", self._with_access(lambda request, _: asset(request))),
            Route("/{path:path}", _no_token),
        ]
        return SecurityMiddleware(Starlette(routes=routes), names, takes_addresses=takes_addresses, is_framed=self.is_framed)

    def more_routes(self) -> list[Route]:
        """Return the routes that a derived site serves in addition."""
        return []

    def close(self) -> None:
        """End the work on the replay."""
        self.replay.recorded.cancel()

    def seat_of(self, token: str) -> tuple[bool, Seat | None]:
        """Return whether a token is valid, and its seat. All tokens are compared, so that the time of the comparison reveals nothing."""
        seats = [seat for secret, seat in self.tokens.items() if hmac.compare_digest(secret.encode(), token.encode())]
        return bool(seats), seats[0] if seats else None

    def has_token(self, scope: Scope) -> bool:
        """Return whether the token of a player is in the path of a request."""
        return self.seat_of(scope["path"].split("/", 2)[1] if scope["path"].startswith("/") else "")[1] is not None

    def may_know(self, seat: Seat | None) -> bool:
        """True if the visitor at a seat may see everything; a player only after the match."""
        return seat is None

    def _with_access(self, answer: Callable[[Request, Seat | None], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            is_known, seat = self.seat_of(request.path_params["token"])
            try:
                return await (answer(request, seat) if is_known else _no_token(request))
            except asyncio.TimeoutError:
                return Response("The answer takes longer. Ask again.\n", 202, _LATER, "text/plain")

        return checked

    async def _page(self, request: Request, seat: Seat | None) -> Response:
        return Response(page.page(self.config_for(seat)), media_type="text/html; charset=utf-8")

    def config_for(self, seat: Seat | None) -> dict[str, Json]:
        """Return the page's configuration."""
        return dict(self.config)

    def _visible(self, seat: Seat | None) -> ReplaySession:
        """Return the replay. Raises HTTPException if the visitor may not see all of it."""
        if not self.may_know(seat):
            raise HTTPException(403, _HIDDEN)
        return self.replay

    async def _replay(self, request: Request, seat: Seat | None) -> Response:
        session = self._visible(seat)
        try:
            file = open_whole(session.path, session.below)
        except (OSError, ValueError):
            raise HTTPException(404, "There is no such replay any more.\n") from None
        size = os.fstat(file.fileno()).st_size
        return StreamingResponse(_parts(file, size), headers={"Content-Length": str(size)}, media_type="application/octet-stream")

    async def _check(self, request: Request, seat: Seat | None) -> Response:
        return JSONResponse(await asyncio.wait_for(self._visible(seat).verdict(), self.patience))

    async def _question(self, request: Request, seat: Seat | None) -> Response:
        session, turn = self._visible(seat), _number(request, "turn")
        session.begin()
        seat_asked = request.query_params.get("seat", "")
        return JSONResponse(await worked(lambda: session.recorded.question(turn, seat_asked), self._questions, self.patience))

    async def _judged(self, request: Request, seat: Seat | None) -> Response:
        """Return the verdicts from an index on; the response waits until there are more or all are known."""
        session, start = self._visible(seat), _number(request, "from")
        session.start_verdicts()
        points, is_all = await asyncio.wait_for(session.judged_from(start), self.patience)
        return JSONResponse({"points": points, "is_all": is_all, "left_out": session.recorded.left_out if is_all else []})

    async def _mistakes(self, request: Request, seat: Seat | None) -> Response:
        """Return the moves that cost the losing seats most."""
        session = self._visible(seat)
        await asyncio.wait_for(session.verdict(), self.patience)
        return JSONResponse(await worked(session.mistakes, self.thinking, self.patience))

    async def _overlay(self, request: Request, seat: Seat | None) -> Response:
        session, turn = self._visible(seat), _number(request, "turn")
        session.begin()
        return JSONResponse(await worked(lambda: session.recorded.overlay(turn), self.thinking, self.patience))

    async def _commands(self, request: Request, seat: Seat | None) -> Response:
        """Return what the page needs to print command lines about the replay."""
        from referee.pages.commands import read_commands

        session = self._visible(seat)
        try:
            return JSONResponse(
                await worked(
                    lambda: read_commands(session.source, session.path, session.lines(), is_here=self.is_here, is_public=self.is_public),
                    self._questions,
                    self.patience,
                )
            )
        except (ReplayError, OSError):
            raise HTTPException(404, "There are no commands for this file.\n") from None

    async def _log(self, request: Request, seat: Seat | None) -> Response:
        if not self.may_know(seat):
            raise HTTPException(403, _HIDDEN)
        path = self.logs.get(request.query_params.get("seat", ""))
        data = b""
        if path is not None:
            with contextlib.suppress(OSError, ValueError), open_regular(path, self.replay.below or path.parent) as file:
                data = file.read(_LOG_BYTES)
        return Response(data, media_type="application/octet-stream")

    async def _socket(self, socket: WebSocket) -> None:
        """Close the socket: a stored replay has no live stream."""
        await socket.close(1008)


async def asset(request: Request) -> Response:
    """Answer a request for a file of a page."""
    file = page.asset(request.path_params["path"])
    if file is None:
        raise HTTPException(404, "There is no such page.\n")
    return Response(file.data, media_type=file.media_type)


async def _parts(file: BinaryIO, size: int) -> AsyncIterator[bytes]:
    """Yield the first ``size`` bytes of a file, and close it."""
    with file:
        while size > 0 and (data := file.read(min(size, _READ_BYTES))):
            size -= len(data)
            yield data


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, f"The {name} must be a whole number.\n")
    return int(text)


async def _no_token(_: Request) -> Response:
    text = "The address is not complete, or its match is over; use the one that the referee printed, to the last sign.\n"
    # Without a valid token the connection is closed.
    raise HTTPException(404, text, _CLOSE)


def read_json(text: str) -> dict[str, Json] | None:
    """Return a page's message; None if it isn't valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
