"""The report of a league that is running: a server's page that updates itself and opens the replay of each match in the viewer.

The server reads the league through a function, in a thread, and never touches the matches. Pages ask for what is new, and wait for it: they get
the page again, with only the duels that they don't know yet, and replace their parts by those of the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import re
from time import monotonic
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from referee.league import report, report_page
from referee.pages import render
from referee.web.kept_replay import in_thread, worked
from referee.web.replay_sites import ReplaySites, assets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Scope

#: How often the league is read at most, in seconds. A league that takes long to read is read less often: this many times its duration.
READ_SECONDS = 1.0
_PAUSE_FACTOR = 5.0
#: How long a page waits for news before it gets what it has already, in seconds.
NEWS_SECONDS = 15.0
#: How many answers are kept for pages that ask the same.
_MOST_ANSWERS = 32
_GONE = "The address is not complete, or this league's report is over; use the one that the referee printed, to the last sign.\n"
#: What a page shows of a league that could not be read yet.
_UNKNOWN = report.ReportData("League", "", "", "", {}, report.LeagueProgress(report.RUNNING, 0, 0), (), ())
_MATCH = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


class LiveReport:
    """The pages of one league. ``source`` returns its present state; it is called in a thread, by one caller at a time.

    ``folder`` is the league's folder, which the replays' paths are relative to.
    """

    def __init__(self, source: Callable[[], report.ReportData], folder: Path, token: str, read_seconds: float = READ_SECONDS) -> None:
        self._source = source
        self._folder = folder.resolve()
        self._read_seconds = read_seconds
        self._data: report.ReportData | None = None
        self._problem = ""
        #: The numbers of the duels as they came or changed. Pages ask for all from an index on.
        self._log: list[int] = []
        self._duels: dict[int, report.DuelLine] = {}
        self._matches: dict[str, report.MatchLine] = {}
        self._version = 0
        self._is_over = False
        self._news = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        #: Answers to the same question of several pages.
        self._answers: dict[int, bytes] = {}
        self._packing = asyncio.Lock()
        self._sites = ReplaySites(token)

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the ASGI application; ``names`` and ``takes_addresses`` as for ``Guard``."""
        pages = {"": self._page, "{path:path}": assets(render.asset)}
        return self._sites.app(pages, "match", self._site, _GONE, names, takes_addresses=takes_addresses)

    def has_token(self, scope: Scope) -> bool:
        """Return False: all visitors are spectators."""
        return False

    def close(self) -> None:
        """End all work on replays."""
        self._sites.close()

    async def _page(self, request: Request) -> Response:
        """Return the report, with the duels from an index of the log on. A page that knows the newest state waits for another one."""
        given = request.query_params.get("from", "0")
        if not (given.isascii() and given.isdigit() and len(given) < 10):
            return PlainTextResponse("from must be a whole number.\n", 400)
        self._begin()
        while self._data is None and not self._problem:
            await self._news.wait()
        if request.query_params.get("news") == str(self._version) and not self._is_over:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), NEWS_SECONDS)
        start = min(int(given), len(self._log))
        body = self._answers.get(start)
        if body is None:
            answers = self._answers
            data, duels = self._data or _UNKNOWN, [self._duels[number] for number in dict.fromkeys(self._log[start:])]
            news = None if self._is_over else self._version
            made = functools.partial(report_page.served, data, duels, len(self._log), news, self._problem)
            body = await worked(lambda: gzip.compress(made().encode(), 1), self._packing)
            answers[start] = body
            while len(answers) > _MOST_ANSWERS:
                del answers[next(iter(answers))]
        return Response(body, media_type="text/html; charset=utf-8", headers={"Content-Encoding": "gzip"})

    def _begin(self) -> None:
        """Read the league from now on, if nobody does."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        while not self._is_over:
            begun = monotonic()
            try:
                data = await in_thread(self._source)
            except Exception as error:  # noqa: BLE001 - the page outlives moments in which the store can't be read, and says so
                self._tell(f"The league could not be read: {error}")
            else:
                changed = await in_thread(functools.partial(self._changed, data))
                self._take(changed, data, is_over=data.progress.state != report.RUNNING)
            await asyncio.sleep(max(self._read_seconds, _PAUSE_FACTOR * (monotonic() - begun)))

    def _changed(self, data: report.ReportData) -> list[report.DuelLine]:
        known = {duel.number for duel in data.duels}
        # The page forgets a duel that has nothing any more: its matches are to be played again.
        gone = [
            duel._replace(points={}, matches=(), note="") for number, duel in self._duels.items() if number not in known and duel.matches
        ]
        return [*gone, *(duel for duel in data.duels if self._duels.get(duel.number) != duel)]

    def _take(self, changed: list[report.DuelLine], data: report.ReportData, *, is_over: bool) -> None:
        is_same = not changed and self._data is not None and _rest(data) == _rest(self._data) and not self._problem
        for duel in changed:
            self._duels[duel.number] = duel
            self._log.append(duel.number)
            for match in duel.matches:
                key = f"{duel.number}.{match.game_number}"
                if self._matches.get(key, match).replay != match.replay:
                    self._sites.drop(key)
                self._matches[key] = match
        self._data = data
        self._is_over = is_over
        if not is_same or is_over:
            self._tell("")

    def _tell(self, problem: str) -> None:
        self._problem = problem
        self._version += 1
        self._answers = {}
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _site(self, key: str) -> ASGIApp | None:
        """Return the viewer of a match's replay; None if there is none."""
        match = self._matches.get(key) if _MATCH.fullmatch(key) else None
        if match is None or not match.replay:
            return None
        return self._sites.open(key, self._folder / match.replay, self._folder, match.seats)


def _rest(data: report.ReportData) -> report.ReportData:
    """Return all but the duels."""
    return data._replace(duels=())
