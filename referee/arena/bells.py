"""Bells: the processes of an arena wake each other. The queue is in the store; a bell only says that it has changed.

A bell is a named pipe in the arena's folder. Ringing writes a byte, and never blocks: without a listener nobody has to be woken, because
a listener reads the queue when it begins. A byte stays in the pipe until the listener reads it, so a ring between reading the queue and waiting
isn't lost. The pipe stays when its listener ends, and the next listener uses it. Removing it could cut that one off.
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

#: Seconds after which a listener reads the queue without a ring, because a process can be killed between a change and its ring.
PATIENCE = 30.0
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
#: The most rings that are read at once.
_MOST = 1 << 16


def _path(folder: Path, listener: str) -> Path:
    return folder / f".{listener}.bell"


def ring(folder: Path, listener: str) -> None:
    """Wake a process of the arena in a folder, if it listens."""
    # OSError: no listener (ENXIO), no pipe yet (ENOENT), a pipe that is full of rings, or another user's pipe.
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
        """Wait at most ``seconds`` for a ring since the last wait. Return True if the bell rang."""
        ready, _, _ = select.select([self._pipe], [], [], seconds)
        if ready:
            os.read(self._pipe, _MOST)
        return bool(ready)


@contextlib.contextmanager
def listening(folder: Path, listener: str) -> Iterator[Bell]:
    """Listen to a bell. Begin before the queue is first read."""
    path = _path(folder, listener)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISFIFO(path.lstat().st_mode):
            # A copied folder may have a file in place of the pipe.
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
