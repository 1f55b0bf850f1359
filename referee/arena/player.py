"""The process that plays: batch after batch of duels, and when a version has joined or left, with workers that know it."""

from __future__ import annotations

import contextlib
import platform
import time
from typing import TYPE_CHECKING

from referee.arena.bells import listening
from referee.arena.engine import ArenaEngine
from referee.arena.playing import PlayingNow, RunningMatch
from referee.arena.versions import PLAYER
from referee.errors import MatchVoid, UsageError
from referee.isolation.launcher import open_launcher
from referee.league.engine import MachineFailed
from referee.tournament.progress import ProgressListener
from referee.tournament.transactions import StoreError
from referee.tournament.workers import open_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.arena.arena import OpenArena
    from referee.arena.store import ArenaStore
    from referee.tournament.local import Pool
    from referee.tournament.values import MatchTask
    from referee.tournament.workers import Workers

#: How long it waits before it tries a machine that has failed again, in seconds.
RETRY_SECONDS = 5.0
#: What is played is stored at most so often, in seconds, and so many matches of it.
_STORED_SECONDS, _MOST_STORED = 0.5, 64


def play(arena: OpenArena, workers: Workers, say: Callable[[str], None]) -> None:
    """Play forever. ``say`` gets sentences for the person who runs the server."""
    store = arena.store
    with store.database.claim(waits=True), listening(arena.folder, PLAYER) as bell:
        store.season.change(paused="")
        while True:
            schedule = arena.plan()
            if len(schedule.playing()) >= 2:
                try:
                    pool = open_pool(schedule.terms, schedule.teams, arena.replays, workers, say)
                    with contextlib.closing(pool):
                        ArenaEngine(store, pool, schedule, PlayingNotes(store, pool, say)).run()
                except (MachineFailed, UsageError) as error:
                    pause(arena, workers, str(error), say)
                    continue
            while store.season.changes() == schedule.mark:
                bell.wait()


def pause(arena: OpenArena, workers: Workers, why: str, say: Callable[[str], None]) -> None:
    """Play nothing until this machine has what bots are promised and known good bots play on it, and tell the staff why."""
    say(f"note: {why} Play goes on when known good bots of the referee play here.")
    arena.store.season.change(paused=why)
    options, fails = arena.league.options, True
    while fails:
        time.sleep(RETRY_SECONDS)
        with contextlib.suppress(MatchVoid, UsageError):
            workers.check_machine(options)
            open_launcher(options.isolation, options.limits).clear_machine()
            fails = False
    arena.store.season.change(paused="")
    say("note: Known good bots play here, so play goes on.")


class PlayingNotes(ProgressListener):
    """Says what people should see at once, and stores what is played."""

    def __init__(self, store: ArenaStore, pool: Pool, say: Callable[[str], None]) -> None:
        self._playing = store.playing
        self._pool = pool
        self._say = say
        self._since: dict[str, float] = {}
        self._due = 0.0

    def said(self, text: str) -> None:
        """Say a sentence."""
        self._say(text)

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Store what is played, for pages."""
        # Workers of a cluster have more matches than they play at once.
        now, slots = time.time(), 0 if running is None else self._pool.slots
        tasks = (running or ())[: min(slots, _MOST_STORED)]
        self._since = {task.key: self._since.get(task.key, now) for task in tasks}
        if now < self._due:
            return
        self._due = now + _STORED_SECONDS
        matches = [RunningMatch(key=task.key, seats=dict(task.seats), since=self._since[task.key]) for task in tasks]
        # Whether results can be stored decides whether play goes on.
        with contextlib.suppress(StoreError):
            self._playing.put(PlayingNow(time=now, host=platform.node(), slots=slots, matches=matches))
