"""The process that plays batch after batch of duels. After a change of versions it starts new workers, which have their files."""

from __future__ import annotations

import contextlib
import platform
import time
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from referee.arena.bells import listening
from referee.arena.blame import Blame
from referee.arena.plan import ArenaMatches, ArenaPlan
from referee.arena.playing import PlayingNow, RunningMatch
from referee.arena.versions import PLAYER
from referee.errors import MatchVoid, UsageError
from referee.isolation.launcher import open_launcher
from referee.support.times import shown_time
from referee.support.words import counted
from referee.tournament.disputes import patience
from referee.tournament.plan import MachineFailed, playing
from referee.tournament.progress import LINE_SECONDS, ProgressListener
from referee.tournament.transactions import ConnectionLost, StoreError, again
from referee.tournament.values import Record
from referee.tournament.worker import Terms
from referee.tournament.workers import open_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from referee.arena.arena import OpenArena
    from referee.arena.choice import DuelChoice
    from referee.arena.store import ArenaStore
    from referee.tournament.local import Pool
    from referee.tournament.values import Task
    from referee.tournament.workers import Workers

#: Seconds before a machine that has failed is tried again.
RETRY_SECONDS = 5.0
#: The most seconds between two looks at the workers.
_TICK = 0.5
#: The least seconds between two stored lists of running matches, and the most matches in a list.
_STORED_SECONDS, _MOST_STORED = 0.5, 64


def play(arena: OpenArena, workers: Workers, say: Callable[[str], None]) -> None:
    """Play forever. ``say`` gets sentences for the person who runs the server."""
    store = arena.store
    with store.database.claim(waits=True), listening(arena.folder, PLAYER) as bell:
        store.season.change(paused="")
        while True:
            choice = arena.plan()
            if len(choice.playing()) >= 2:
                try:
                    with contextlib.closing(arena_pool(arena, workers, say)) as pool:
                        play_batches(arena, pool, PlayingNotes(store, pool, say))
                except (MachineFailed, UsageError) as error:
                    pause(arena, workers, str(error), say)
                    continue
            while store.season.changes() == choice.mark:
                bell.wait()


def arena_pool(arena: OpenArena, workers: Workers, say: Callable[[str], None]) -> Pool:
    """Return workers that have the files of the versions that the arena has read."""
    config = arena.config
    return open_pool(Terms(config.game.info.name, config.rules, config.options), arena.entries, arena.replays, workers, say)


def play_batches(arena: OpenArena, pool: Pool, watch: ProgressListener) -> DuelChoice:
    """Play the open duels, and batch after batch until no further one is chosen; return the choice. PlayStopped if nothing can be played now.

    Linear algebra uses one thread, because the matches need the other cores.
    """
    with threadpool_limits(1, user_api="blas"):
        run = _Run(arena, pool, watch)
        while run.play_batch():
            pass
    return arena.choice


class _Run:
    """Batches that are played with the same workers."""

    def __init__(self, arena: OpenArena, pool: Pool, watch: ProgressListener) -> None:
        self._arena = arena
        self._pool = pool
        #: The tasks that are played now.
        self._running: Collection[Task] = ()
        self._watch = watch
        self._matches = ArenaMatches(arena.config, arena.entries)
        self._gives_up = patience(arena.owner)
        again(arena.results.catch_up)
        #: The number of duels that ``arena.choice`` has counted.
        self._planned = len(arena.results)

    def play_batch(self) -> bool:
        """Play a batch. Return False if there is none."""
        arena, store = self._arena, self._arena.store
        store.database.keep_claim()
        open_duels = again(self._open_duels)
        # Count the duels of an earlier process, and of the last batch if it was stored.
        planned = len(arena.results) + open_duels
        arena.choice.count(planned - self._planned)
        self._planned = planned
        batch = [] if open_duels else again(arena.choice.batch)
        if not open_duels and not batch:
            again(arena.rater.record)
            return False
        try:
            self._play(ArenaPlan(self._matches, store, arena.results, Blame(store.disputed, arena.owner), batch))
        except ConnectionLost:
            self._save()
        return True

    def _open_duels(self) -> int:
        """Read the results that are new in the store; return how many duels have none."""
        self._arena.results.catch_up()
        return sum(duel.points is None for duel in self._arena.store.duels.since(len(self._arena.results)))

    def _play(self, plan: ArenaPlan) -> None:
        arena, is_recorded = self._arena, False
        for step in playing(plan, arena.store.core, self._pool, self._gives_up, most_shortages=1):
            self._running = step.running
            has_news = bool(plan.results)
            while plan.results:
                arena.results.take(plan.results.popleft())
            self._watch.step(step, plan.sentences, has_workers=self._pool.has_workers)
            if not is_recorded:
                # The workers have matches now.
                again(arena.rater.record)
            is_recorded = True
            again(partial(arena.rater.store_current, has_news=has_news))

    def _save(self) -> None:
        """Store the running matches."""
        store, records, running = self._arena.store, list[Record](), {task.key for task in self._running}
        store.database.keep_claim()
        while running:
            ended = self._pool.wait(_TICK)
            running -= {record.key for record in ended}
            records += ended
        store.core.add_all([(record, not record.void) for record in records])


def pause(arena: OpenArena, workers: Workers, why: str, say: Callable[[str], None]) -> None:
    """Wait until this machine fulfils the limits and the referee's own bots play on it. Store the reason for the staff."""
    say(f"note: {why} Play goes on when the referee's own bots play here.")
    arena.store.season.change(paused=why)
    options, fails = arena.config.options, True
    while fails:
        time.sleep(RETRY_SECONDS)
        with contextlib.suppress(MatchVoid, UsageError):
            workers.check_machine(options)
            open_launcher(options.isolation, options.limits).clear_machine()
            fails = False
    arena.store.season.change(paused="")
    say("note: The referee's own bots play here, so play goes on.")


class PlayingNotes(ProgressListener):
    """Prints messages that people should see at once, and stores the running matches."""

    def __init__(self, store: ArenaStore, pool: Pool, say: Callable[[str], None]) -> None:
        self._playing = store.playing
        self._pool = pool
        self._say = say
        self._since: dict[str, float] = {}
        self._due = 0.0
        self._ended, self._told = 0, time.monotonic()

    def said(self, text: str) -> None:
        """Say a sentence."""
        self._say(text)

    def finished(self, task: Task, record: Record) -> None:
        """Print now and then how many matches have ended, and the result of the last one."""
        self._ended += 1
        if time.monotonic() - self._told >= LINE_SECONDS:
            names, outcome = " against ".join(task.names.values()), record.void or record.text
            self._say(f"{shown_time(time.time())}  {counted(self._ended, 'match')} more; the last one: {names}: {outcome}")
            self._ended, self._told = 0, time.monotonic()

    def tick(self, running: Collection[Task] | None) -> None:
        """Store the running matches, for the pages."""
        # Workers of a cluster have more matches than they play at once.
        now, slots = time.time(), 0 if running is None else self._pool.slots
        tasks = list(islice(running or (), min(slots, _MOST_STORED)))
        self._since = {task.key: self._since.get(task.key, now) for task in tasks}
        if now < self._due:
            return
        self._due = now + _STORED_SECONDS
        matches = [RunningMatch(key=task.key, seats=dict(task.names), since=self._since[task.key]) for task in tasks]
        # Whether results can be stored decides whether play goes on.
        with contextlib.suppress(StoreError):
            self._playing.put(PlayingNow(time=now, host=platform.node(), slots=slots, matches=matches))
