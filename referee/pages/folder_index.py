"""The replays of a folder, kept up to date: a thread reads the files, and pages ask for what they don't know yet."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from referee.pages.folder_listing import read_entry, scan
from referee.pages.replay_session import call_in, in_thread
from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.games.game import Json
    from referee.pages.folder_listing import ListedReplay, ReplayFile

#: How often a folder is read at most, in seconds. One that takes long is read less often: this many times its duration.
READ_SECONDS = 1.5
PAUSE_FACTOR = 5.0
#: How many entries are read before waiting pages are told, and by how much that number grows; and the most entries of one answer.
_BATCH, _GROWTH = 40, 4
_MOST_ANSWERED = 2_000


class FolderIndex:
    """The replays of a folder, each with a number that stays the same. Addresses contain only numbers, so they can't name other files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self.entries: dict[int, ListedReplay] = {}
        self.files: dict[int, ReplayFile] = {}
        self._numbers: dict[Path, int] = {}
        #: The numbers of entries as they were read, changed or removed. Pages ask for all from an index on.
        self._log: list[int] = []
        self._news = asyncio.Event()
        self._reading: asyncio.Future[None] | None = None
        self._due = 0.0

    def file(self, number: int) -> ReplayFile | None:
        """Return the file of a replay that the viewer can open; None if there is none of that number."""
        entry = self.entries.get(number)
        return self.files[number] if entry is not None and entry.opens else None

    async def after(self, start: int) -> dict[str, Json]:
        """Return the entries from an index of the log on, as JSON. Waits while the first reading has found nothing more."""
        self.begin()
        while len(self._log) <= start and self._is_reading():
            news = self._news
            await news.wait()
        chosen = self._log[start : start + _MOST_ANSWERED]
        entries = {number: self._shown(number) for number in dict.fromkeys(chosen)}
        end = start + len(chosen)
        is_reading = end < len(self._log) or self._is_reading()
        return {"entries": list(entries.items()), "next": end, "reading": is_reading, "notes": self.notes}

    def _shown(self, number: int) -> dict[str, Json] | None:
        entry = self.entries.get(number)
        return None if entry is None else entry.to_json()

    def _is_reading(self) -> bool:
        return self._reading is not None and not self._reading.done()

    def begin(self) -> None:
        """Read what is new, unless that was done a moment ago."""
        if not self._is_reading() and monotonic() >= self._due:
            loop = asyncio.get_running_loop()
            self._reading = in_thread(lambda: self._read(lambda: call_in(loop, self._tell)))
            self._reading.add_done_callback(lambda _: self._tell())

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _read(self, on_batch: Callable[[], None]) -> None:
        """Read what is new; runs in a thread, one at a time."""
        begun = monotonic()
        try:
            files, notes = self._listed()
        except OSError as error:
            files, notes = {}, [f"The folder can't be read: {error.strerror or error}."]
        self.notes = notes
        missing = {number: self.files[number] for number in self._numbers.values() if number in self.files}
        changed = []
        for key, (file, name) in files.items():
            number = self._numbers.setdefault(key, len(self._numbers))
            if missing.pop(number, None) != file:
                changed.append((number, file, name))
        for number in missing:
            del self.files[number]
            self.entries.pop(number, None)
            self._log.append(number)
        # The newest first: they are on top of the page.
        changed.sort(key=lambda item: -item[1].modified)
        due = _BATCH
        for count, (number, file, name) in enumerate(changed, 1):
            self.entries[number] = read_entry(file, name)
            self.files[number] = file
            self._log.append(number)
            if count == due:
                due *= _GROWTH
                on_batch()
        self._due = monotonic() + max(READ_SECONDS, PAUSE_FACTOR * (monotonic() - begun))

    def _listed(self) -> tuple[dict[Path, tuple[ReplayFile, str]], list[str]]:
        files, notes = scan(self.folder)
        return {file.path: (file, escape(str(file.path.relative_to(self.folder)))) for file in files}, notes
