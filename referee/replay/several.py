"""Verifies several replays at once, one process for each core.

Run as a program, this module is such a process: it reads a line for each file from stdin and answers each on stdout. It exits at the end of its
stdin, so it also ends when the process that started it is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import RefereeError, ReplayError
from referee.replay.reader import play_again, read_lines
from referee.support.processes import start_module

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Sequence

    Progress = Callable[[int, int], None]

#: A process takes about as long to start as it takes to verify this many bytes of replays.
WORTH_BYTES = 200_000


class Verdict(NamedTuple):
    """What the check of one file found: its good steps, and the problem as ``Problem.to_json`` gives it, None if there is none."""

    steps: int
    problem: dict[str, Any] | None


def verify_all(files: Sequence[Path], progress: Progress | None = None) -> Generator[Verdict, None, None]:
    """Yield the verdict on each file, in order. ``progress`` is called with the numbers of files and of steps that were verified.

    Close the generator to stop the work, for example at the first bad file.
    """
    count = min(cores(), len(files), sum(map(_size, files)) // WORTH_BYTES)
    if count > 1:
        yield from _Workers(files, progress).run(count)
        return
    steps = 0
    for number, file in enumerate(files, 1):
        verdict = _verified(file, file)
        steps += verdict.steps
        if progress is not None:
            progress(number, steps)
        yield verdict


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


def _verified(path: Path, name: Path) -> Verdict:
    """Verify one file; ``name`` is what messages call it."""
    try:
        replay = play_again(name, read_lines(path, name))
    except ReplayError as error:
        return Verdict(0, {"kind": "unreadable", "text": str(error)})
    return Verdict(replay.turns, None if replay.problem is None else replay.problem.to_json())


class _Workers:
    """The processes of one check. Each has one file at a time; files are handed out in their order."""

    def __init__(self, files: Sequence[Path], progress: Progress | None) -> None:
        self._files = files
        self._progress = progress
        self._next = 0
        self._found: dict[int, Verdict] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()

    def run(self, count: int) -> Generator[Verdict, None, None]:
        """Yield the verdicts in the order of the files."""
        steps = 0
        try:
            for _ in range(count):
                self._start()
            for number in range(len(self._files)):
                while number not in self._found:
                    for key, _ in self._selector.select():
                        steps += self._take(key.data)
                        if self._progress is not None:
                            self._progress(len(self._found), steps)
                yield self._found[number]
        finally:
            self._end()

    def _start(self) -> None:
        process = start_module("referee.replay.several", stdin=-1, stdout=-1)
        self._processes.append(process)
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, process)
        self._give(process)

    def _give(self, process: subprocess.Popen[bytes]) -> None:
        """Give a process the next file; without one it has nothing more to do."""
        assert process.stdin is not None
        if self._next == len(self._files):
            return
        path = self._files[self._next]
        process.stdin.write(json.dumps([self._next, str(path.absolute()), str(path)]).encode() + b"\n")
        process.stdin.flush()
        self._next += 1

    def _take(self, process: subprocess.Popen[bytes]) -> int:
        """Take the verdict of a process, and return the number of its steps."""
        assert process.stdout is not None
        # The process writes a line at once, and nothing else before it gets the next file.
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            raise RefereeError(f"A process that verifies replays has ended (status {process.wait()}); verify fewer files at once.")
        number, steps, problem = json.loads(line)
        self._found[number] = Verdict(steps, problem)
        self._give(process)
        return int(steps)

    def _end(self) -> None:
        self._selector.close()
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()


def main() -> None:
    """Verify the files that the lines of stdin name."""
    for line in sys.stdin.buffer:
        number, path, name = json.loads(line)
        verdict = _verified(Path(path), Path(name))
        sys.stdout.buffer.write(json.dumps([number, *verdict]).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
