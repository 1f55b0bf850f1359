"""Replays that visitors drop on pages: how many a server accepts at once, and which it keeps."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING

from starlette.exceptions import HTTPException

from referee.web.kept_replay import ReplaySession

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

#: Limits of uploads: the bytes of one replay, the bytes of all kept replays, and the number of kept replays.
MOST_BYTES = 256 << 20
_MOST_KEPT_BYTES = 512 << 20
_MOST_FILES = 8
#: How many uploads are accepted at once, and the time for each: some seconds, plus one for each number of bytes.
_MOST_UPLOADS = 4
_UPLOAD_SECONDS = 10.0
_BYTES_A_SECOND = 256 << 10
_CLOSE = {"Connection": "close"}


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


async def _part(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the next part of a request that isn't empty; empty at the end."""
    return await anext((chunk async for chunk in chunks if chunk), b"")


class Uploads:
    """The replays that were dropped on the pages of a server, by number. ``turn`` is as for ``ReplaySession``.

    All pages of a server share one such object, so that the limits hold for the server and not for each replay that it shows.
    """

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._files: dict[str, ReplaySession] = {}
        self._coming: set[_Upload] = set()
        self._taken = 0

    def get(self, key: str) -> ReplaySession | None:
        """Return a kept replay; None if there is none of that number."""
        return self._files.get(key)

    def close(self) -> None:
        """Remove all kept replays."""
        for kept in self._files.values():
            kept.drop()
        self._files.clear()

    async def take(self, request: Request) -> str:
        """Receive a replay and return its number. HTTPException if it is too large or comes too slowly."""
        handle, name = tempfile.mkstemp(suffix=".gz")
        kept = ReplaySession(Path(name), name="The file", turn=self._turn, is_copy=True)
        upload = _Upload()
        self._make_room_for(upload)
        try:
            with os.fdopen(handle, "wb") as file:
                await self._receive(request, file, upload)
        except BaseException:
            kept.drop()
            raise
        finally:
            self._coming.discard(upload)
        self._taken += 1
        key = str(self._taken)
        self._files[key] = kept
        while len(self._files) > _MOST_FILES or self._kept_bytes() > _MOST_KEPT_BYTES:
            self._drop_oldest()
        kept.begin()
        return key

    def _drop_oldest(self) -> None:
        """Drop the oldest file: a page shows only one replay at a time."""
        self._files.pop(next(iter(self._files))).drop()

    def _make_room_for(self, upload: _Upload) -> None:
        if len(self._coming) >= _MOST_UPLOADS:
            slowest = min(self._coming, key=_Upload.rate)
            self._coming.discard(slowest)
            slowest.is_given_up.set()
        self._coming.add(upload)

    def _kept_bytes(self) -> int:
        files = sum(kept.path.stat().st_size for kept in self._files.values() if kept.path.exists())
        return files + sum(upload.size for upload in self._coming)

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
