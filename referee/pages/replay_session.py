"""A replay of which pages request data: it is played again in a thread, that of a running match as it grows; one is worked on at a time."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import zlib
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from referee.replay.match_analysis import costly_moves
from referee.replay.reader import ReplayReader, read_lines
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.game import Json


T = TypeVar("T")

#: The most processor time of a search for the moves that cost most, in seconds.
_SEARCH_SECONDS = 4.0
#: The most verdicts in one response.
_MOST_POINTS = 500


class ReplaySession:
    """A replay of which pages request data. It is played again, in its own thread, at the first request.

    ``turn`` is a lock: only one of several replays is worked on at a time. ``below`` is as for ``open_regular``.
    """

    def __init__(
        self,
        path: Path,
        recorded: ReplayIndex | None = None,
        turn: asyncio.Lock | None = None,
        below: Path | None = None,
        *,
        is_copy: bool = False,
    ) -> None:
        self.path = path
        self.below = below
        #: The file as its user knows it, for command lines; None if the user has no such file.
        self.source = None if is_copy else path
        #: Its name in messages.
        self.name = Path(path.name)
        self.recorded = recorded or ReplayIndex()
        self._turn = turn or asyncio.Lock()
        self._verdict: asyncio.Future[dict[str, Json]] | None = None
        self._judging: asyncio.Future[None] | None = None
        self._news = asyncio.Event()

    async def verdict(self) -> dict[str, Json]:
        """Return whether the replay is complete and correct, with the metrics."""
        self.begin()
        verdict = self.recorded.verdict if self._verdict is None else await asyncio.shield(self._verdict)
        return {**(verdict or {}), "metrics": self.recorded.metrics, "left_out": self.recorded.left_out}

    def begin(self) -> None:
        """Start playing the replay again, without waiting; do nothing if it was played again during the match."""
        if self._verdict is None and self.recorded.verdict is None:
            # No thread waits for its turn: a visitor can ask for many replays.
            self._verdict = asyncio.ensure_future(worked(lambda: self.recorded.play(self.name, self.lines()), self._turn))

    def mistakes(self) -> list[dict[str, Json]]:
        """Return the moves that cost the losing seats most, once the replay was played again; none of a replay that doesn't hold."""
        recorded = self.recorded
        if recorded.verdict is None or recorded.verdict["status"] != "good":
            return []
        return costly_moves(ReplayReader(self.path, self.lines()), recorded.latest, _SEARCH_SECONDS)

    def lines(self) -> Iterator[bytes]:
        """Yield its lines; errors as for ``read_lines``."""
        return read_lines(self.path, self.name, self.below)

    def start_verdicts(self) -> None:
        """Start to compute the verdicts without waiting."""
        self.begin()
        if self._judging is None:
            loop = asyncio.get_running_loop()

            async def judge() -> None:
                if self._verdict is not None:
                    await asyncio.wait({self._verdict})
                await worked(lambda: self.recorded.compute_verdicts(lambda: call_in(loop, self._tell)), self._turn)

            self._judging = asyncio.ensure_future(judge())
            self._judging.add_done_callback(lambda _: self._tell())

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def judged_from(self, start: int) -> tuple[list[tuple[int, dict[str, Json]]], bool]:
        """Wait for verdicts from an index on; return them and whether they are all."""
        while True:
            news = self._news
            is_all = self.recorded.is_judged
            points = self.recorded.judged[start : start + _MOST_POINTS]
            if points or is_all:
                return points, is_all and start + len(points) >= len(self.recorded.judged)
            await news.wait()


def call_in(loop: asyncio.AbstractEventLoop, what: Callable[[], object]) -> None:
    """Call a function in a loop of another thread, unless the loop has ended meanwhile."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run a function in a daemon thread, so that it doesn't delay the program's exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(finish: Callable[[], None]) -> None:
        if not future.done():
            finish()

    def run() -> None:
        try:
            finish = partial(future.set_result, work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            finish = partial(future.set_exception, error)
        call_in(loop, partial(settle, finish))

    threading.Thread(target=run, daemon=True).start()
    return future


async def worked(work: Callable[[], T], turn: asyncio.Lock | asyncio.Semaphore, patience: float | None = None) -> T:
    """Run a function in a thread when it is its turn. The turn ends with the thread, also if the visitor has left before.

    asyncio.TimeoutError if it isn't its turn within ``patience`` seconds.
    """
    await asyncio.wait_for(turn.acquire(), patience)
    try:
        result = in_thread(work)
    except BaseException:
        turn.release()
        raise
    result.add_done_callback(lambda _: turn.release())
    # A failure of which nobody is told any more is no news.
    result.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(result)


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


class RunningReplaySession(ReplaySession):
    """The replay of a running match. It is played again as it grows; its result is known after the end.

    ``on_judged`` is called when there are new verdicts.
    """

    def __init__(self, path: Path, recorded: ReplayIndex, on_judged: Callable[[], None]) -> None:
        super().__init__(path, recorded)
        self.played = asyncio.Event()
        self._on_judged = on_judged

    def begin(self) -> None:
        """Do nothing: playing the replay again began with the match."""

    def _tell(self) -> None:
        super()._tell()
        self._on_judged()

    async def verdict(self) -> dict[str, Json]:
        """Return whether the replay is complete and correct; waits for the end of the match."""
        await self.played.wait()
        return await super().verdict()
