"""Workers on this machine: processes that play one match after another, as many as there are slots."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import sys
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from referee.errors import SUPERVISOR, UsageError
from referee.isolation import machine
from referee.support.processes import cores, freeze_old_objects, start_module
from referee.tournament import plan
from referee.tournament.values import Record
from referee.tournament.worker import Terms, Worker, end_with

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from referee.handins.values import Entry
    from referee.isolation.limits import Limits
    from referee.tournament.values import Task


class Pool(plan.Pool, Protocol):
    """Workers on this machine, or on many."""

    #: How many matches it plays at once.
    slots: int

    def close(self) -> None:
        """End all workers. Matches that are still running are lost and can be played again."""


class LocalPool:
    """Workers on this machine. If a worker dies, its match is void and another worker replaces it. Implements ``plan.Pool``."""

    #: A worker that dies is replaced at once.
    has_workers = True

    def __init__(self, terms: Terms, teams: Mapping[str, Entry], folder: Path, slots: int) -> None:
        self.slots = self.room = slots
        self._setup = (terms, dict(teams), str(folder.resolve()))
        self._workers: dict[connection.Connection, _Process] = {}
        self._idle: list[connection.Connection] = []
        self._is_closed = False
        try:
            for _ in range(slots):
                self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        worker = _Process(self._setup)
        self._workers[worker.pipe] = worker
        self._idle.append(worker.pipe)

    def submit(self, task: Task) -> None:
        """Give a match to an idle worker."""
        pipe = self._idle.pop()
        self.room -= 1
        self._workers[pipe].task = task
        with contextlib.suppress(OSError):
            # A worker that has died is found when its answer is waited for.
            pipe.send(without_files(task))

    def wait(self, seconds: float) -> list[Record]:
        """Wait for the end of a match."""
        busy = [pipe for pipe, worker in self._workers.items() if worker.task is not None]
        ended = []
        for ready in connection.wait(busy, seconds):
            assert isinstance(ready, connection.Connection)
            worker = self._workers[ready]
            task, worker.task = worker.task, None
            assert task is not None
            self.room += 1
            try:
                ended.append(ready.recv())
                self._idle.append(ready)
            except (EOFError, OSError):
                if self._is_closed:
                    # Another thread ends all workers, this one included.
                    ended.append(Record(task.key, void="The worker processes were terminated."))
                else:
                    del self._workers[ready]
                    ended.append(worker_ended(task, f"Its worker process has ended ({worker.end()})", self._setup[0]))
                    self._start()
        if not ended:
            for worker in self._workers.values():
                worker.go_on()
        return ended

    def close(self) -> None:
        """End all workers; their supervisors end the matches that were running. Another thread may be waiting for one of them."""
        self._is_closed = True
        workers = list(self._workers.values())
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.end()
        self._workers.clear()
        self._idle.clear()


def without_files(task: Task) -> Task:
    """Return a task as it is sent to workers, which know the files of its entries."""
    return task._replace(seats={seat: entry._replace(files={}) for seat, entry in task.seats.items()})


def worker_ended(task: Task, text: str, terms: Terms) -> Record:
    """Return the record of a match whose worker has ended; ``text`` says so, without its full stop."""
    cause = ""
    if terms.options.isolation in ("none", "limits"):
        text, cause = f'{text}; a bot without a sandbox can do that, which isolation = "strict" prevents', SUPERVISOR
    return Record(task.key, void=f"{text}.", cause=cause)


class _Process:
    """One worker process and the pipe to it."""

    def __init__(self, setup: tuple[Terms, dict[str, Entry], str]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.task: Task | None = None
        with theirs:
            self._process: subprocess.Popen[bytes] = start_module(
                __name__, str(theirs.fileno()), str(os.getpid()), pass_fds=(theirs.fileno(),), stdin=-3
            )
        with contextlib.suppress(OSError):
            self.pipe.send(setup)

    def go_on(self) -> None:
        """Continue it if it was stopped: a bot without a sandbox can stop it, to delay the end of a lost match."""
        if self.task is not None:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it: an idle worker ends by itself, a busy one by a signal."""
        self.go_on()
        if self.task is not None:
            self._process.send_signal(signal.SIGTERM)
        self.pipe.close()

    def end(self) -> str:
        """Wait for its end, and say how it ended."""
        self.pipe.close()
        try:
            status = self._process.wait(30)
        except Exception:  # noqa: BLE001 - whatever happens, it ends
            self._process.kill()
            status = self._process.wait()
        return signal.Signals(-status).name if status < 0 else f"status {status}"


def free_slots(limits: Limits) -> int:
    """Return how many matches this machine can play at once: one for each core, but no more than the free memory of machine and container allow."""
    try:
        import psutil
    except ImportError:
        # Without the extra "league" only referee play --games calls this.
        free = math.inf
    else:
        free = psutil.virtual_memory().available
    return int(max(1, min(cores(), machine.matches_in_memory(free, limits))))


def checked_slots(slots: int | None, limits: Limits) -> int:
    """Return the requested number of slots; for None the default of this machine. UsageError if the number is out of range."""
    if slots is None:
        return free_slots(limits)
    if not 1 <= slots <= 1024:
        raise UsageError(f"--slots is {slots}, but must be from 1 to 1,024.")
    return slots


def _serve(fd: int, parent: int) -> None:
    """Play what comes through the pipe until it is closed."""
    end_with(parent)
    pipe: connection.Connection[Any, Any] = connection.Connection(fd)
    try:
        terms, teams, folder = pipe.recv()
        with contextlib.closing(Worker(terms, teams, Path(folder))) as worker:
            pipe.send(worker.play(pipe.recv()))
            freeze_old_objects()
            while True:
                pipe.send(worker.play(pipe.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
