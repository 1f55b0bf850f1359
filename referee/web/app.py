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
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute

from referee.errors import ReplayError
from referee.replay.reader import read_lines
from referee.support.files import open_regular, open_whole
from referee.web import page
from referee.web.guard import Guard
from referee.web.replay_session import ReplayIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping

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
#: How many bytes of a file are read at once.
_READ_BYTES = 256 << 10
#: The most verdicts in one response.
_MOST_POINTS = 500
#: The most bytes of a bot's log that are sent.
_LOG_BYTES = 4 << 20
_HIDDEN = "That can't be seen from here.\n"
_CLOSE = {"Connection": "close"}


class ReplaySession:
    """A replay of which pages request data. It is played again, in its own thread, at the first request.

    ``turn`` is a lock: only one of several replays is worked on at a time. ``below`` is as for ``open_regular``.
    """

    def __init__(
        self,
        path: Path,
        recorded: ReplayIndex | None = None,
        name: str | None = None,
        turn: threading.Lock | None = None,
        below: Path | None = None,
    ) -> None:
        self.path = path
        self.below = below
        #: The file as its user knows it, for command lines; None if the user has no such file.
        self.source: Path | None = path
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
        """Start playing the replay again, without waiting; do nothing if it was played again during the match."""

        def play() -> dict[str, Any]:
            with self._turn or contextlib.nullcontext():
                return self.recorded.play(self.name, self.lines())

        if self._verdict is None and self.recorded.verdict is None:
            self._verdict = in_thread(play)

    def lines(self) -> Iterator[bytes]:
        """Yield its lines; errors as for ``read_lines``."""
        return read_lines(self.path, self.name, self.below)

    def start_verdicts(self) -> None:
        """Start to compute the verdicts without waiting."""
        self.begin()
        if self._judging is None:
            loop = asyncio.get_running_loop()

            def tell() -> None:
                # The loop may have ended meanwhile.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._tell)

            def work() -> None:
                if self._turn is not None:
                    # Until the replay has been played, ``play`` needs the lock.
                    self.recorded.has_played.wait()
                with self._turn or contextlib.nullcontext():
                    self.recorded.compute_verdicts(tell)

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

    async def next(self, chunks: AsyncIterator[bytes]) -> bytes:
        """Return the next part, empty at the end. Raises HTTPException if it is late or another upload has taken the place."""
        seconds = self._begun + _UPLOAD_SECONDS + self.size / _BYTES_A_SECOND - monotonic()
        coming = asyncio.ensure_future(_part(chunks))
        giving_up = asyncio.ensure_future(self.is_given_up.wait())
        try:
            await asyncio.wait({coming, giving_up}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
            if not coming.done() or self.is_given_up.is_set():
                raise HTTPException(408, "The replay comes too slowly.\n", _CLOSE)
            return coming.result()
        finally:
            coming.cancel()
            giving_up.cancel()


async def _parts(file: BinaryIO, size: int) -> AsyncIterator[bytes]:
    """Yield the first ``size`` bytes of a file, and close it."""
    with file:
        while size > 0 and (data := file.read(min(size, _READ_BYTES))):
            size -= len(data)
            yield data


async def _part(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the next part of a request that isn't empty; empty at the end."""
    return await anext((chunk async for chunk in chunks if chunk), b"")


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
        analyses = {
            "check": self._check,
            "question": self._question,
            "judged": self._judged,
            "overlay": self._overlay,
            "commands": self._commands,
        }
        routes = [
            Route("/{token}/", self._with_access(self._page)),
            Route("/{token}/replay", self._with_access(self._replay)),
            *(
                Route(f"/{{token}}/{folder}{name}", self._with_access(answer))
                for folder in ("", "files/{id}/")
                for name, answer in analyses.items()
            ),
            Route("/{token}/log", self._with_access(self._log)),
            Route("/{token}/files", self._with_access(self._take_file), methods=["POST"]),
            *self.more_routes(),
            WebSocketRoute("/{token}/socket", self._socket),
            Route("/{token}/{path:path}", self._with_access(self._asset)),
            Route("/{path:path}", _no_token),
        ]
        return Guard(Starlette(routes=routes), names, takes_addresses=takes_addresses)

    def more_routes(self) -> list[Route]:
        """Return the routes that a derived site serves in addition."""
        return []

    def close(self) -> None:
        """Remove uploaded replays."""
        for kept in self._files.values():
            kept.drop()

    def seat_of(self, token: str) -> tuple[bool, Seat | None]:
        """Return whether a token is valid, and its seat. All tokens are compared, so that the time of the comparison reveals nothing."""
        found = [seat for known, seat in self.tokens.items() if hmac.compare_digest(known.encode(), token.encode())]
        return bool(found), found[0] if found else None

    def seat_at(self, path: str) -> Seat | None:
        """Return the seat whose token is in the path of a request; None for spectators and strangers."""
        return self.seat_of(path.split("/", 2)[1] if path.startswith("/") else "")[1]

    def may_know(self, seat: Seat | None) -> bool:
        """True if the visitor at a seat may see everything; a player only after the match."""
        return seat is None

    def _with_access(self, answer: Callable[[Request, Seat | None], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            is_known, seat = self.seat_of(request.path_params["token"])
            return await (answer(request, seat) if is_known else _no_token(request))

        return checked

    async def _page(self, request: Request, seat: Seat | None) -> Response:
        return Response(page.page(self.config_for(seat)), media_type="text/html; charset=utf-8")

    def config_for(self, seat: Seat | None) -> dict[str, Any]:
        """Return the page's configuration."""
        return dict(self.config)

    async def _asset(self, request: Request, seat: Seat | None) -> Response:
        found = page.asset(request.path_params["path"])
        if found is None:
            raise HTTPException(404, "There is no such page.\n")
        return Response(found.data, media_type=found.media_type)

    def _visible(self, request: Request, seat: Seat | None) -> ReplaySession:
        """Return the replay that a request is about. Raises HTTPException if the visitor may not see it, or if there is none."""
        key = request.path_params.get("id")
        kept = self.kept if key is None else self._files.get(key)
        if kept is None or not self.may_know(seat):
            raise HTTPException(403, _HIDDEN)
        return kept

    async def _replay(self, request: Request, seat: Seat | None) -> Response:
        kept = self._visible(request, seat)
        try:
            file = open_whole(kept.path, kept.below)
        except (OSError, ValueError):
            raise HTTPException(404, "There is no such replay any more.\n") from None
        size = os.fstat(file.fileno()).st_size
        return StreamingResponse(_parts(file, size), headers={"Content-Length": str(size)}, media_type="application/octet-stream")

    async def _check(self, request: Request, seat: Seat | None) -> Response:
        return JSONResponse(await self._visible(request, seat).verdict())

    async def _question(self, request: Request, seat: Seat | None) -> Response:
        kept, turn = self._visible(request, seat), _number(request, "turn")
        kept.begin()
        return JSONResponse(await in_thread(lambda: kept.recorded.question(turn, request.query_params.get("seat", ""))))

    async def _judged(self, request: Request, seat: Seat | None) -> Response:
        """Return the verdicts from an index on; the response waits until there are more or all are known."""
        kept, start = self._visible(request, seat), _number(request, "from")
        kept.start_verdicts()
        found, is_all = await kept.judged_from(start)
        return JSONResponse({"points": found, "is_all": is_all, "left_out": kept.recorded.left_out if is_all else []})

    async def _overlay(self, request: Request, seat: Seat | None) -> Response:
        kept, turn = self._visible(request, seat), _number(request, "turn")
        kept.begin()
        async with self._thinking:
            return JSONResponse(await in_thread(lambda: kept.recorded.overlay(turn)))

    async def _commands(self, request: Request, seat: Seat | None) -> Response:
        """Return what the page needs to print command lines about the replay."""
        from referee.web.commands import read_commands

        kept = self._visible(request, seat)
        try:
            return JSONResponse(await in_thread(lambda: read_commands(kept.source, kept.path, kept.lines())))
        except (ReplayError, OSError):
            raise HTTPException(404, "There are no commands for this file.\n") from None

    async def _log(self, request: Request, seat: Seat | None) -> Response:
        if not self.may_know(seat):
            raise HTTPException(403, _HIDDEN)
        path = self.logs.get(request.query_params.get("seat", ""))
        data = b""
        if path is not None:
            with contextlib.suppress(OSError, ValueError), open_regular(path, self.kept.below or path.parent) as file:
                data = file.read(_LOG_BYTES)
        return Response(data, media_type="application/octet-stream")

    async def _take_file(self, request: Request, seat: Seat | None) -> Response:
        """Accept a replay that was dropped on the page."""
        if seat is not None:
            raise HTTPException(403, _HIDDEN)
        handle, name = tempfile.mkstemp(suffix=".gz")
        kept = ReplaySession(Path(name), name="The file", turn=self._turn)
        kept.source = None
        upload = _Upload()
        self._make_room_for(upload)
        try:
            with os.fdopen(handle, "wb") as file:
                await self._receive(request, file, upload)
        except BaseException:
            kept.drop()
            raise
        finally:
            self._uploads.discard(upload)
        self._taken += 1
        key = str(self._taken)
        self._files[key] = kept
        while len(self._files) > _MOST_FILES or self._kept_bytes() > _MOST_KEPT_BYTES:
            self._drop_oldest()
        kept.begin()
        return JSONResponse({"id": key})

    def _drop_oldest(self) -> None:
        """Drop the oldest file: a page shows only one replay at a time."""
        self._files.pop(next(iter(self._files))).drop()

    def _make_room_for(self, upload: _Upload) -> None:
        if len(self._uploads) >= _MOST_UPLOADS:
            slowest = min(self._uploads, key=_Upload.rate)
            self._uploads.discard(slowest)
            slowest.is_given_up.set()
        self._uploads.add(upload)

    def _kept_bytes(self) -> int:
        files = sum(kept.path.stat().st_size for kept in self._files.values() if kept.path.exists())
        return files + sum(upload.size for upload in self._uploads)

    async def _receive(self, request: Request, file: IO[bytes], upload: _Upload) -> None:
        chunks = aiter(request.stream())
        while chunk := await upload.next(chunks):
            upload.size += len(chunk)
            if upload.size > MOST_BYTES:
                raise HTTPException(413, "The replay is too large.\n", _CLOSE)
            while self._files and self._kept_bytes() > _MOST_KEPT_BYTES:
                self._drop_oldest()
            if self._kept_bytes() > _MOST_KEPT_BYTES:
                raise HTTPException(503, "Too much is handed in at once; try again later.\n", _CLOSE)
            file.write(chunk)

    async def _socket(self, socket: WebSocket) -> None:
        """Close the socket: a stored replay has no live stream."""
        await socket.close(1008)


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, f"The {name} must be a whole number.\n")
    return int(text)


async def _no_token(_: Request) -> Response:
    text = "The address is not complete, or its match is over; use the one that the referee printed, to the last sign.\n"
    # Without a valid token the connection is closed.
    raise HTTPException(404, text, _CLOSE)


def read_json(text: str) -> dict[str, Any] | None:
    """Return a page's message; None if it isn't valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
