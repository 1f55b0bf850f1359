"""The server side of the pages: serves the page itself, replays, and the engine's analyses."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import tempfile
import threading
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from referee.replay.reader import read_lines
from referee.web import page
from referee.web.guard import Guard
from referee.web.replay_session import ReplayIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp
    from starlette.websockets import WebSocket

    from referee.games.game import Seat

#: Limits of uploads: the bytes of one replay, the bytes of all kept replays, and the number of kept replays.
MOST_BYTES = 256 << 20
_MOST_KEPT_BYTES = 512 << 20
_MOST_FILES = 8
#: How many uploads are accepted at once, and the time for each: some seconds, plus one for each number of bytes.
_MOST_UPLOADS = 4
_UPLOAD_SECONDS = 10.0
_BYTES_A_SECOND = 256 << 10
#: The most verdicts in one response.
_MOST_POINTS = 500
#: The most bytes of a bot's log that are sent.
_LOG_BYTES = 4 << 20


class ReplaySession:
    """A replay of which pages request data. It is played again, in its own thread, at the first request.

    ``turn`` is a lock: only one of several replays is worked on at a time.
    """

    def __init__(
        self, path: Path, recorded: ReplayIndex | None = None, name: str | None = None, turn: threading.Lock | None = None
    ) -> None:
        self.path = path
        #: Its name in messages.
        self.name = Path(name or path.name)
        self.recorded = recorded or ReplayIndex()
        self._turn = turn
        self._verdict: asyncio.Future[dict[str, Any]] | None = None
        self._judging: asyncio.Future[None] | None = None
        self._news = asyncio.Event()

    async def verdict(self) -> dict[str, Any]:
        """Return whether the replay is complete and correct, with the metrics."""
        self.begin()
        found = self.recorded.verdict if self._verdict is None else await asyncio.shield(self._verdict)
        return {**(found or {}), "metrics": self.recorded.metrics, "left_out": self.recorded.left_out}

    def begin(self) -> None:
        """Start to play it again without waiting; do nothing if that was done during the match."""
        if self._verdict is None and self.recorded.verdict is None:
            self._verdict = in_thread(self._play)

    def _play(self) -> dict[str, Any]:
        with self._turn or contextlib.nullcontext():
            return self.recorded.play(self.name, read_lines(self.path, self.name))

    def judge(self) -> None:
        """Start to compute the verdicts without waiting."""
        self.begin()
        if self._judging is None:
            loop = asyncio.get_running_loop()

            def tell() -> None:
                # The loop may have ended meanwhile.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._tell)

            def work() -> None:
                if self._turn is None:
                    self.recorded.judge(tell)
                    return
                # This waits until the replay has been played; until then ``play`` holds the lock.
                self.recorded.wait_until_played()
                with self._turn:
                    self.recorded.judge(tell)

            self._judging = in_thread(work)
            self._judging.add_done_callback(lambda _: self._tell())

    def drop(self) -> None:
        """End the work on it and remove its file; no page can request it any more."""
        self.recorded.cancel()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def judged_from(self, start: int) -> tuple[list[tuple[int, dict[str, Any]]], bool]:
        """Wait for verdicts from an index on; return them and whether they are all."""
        while True:
            news = self._news
            is_all = self.recorded.is_judged
            found = self.recorded.judged[start : start + _MOST_POINTS]
            if found or is_all:
                return found, is_all and start + len(found) >= len(self.recorded.judged)
            await news.wait()


def in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Run a function in a daemon thread, so that it doesn't delay the program's exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(result) if error is None else future.set_exception(error)

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            failure = error
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, daemon=True).start()
    return future


class _Upload:
    """An upload in progress: the bytes so far and its start time."""

    def __init__(self) -> None:
        self.size = 0
        #: Set if a faster upload has taken its place.
        self.is_given_up = asyncio.Event()
        self._begun = monotonic()

    def rate(self) -> float:
        """Bytes per second so far; an upload that has just begun counts as fast."""
        seconds = monotonic() - self._begun
        return (self.size + _BYTES_A_SECOND) / (seconds + 1.0)

    async def next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next part, empty at the end; None if it is late or another upload has taken the place."""
        seconds = self._begun + _UPLOAD_SECONDS + self.size / _BYTES_A_SECOND - monotonic()
        coming = asyncio.ensure_future(_part(chunks))
        giving_up = asyncio.ensure_future(self.is_given_up.wait())
        try:
            await asyncio.wait({coming, giving_up}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() and not self.is_given_up.is_set() else None
        finally:
            coming.cancel()
            giving_up.cancel()


async def _part(chunks: AsyncIterator[bytes]) -> bytes:
    """The next part of a request that isn't empty; empty at the end."""
    async for chunk in chunks:
        if chunk:
            return chunk
    return b""


class Site:
    """The pages of one replay. ``tokens`` maps a token to its seat, or to None for a spectator."""

    def __init__(
        self, kept: ReplaySession, config: Mapping[str, Any], tokens: Mapping[str, Seat | None], logs: Mapping[Seat, Path]
    ) -> None:
        self.kept = kept
        self.config = config
        self.tokens = tokens
        self.logs = logs
        self._files: dict[str, ReplaySession] = {}
        #: Only one expensive request runs at a time.
        self._thinking = asyncio.Lock()
        self._uploads: set[_Upload] = set()
        #: One replay is worked on at a time.
        self._turn = threading.Lock()
        self._taken = 0

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """The ASGI application."""
        routes = [
            Route("/{token}/", self._with_access(self._page)),
            Route("/{token}/replay", self._with_access(self._replay)),
            Route("/{token}/check", self._with_access(self._check)),
            Route("/{token}/question", self._with_access(self._question)),
            Route("/{token}/judged", self._with_access(self._judged)),
            Route("/{token}/overlay", self._with_access(self._overlay)),
            Route("/{token}/log", self._with_access(self._log)),
            Route("/{token}/files", self._with_access(self._take_file), methods=["POST"]),
            Route("/{token}/files/{id}/check", self._with_access(self._check)),
            Route("/{token}/files/{id}/question", self._with_access(self._question)),
            Route("/{token}/files/{id}/judged", self._with_access(self._judged)),
            Route("/{token}/files/{id}/overlay", self._with_access(self._overlay)),
            WebSocketRoute("/{token}/socket", self._socket),
            Route("/{token}/{path:path}", self._with_access(self._asset)),
            Route("/{path:path}", _no_token),
        ]
        return Guard(Starlette(routes=routes), names, takes_addresses=takes_addresses)

    def close(self) -> None:
        """Remove uploaded replays."""
        for kept in self._files.values():
            kept.drop()

    def seat_of(self, token: str) -> tuple[bool, Seat | None]:
        """Return whether a token is valid, and its seat. All tokens are compared, so that the time reveals nothing."""
        found: tuple[bool, Seat | None] = (False, None)
        for known, seat in self.tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                found = (True, seat)
        return found

    def may_know(self, seat: Seat | None) -> bool:
        """True if the visitor at a seat may see everything; a player only after the match."""
        return seat is None

    def _with_access(self, answer: Callable[[Request, Seat | None], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            is_known, seat = self.seat_of(request.path_params["token"])
            return await answer(request, seat) if is_known else _unknown()

        return checked

    async def _page(self, request: Request, seat: Seat | None) -> Response:
        return Response(page.page(self.config_for(seat)), media_type="text/html; charset=utf-8")

    def config_for(self, seat: Seat | None) -> dict[str, Any]:
        """Return the page's configuration."""
        return dict(self.config)

    async def _asset(self, request: Request, seat: Seat | None) -> Response:
        found = page.asset(request.path_params["path"])
        if found is None:
            return PlainTextResponse("There is no such page.\n", 404)
        return Response(found.data, media_type=found.media_type)

    def _kept(self, request: Request, seat: Seat | None) -> ReplaySession | None:
        if not self.may_know(seat):
            return None
        key = request.path_params.get("id")
        return self.kept if key is None else self._files.get(key)

    async def _replay(self, request: Request, seat: Seat | None) -> Response:
        kept = self._kept(request, seat)
        if kept is None:
            return _not_yet()
        return FileResponse(kept.path, media_type="application/octet-stream")

    async def _check(self, request: Request, seat: Seat | None) -> Response:
        kept = self._kept(request, seat)
        return _not_yet() if kept is None else JSONResponse(await kept.verdict())

    async def _question(self, request: Request, seat: Seat | None) -> Response:
        kept = self._kept(request, seat)
        if kept is None:
            return _not_yet()
        turn, wanted = _number(request, "turn"), request.query_params.get("seat", "")
        if turn is None:
            return _no_number("turn")
        kept.begin()
        return JSONResponse(await in_thread(lambda: kept.recorded.question(turn, wanted)))

    async def _judged(self, request: Request, seat: Seat | None) -> Response:
        """Return the verdicts from an index on; the response waits until there are more or all are known."""
        kept = self._kept(request, seat)
        if kept is None:
            return _not_yet()
        start = _number(request, "from")
        if start is None:
            return _no_number("from")
        kept.judge()
        found, is_all = await kept.judged_from(start)
        return JSONResponse({"points": found, "is_all": is_all, "left_out": kept.recorded.left_out if is_all else []})

    async def _overlay(self, request: Request, seat: Seat | None) -> Response:
        """Return the overlay of one position."""
        kept = self._kept(request, seat)
        if kept is None:
            return _not_yet()
        turn = _number(request, "turn")
        if turn is None:
            return _no_number("turn")
        kept.begin()
        async with self._thinking:
            return JSONResponse(await in_thread(lambda: kept.recorded.overlay(turn)))

    async def _log(self, request: Request, seat: Seat | None) -> Response:
        path = self.logs.get(request.query_params.get("seat", ""))
        if not self.may_know(seat):
            return _not_yet()
        data = b""
        if path is not None and path.is_file():
            with path.open("rb") as file:
                data = file.read(_LOG_BYTES)
        return Response(data, media_type="application/octet-stream")

    async def _take_file(self, request: Request, seat: Seat | None) -> Response:
        """Accept a replay that was dropped on the page."""
        if seat is not None or not self.may_know(seat):
            return _not_yet()
        handle, name = tempfile.mkstemp(suffix=".gz")
        kept = ReplaySession(Path(name), name="The file", turn=self._turn)
        upload = _Upload()
        self._make_room_for(upload)
        try:
            with os.fdopen(handle, "wb") as file:
                refusal = await self._receive(request, file, upload)
        except BaseException:
            kept.drop()
            raise
        finally:
            self._uploads.discard(upload)
        if refusal is not None:
            kept.drop()
            return refusal
        self._taken += 1
        key = str(self._taken)
        self._files[key] = kept
        while len(self._files) > _MOST_FILES or self._kept_bytes() > _MOST_KEPT_BYTES:
            # Remove the oldest one: a page shows only one replay at a time.
            self._files.pop(next(iter(self._files))).drop()
        kept.begin()
        return JSONResponse({"id": key})

    def _make_room_for(self, upload: _Upload) -> None:
        """If too many uploads are in progress, cancel the slowest."""
        if len(self._uploads) >= _MOST_UPLOADS:
            slowest = min(self._uploads, key=_Upload.rate)
            self._uploads.discard(slowest)
            slowest.is_given_up.set()
        self._uploads.add(upload)

    def _kept_bytes(self) -> int:
        return sum(map(_size, self._files.values())) + sum(upload.size for upload in self._uploads)

    async def _receive(self, request: Request, file: IO[bytes], upload: _Upload) -> Response | None:
        """Write an upload to a file; return the response if it is refused."""
        chunks = request.stream().__aiter__()
        while True:
            chunk = await upload.next(chunks)
            if chunk is None:
                return PlainTextResponse("The replay comes too slowly.\n", 408, {"Connection": "close"})
            if not chunk:
                return None
            upload.size += len(chunk)
            if upload.size > MOST_BYTES:
                return PlainTextResponse("The replay is too large.\n", 413, {"Connection": "close"})
            while self._files and self._kept_bytes() > _MOST_KEPT_BYTES:
                self._files.pop(next(iter(self._files))).drop()
            if self._kept_bytes() > _MOST_KEPT_BYTES:
                return PlainTextResponse("Too much is handed in at once; try again later.\n", 503, {"Connection": "close"})
            file.write(chunk)

    async def _socket(self, socket: WebSocket) -> None:
        """Close the socket: a stored replay has no live stream."""
        await socket.close(1008)


def _size(kept: ReplaySession) -> int:
    try:
        return kept.path.stat().st_size
    except OSError:
        return 0


def _number(request: Request, name: str) -> int | None:
    """Return a number from the address; None if it isn't one."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _no_number(name: str) -> Response:
    return PlainTextResponse(f"The {name} must be a whole number.\n", 400)


def _unknown() -> Response:
    text = "The address is not complete, or its match is over; use the one that the referee printed, to the last sign.\n"
    # Without a valid token the connection is closed.
    return PlainTextResponse(text, 404, {"Connection": "close"})


def _not_yet() -> Response:
    return PlainTextResponse("That can't be seen from here.\n", 403)


async def _no_token(_: Request) -> Response:
    return _unknown()


def read_json(text: str) -> dict[str, Any] | None:
    """Return a page's message; None if it isn't valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
