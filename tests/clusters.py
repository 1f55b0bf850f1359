"""A Dask scheduler and workers as processes of their own, for tests of leagues on a cluster."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = (Path(__file__).parents[1] / "docs" / "clusters.md").read_text()


class Node:
    """A process of Dask. ``address`` is what it says to listen at."""

    def __init__(self, words: Sequence[str], ready: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            text=True,
        )
        self._ready = ready
        self.lines: list[str] = []
        self.address = ""
        self._reader: threading.Thread | None = None

    def wait(self) -> None:
        """Wait until it is ready."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(self._ready, line):
                self.address = found[1]
                break
        else:
            self.process.wait()
            raise AssertionError("".join(self.lines))
        self._reader = threading.Thread(target=self.lines.extend, args=(self.process.stderr,))
        self._reader.start()

    def kill(self) -> None:
        """End it without a chance to say good-bye, also if it is frozen."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop it: it is there and does nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        self.kill()
        if self._reader is not None:
            self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


class Cluster:
    """A scheduler and its workers on the loopback interface. ``words`` are options that all of them get."""

    def __init__(self, folder: Path, words: Sequence[str] = (), kind: str = "tcp", **environment: str) -> None:
        self._folder = folder
        self._words = words
        self._environment = environment
        self._kind = kind
        self.workers: list[Node] = []
        listen = f"{kind}://127.0.0.1:0"
        self.scheduler = Node(
            ["scheduler", "--host", listen, "--no-dashboard", "--no-show", *words], rf"Scheduler at:\s+({kind}://\S+)", **environment
        )
        try:
            self.scheduler.wait()
        except BaseException:
            self.scheduler.close()
            raise
        self.address = self.scheduler.address

    def add_worker(self, *words: str) -> Node:
        """Start a worker with a folder of its own. ``wait`` for it."""
        folder = self._folder / f"worker{len(self.workers)}"
        folder.mkdir(parents=True)
        given = ["worker", self.address, "--host", f"{self._kind}://127.0.0.1", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        worker = Node([*given, "--local-directory", str(folder), *self._words, *words], r"Registered to:\s+(\S+)", **self._environment)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """End all processes."""
        for node in (*self.workers, self.scheduler):
            node.close()


@contextlib.contextmanager
def cluster(folder: Path, workers: int, words: Sequence[str] = (), kind: str = "tcp", **environment: str) -> Iterator[Cluster]:
    """A running cluster."""
    made = Cluster(folder, words, kind, **environment)
    try:
        for _ in range(workers):
            made.add_worker()
        for worker in made.workers:
            worker.wait()
        yield made
    finally:
        made.close()


def certificates(folder: Path) -> dict[str, str]:
    """Make an authority and a certificate with the command of the page; return the files by the names of Dask's options."""
    (command,) = re.findall(r"^python -m (trustme .*)$", PAGE, re.MULTILINE)
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", *command.split()], cwd=folder, check=True, capture_output=True)
    return {name: str(folder / file) for name, file in {"ca": "client.pem", "cert": "server.pem", "key": "server.key"}.items()}


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language on the page about clusters."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
