"""The replay of a running match: reads the file as it grows, and knows its result after the end."""

from __future__ import annotations

import asyncio
import zlib
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from referee.web.kept_replay import ReplaySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from referee.web.replay_session import ReplayIndex


class Tail:
    """Reads the lines of a growing replay, in a thread. The event loop calls ``more`` when there may be new lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: True: the file has grown; False: it will not grow any more.
        self._news: SimpleQueue[bool] = SimpleQueue()

    def more(self) -> None:
        """The file has grown."""
        self._news.put(True)

    def end(self) -> None:
        """The file will not grow any more."""
        self._news.put(False)

    def batches(self) -> Iterator[list[bytes]]:
        """Yield all complete lines that are available, as a list."""
        inflate = zlib.decompressobj(31)
        rest = b""
        # Until the match has begun, the path may hold an older file.
        is_growing = self._news.get()
        if not is_growing or not self._path.exists():
            # The match did not begin.
            return
        with self._path.open("rb") as file:
            while True:
                while data := file.read(1 << 20):
                    *lines, rest = (rest + inflate.decompress(data)).split(b"\n")
                    if lines:
                        yield [line + b"\n" for line in lines]
                if not is_growing:
                    return
                is_growing = self._news.get()


class Running(ReplaySession):
    """The replay of a running match. It is played again as it grows; its result is known after the end."""

    def __init__(self, path: Path, recorded: ReplayIndex) -> None:
        super().__init__(path, recorded)
        self.played = asyncio.Event()
        #: Called when there are new verdicts.
        self.on_judged: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """Do nothing: playing the replay again began with the match."""

    def _tell(self) -> None:
        super()._tell()
        self.on_judged()

    async def verdict(self) -> dict[str, Any]:
        """Return whether the replay is complete and correct; waits for the end of the match."""
        await self.played.wait()
        return await super().verdict()
