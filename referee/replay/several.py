"""Verifies several replays at once, one process for each core.

Run as a program, this module is such a process: it reads a line for each file from stdin and answers each on stdout. It exits at the end of its
stdin, so it also ends when the process that started it is killed.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import RefereeError, ReplayError
from referee.replay.reader import ReplayReader, read_lines
from referee.support.processes import start_module

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Sequence

    Progress = Callable[[int, int], None]

#: A process takes about as long to start as it takes to verify this many bytes of replays.
WORTH_BYTES = 200_000


class Verdict(NamedTuple):
    """The result of the check of one file: its good steps, and the problem as ``ReplayProblem.to_json`` gives it, None if there is none."""

    steps: int
    problem: dict[str, Any] | None


def verify_all(files: Sequence[Path], progress: Progress | None = None) -> Generator[Verdict, None, None]:
    """Yield the verdict on each file, in order. ``progress`` is called with the numbers of files and of steps that were verified.

    Close the generator to stop the work, for example at the first bad file.
    """
    count = min(cores(), len(files), sum(map(_size, files)) // WORTH_BYTES)
    steps = 0
    with closing(_by_processes(files, count) if count > 1 else (_verified(file, file) for file in files)) as verdicts:
        for number, verdict in enumerate(verdicts, 1):
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
        replay = ReplayReader(name, read_lines(path, name)).verified()
    except ReplayError as error:
        return Verdict(0, {"kind": "unreadable", "text": str(error)})
    return Verdict(replay.turns, None if replay.problem is None else replay.problem.to_json())


def _by_processes(files: Sequence[Path], count: int) -> Generator[Verdict, None, None]:
    """Verify files in so many processes. Each has one file at a time; files are handed out in their order."""
    processes = [start_module("referee.replay.several", stdin=-1, stdout=-1) for _ in range(count)]
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    for process in processes:
        idle.put(process)
    threads = ThreadPoolExecutor(count)
    try:
        yield from threads.map(lambda file: _asked(idle, file), files)
    finally:
        for process in processes:
            process.kill()
        threads.shutdown(cancel_futures=True)
        for process in processes:
            with suppress(BrokenPipeError):
                process.communicate()


def _asked(idle: SimpleQueue[subprocess.Popen[bytes]], file: Path) -> Verdict:
    """Let an idle process verify a file."""
    process = idle.get()
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps([str(file.absolute()), str(file)]).encode() + b"\n")
        process.stdin.flush()
    line = process.stdout.readline()
    idle.put(process)
    if not line.endswith(b"\n"):
        raise RefereeError(f"A process that verifies replays has ended (status {process.wait()}); verify fewer files at once.")
    return Verdict(*json.loads(line))


def main() -> None:
    """Verify the files that the lines of stdin name."""
    for line in sys.stdin.buffer:
        path, name = json.loads(line)
        sys.stdout.buffer.write(json.dumps(_verified(Path(path), Path(name))).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
