"""What a server of an arena does beside its answers, in processes of their own: one checks submissions, one plays matches.

A process that has ended is started again. Each ends with the server, however that ends; what was begun is taken up at the next start.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee.arena.arena import OpenArena, open_arena
from referee.arena.checking import Checker
from referee.arena.engine import ArenaEngine
from referee.arena.store import PAUSED, PLAYING
from referee.errors import MatchVoid, RefereeError, UsageError
from referee.isolation.launcher import open_launcher
from referee.league.engine import MachineFailed
from referee.support.escape import message
from referee.support.processes import give_way, start_module
from referee.tournament.progress import ProgressListener
from referee.tournament.transactions import StoreError
from referee.tournament.worker import end_with
from referee.tournament.workers import Workers, open_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.season_store import SeasonStore
    from referee.games.game import Json
    from referee.tournament.local import Pool
    from referee.tournament.values import MatchTask

#: How often a process looks for work, and how long it waits after a failure, in seconds.
_PAUSE, _LONG_PAUSE = 0.2, 5.0
#: What is played is stored at most so often, in seconds, and so many matches of it.
_TOLD_SECONDS, _MOST_TOLD = 0.5, 64
#: How long a process may take to end, in seconds.
_PATIENCE = 30.0


def say(text: str) -> None:
    """Print a sentence for the person who runs the server."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{message(text)}\n")


class Notes(ProgressListener):
    """Says what people should see at once, and stores what is played."""

    def __init__(self, store: SeasonStore, pool: Pool) -> None:
        self._store = store
        self._pool = pool
        self._since: dict[str, float] = {}
        self._due = 0.0

    #: Says a sentence.
    said = staticmethod(say)

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Store what is played, for pages."""
        # Workers of a cluster have more matches than they play at once.
        now, slots = time.time(), 0 if running is None else self._pool.slots
        tasks = (running or ())[: min(slots, _MOST_TOLD)]
        self._since = {task.key: self._since.get(task.key, now) for task in tasks}
        if now < self._due:
            return
        self._due = now + _TOLD_SECONDS
        matches = [{"key": task.key, "seats": dict(task.seats), "since": self._since[task.key]} for task in tasks]
        # Whether results can be stored decides whether play goes on.
        with contextlib.suppress(StoreError):
            self._store.set_fact(PLAYING, {"time": now, "host": platform.node(), "slots": slots, "matches": matches})


class SeasonWork:
    """The two processes of a server. ``close`` ends them."""

    def __init__(self, folder: Path, isolation: str, workers: Workers) -> None:
        options = {"folder": str(folder.resolve()), "isolation": isolation, "parent": os.getpid(), "workers": list(workers)}
        self._closing = threading.Event()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._threads = [threading.Thread(target=self._keep, args=(kind, json.dumps({**options, "kind": kind}))) for kind in _KINDS]
        for thread in self._threads:
            thread.start()

    def _keep(self, kind: str, options_json: str) -> None:
        """Start a process, again whenever it has ended."""
        while not self._closing.is_set():
            process = self._processes[kind] = start_module(__name__, options_json, stdin=subprocess.DEVNULL)
            if self._closing.is_set():
                process.terminate()
            status = process.wait()
            if not self._closing.is_set():
                say(f"note: The process that {kind}s has ended with status {status}; it is started again.")
                self._closing.wait(_LONG_PAUSE)

    def close(self) -> None:
        """End both processes."""
        self._closing.set()
        for process in self._processes.values():
            process.terminate()
        for thread in self._threads:
            thread.join(_PATIENCE)
        for process in self._processes.values():
            process.kill()


def _opened(options: dict[str, Json]) -> contextlib.closing[OpenArena]:
    opened = open_arena(Path(options["folder"]))
    opened.isolate(options["isolation"])
    return contextlib.closing(opened)


def _check(options: dict[str, Json]) -> None:
    """Check one submission after the other."""
    with _opened(options) as opened:
        checker = Checker(opened)
        while True:
            if not checker.check_next():
                time.sleep(_PAUSE)


def _play(options: dict[str, Json]) -> None:
    """Play for ever. When a version is added, go on with other workers, which know it."""
    workers = Workers(*options["workers"])
    with _opened(options) as opened, opened.store.claim():
        opened.store.set_fact(PAUSED, "")
        while True:
            schedule = opened.plan()
            if len(schedule.playing()) >= 2:
                try:
                    pool = open_pool(schedule.terms, schedule.teams, opened.replays, workers, say)
                    with contextlib.closing(pool):
                        ArenaEngine(opened.store, pool, schedule, Notes(opened.store, pool)).run()
                except (MachineFailed, UsageError) as error:
                    _pause(opened, workers, str(error))
                    continue
            while opened.store.versions_mark() == schedule.mark:
                time.sleep(_PAUSE)


def _pause(opened: OpenArena, workers: Workers, why: str) -> None:
    """Play nothing until this machine has what bots are promised and known good bots play on it, and tell the staff why."""
    say(f"note: {why} Play goes on when known good bots of the referee play here.")
    opened.store.set_fact(PAUSED, why)
    options, fails = opened.league.options, True
    while fails:
        time.sleep(_LONG_PAUSE)
        with contextlib.suppress(MatchVoid, UsageError):
            workers.check_machine(options)
            open_launcher(options.isolation, options.limits).clear_machine()
            fails = False
    opened.store.set_fact(PAUSED, "")
    say("note: Known good bots play here, so play goes on.")


_KINDS = {"check": _check, "play": _play}


def _run(options: dict[str, Json]) -> None:
    """Work until the server ends. After a failure, such as a full disk or a database that is restarted, go on a moment later."""
    end_with(options["parent"])
    # Readers wait for their pages; nobody waits for a match.
    give_way()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    last_message = ""
    while True:
        try:
            _KINDS[options["kind"]](options)
        except RefereeError as error:
            if str(error) != last_message:
                say(f"note: {error}")
            last_message = str(error)
        time.sleep(_LONG_PAUSE)


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]))
