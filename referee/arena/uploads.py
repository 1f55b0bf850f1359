"""Takes the files of hand-ins: reads a request in pieces, checks the limits, and queues the file for its check."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import shutil
import threading
import time
import uuid
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from referee.arena.api_models import LONGEST_NOTE
from referee.support.times import shown_time
from referee.support.words import counted
from referee.tournament.transactions import DiskFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.arena.arena import OpenArena
    from referee.arena.versions import HandIn

#: The folder of uploaded files, and the prefix of incomplete ones.
HANDED_IN, _INCOMING = "handed-in", ".incoming-"
#: The most bytes of a request besides its file.
_MOST_OTHER = 64 << 10
#: The time for a request: some seconds, and one for each number of bytes.
_SECONDS, _BYTES_A_SECOND = 30.0, 32 << 10
#: The seconds of a day, and the errors of a disk that has no room.
_DAY, FULL = 86_400.0, (errno.ENOSPC, errno.EDQUOT)
_CLOSE = {"Connection": "close"}
#: So many digits of the length of a body are read: more than any length that is allowed has.
_MOST_DIGITS = 20
#: The most uploads of one team that are read at the same time: each is a file on the disk until it has ended.
_AT_ONCE = 2
#: So many files of a request are counted before it is refused.
_MOST_FILES = 20


class Uploads:
    """Takes what teams hand in to an arena; ``report`` gets a line about each hand-in."""

    def __init__(self, arena: OpenArena, report: Callable[[str], None] = lambda _: None) -> None:
        self._report = report
        self._arena = arena
        self._folder = arena.folder
        self._store = arena.store
        self._season = arena.config.season
        #: One at a time is counted and stored, so that two at once don't pass a limit together.
        self._lock = threading.Lock()
        #: The uploads of each team that are being read. Only the server's event loop counts them.
        self._open: Counter[str] = Counter()

    def check_open(self, team: str, consequence: str = "") -> None:
        """Raise HTTPException if a team may not change its version: 403, or 409 with the ``consequence`` while submissions are closed."""
        if (why := self._store.versions.disqualified().get(team)) is not None:
            raise HTTPException(403, f"Your team is disqualified: {why}", _CLOSE)
        if (why := self._arena.frozen(is_public=True)) is not None:
            raise HTTPException(409, f"{why} {consequence}".rstrip(), _CLOSE)

    def check(self, team: str) -> None:
        """Raise HTTPException if a team may not hand in now: 403, 409, or 429 with the time of the next try."""
        self.check_open(team)
        most, now = self._season.submissions_per_day, time.time()
        times = self._store.versions.times(team, now - _DAY)
        if len(times) >= most:
            due = times[-most] + _DAY
            text = f"Your team handed in {counted(most, 'version')} within a day, which is the limit; try again at {shown_time(due + 60)}."
            raise HTTPException(429, text, {"Retry-After": str(int(due - now) + 1), **_CLOSE})

    def left(self, team: str) -> int:
        """Return how many versions a team may still hand in within 24 hours of the first one that counts."""
        return max(0, self._season.submissions_per_day - len(self._store.versions.times(team, time.time() - _DAY)))

    @contextlib.contextmanager
    def _counted(self, team: str) -> Iterator[None]:
        """Count an upload of a team until it has ended, however it ends. HTTPException 429 if the team has too many."""
        if self._open[team] >= _AT_ONCE:
            text = f"Your team is uploading {_AT_ONCE} files, which is the limit; try again when one of them has ended."
            raise HTTPException(429, text, {"Retry-After": str(int(_SECONDS)), **_CLOSE})
        self._open[team] += 1
        try:
            yield
        finally:
            self._open[team] -= 1

    async def take(self, request: Request, team: str) -> HandIn:
        """Read the file and the note of a request, and queue them. Raises HTTPException; then nothing is kept."""
        with self._counted(team):
            await run_in_threadpool(self.check, team)
            return await self._taken(request, team)

    async def _taken(self, request: Request, team: str) -> HandIn:
        most, text = self._season.max_bytes + _MOST_OTHER, self._too_large()
        try:
            async with bounded(request, most, text).form(max_files=_MOST_FILES, max_fields=4, max_part_size=_MOST_OTHER) as form:
                file, note = form.get("file"), form.get("note", "")
                if sum(isinstance(value, UploadFile) for _, value in form.multi_items()) > 1:
                    raise HTTPException(422, "There is more than one file: put the bot's files into one archive, such as bot.zip.")
                if not isinstance(file, UploadFile) or not file.filename:
                    raise HTTPException(422, 'There is no file: hand in multipart/form-data with a part "file" that has a file name.')
                if not isinstance(note, str) or len(note) > LONGEST_NOTE:
                    raise HTTPException(422, f"The note has more than {LONGEST_NOTE} characters; make it shorter.")
                if not file.size:
                    raise HTTPException(422, "The file is empty; hand in a bot.")
                taken = await run_in_threadpool(self._keep, team, " ".join(note.split()), file)
                self._report(f"{shown_time(taken.submitted)}  {team} hands in {plain_name(file.filename)}: submission {taken.number}")
                return taken
        except HTTPException as error:
            if error.status_code == 400:
                raise HTTPException(422, f"The request is not complete multipart/form-data: {error.detail}", _CLOSE) from None
            raise
        except OSError as error:
            if error.errno in FULL:
                raise full() from None
            raise

    def _too_large(self) -> str:
        return f"The file has more than {self._season.max_bytes:,} bytes, which is the limit; hand in only the bot's own files."

    def _keep(self, team: str, note: str, file: UploadFile) -> HandIn:
        """Write a file into a folder of its own, which gets its name when it is complete, and queue it."""
        if (file.size or 0) > self._season.max_bytes:
            raise HTTPException(413, self._too_large(), _CLOSE)
        top = self._folder / HANDED_IN
        number = uuid.uuid4().hex
        stage, place = top / f"{_INCOMING}{number}", top / number
        name = plain_name(file.filename or "")
        try:
            stage.mkdir(parents=True, mode=0o700)
            with (stage / name).open("xb") as target:
                shutil.copyfileobj(file.file, target)
                target.flush()
                os.fsync(target.fileno())
            stage.rename(place)
            with self._lock:
                self.check(team)
                return self._store.versions.hand_in(team, note, str((place / name).relative_to(self._folder)))
        except BaseException as error:
            shutil.rmtree(stage, ignore_errors=True)
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, DiskFull):
                raise full() from None
            raise


def bounded(request: Request, most: int = _MOST_OTHER, text: str = "The request is too large.") -> Request:
    """Return a request whose body ends with HTTPException 413 after so many bytes, and with 408 if it comes too slowly.

    HTTPException 413 at once if the request says that its body has more bytes.
    """
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:_MOST_DIGITS]) > most:
        raise HTTPException(413, text, _CLOSE)
    begun, size = monotonic(), 0

    async def receive() -> Any:
        nonlocal size
        left = begun + _SECONDS + size / _BYTES_A_SECOND - monotonic()
        try:
            message = await asyncio.wait_for(request.receive(), max(0.0, left))
        except asyncio.TimeoutError:
            raise HTTPException(408, "The request comes too slowly; try again.", _CLOSE) from None
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413, text, _CLOSE)
        return message

    return Request(request.scope, receive)


def full() -> HTTPException:
    """Return the error for a full disk."""
    return HTTPException(507, "The server's disk is full, so nothing was stored; tell the staff, and try again when there is room.", _CLOSE)


def plain_name(path: str) -> str:
    """Return the name of a file that was handed in: letters, digits, dots, hyphens and underscores, of the last part of its path."""
    name = re.sub(r"[^\w.-]", "_", re.split(r"[/\\]", path)[-1], flags=re.ASCII)[-100:].lstrip(".-")
    return name or "bot"
