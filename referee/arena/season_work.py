"""The processes beside a server of an arena: one checks submissions, one plays matches.

A process that has ended is started again. Both end with the server. Interrupted checks and matches are repeated at the next start.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee.arena.arena import open_arena
from referee.arena.checker import check
from referee.arena.player import RETRY_SECONDS, play
from referee.errors import RefereeError
from referee.support.escape import message
from referee.support.processes import lower_priority, start_module
from referee.tournament.worker import end_with
from referee.tournament.workers import Workers

if TYPE_CHECKING:
    from referee.games.game import Json

#: How long a process may take to end, in seconds.
_PATIENCE = 30.0


def say(text: str) -> None:
    """Print a sentence for the person who runs the server."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{message(text)}\n")


class SeasonWork:
    """The two processes of a server. ``close`` ends them."""

    def __init__(self, folder: Path, isolation: str, workers: Workers) -> None:
        options = {"folder": str(folder.resolve()), "isolation": isolation, "parent": os.getpid(), "workers": list(workers)}
        self._closing = threading.Event()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._threads = [
            threading.Thread(target=self._keep, args=(kind, json.dumps({**options, "kind": kind}))) for kind in ("check", "play")
        ]
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
                say(f"note: The process that {kind}s has ended with status {status}. Starting it again.")
                self._closing.wait(RETRY_SECONDS)

    def close(self) -> None:
        """End both processes."""
        self._closing.set()
        for process in self._processes.values():
            process.terminate()
        for thread in self._threads:
            thread.join(_PATIENCE)
        for process in self._processes.values():
            process.kill()


def _work(options: dict[str, Json]) -> None:
    """Check or play forever."""
    with contextlib.closing(open_arena(Path(options["folder"]))) as arena:
        arena.isolate(options["isolation"])
        if options["kind"] == "check":
            check(arena, say)
        else:
            play(arena, Workers(*options["workers"]), say)


def _run(options: dict[str, Json]) -> None:
    """Work until the server ends. After a failure, such as a full disk or a database that is restarted, go on a moment later."""
    end_with(options["parent"])
    # Readers wait for their pages; nobody waits for a match.
    lower_priority()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    last_message = ""
    while True:
        try:
            _work(options)
        except RefereeError as error:
            if str(error) != last_message:
                say(f"note: {error}")
            last_message = str(error)
        time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]))
