"""Bells: how the processes of an arena wake each other. The queue is in the store; a bell says only that it is worth a look.

A bell is a named pipe in the arena's folder. To ring it is to write a byte, which never waits: if nobody listens, there is nobody to wake, and
whoever begins to listen looks at the queue first. A byte stays in the pipe until the listener takes it, so a ring between a look and the wait
isn't lost. The pipe stays when its listener ends, however it ends, and the next one takes it over: to remove it could make that one deaf.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Somebody who was killed between a change and its ring, or who may not write here, wakes nobody: look again after so many seconds.
PATIENCE = 30.0
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
#: So many rings are taken at once.
_MOST = 1 << 16


def _path(folder: Path, listener: str) -> Path:
    return folder / f".{listener}.bell"


def ring(folder: Path, listener: str) -> None:
    """Wake a process of the arena in a folder, if it listens."""
    # OSError: nobody listens (ENXIO), nobody ever did (ENOENT), the pipe is full of rings, or somebody else's.
    with contextlib.suppress(OSError):
        pipe = os.open(_path(folder, listener), os.O_WRONLY | _FLAGS)
        try:
            if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                os.write(pipe, b"!")
        finally:
            os.close(pipe)


class Bell:
    """The bell of this process."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Wait for a ring since the last wait, at most so long. True if it has rung."""
        ready, _, _ = select.select([self._pipe], [], [], seconds)
        if ready:
            os.read(self._pipe, _MOST)
        return bool(ready)


@contextlib.contextmanager
def listening(folder: Path, listener: str) -> Iterator[Bell]:
    """Listen to a bell: begin before the first look at the queue."""
    path = _path(folder, listener)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISFIFO(path.lstat().st_mode):
            # The copy of a folder may have a file in place of the pipe.
            path.unlink()
    with contextlib.suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    pipe = os.open(path, os.O_RDONLY | _FLAGS)
    # Held open, so that the pipe never ends while nobody rings.
    holder = os.open(path, os.O_WRONLY | _FLAGS)
    try:
        yield Bell(pipe)
    finally:
        os.close(pipe)
        os.close(holder)
