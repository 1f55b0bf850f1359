"""Claims processor cores: each match gets its own core if one is free, so that matches don't disturb each other.

When players are asked in turn, one process of the match works at any time. On one core its processes don't compete and no wake-up
crosses cores. That makes a step two to three times faster than with processes on several cores. A lock file claims a core, so matches
that one user starts side by side take different cores. The lock ends with the process that holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from typing import TYPE_CHECKING

from referee.support import cache

if TYPE_CHECKING:
    from collections.abc import Iterable


class Cores:
    """The cores that a match has claimed; none if too few were free. Use as a context manager, or call ``release``."""

    def __init__(self, count: int) -> None:
        self.claimed: tuple[int, ...] = ()
        self._locks: list[int] = []
        self._before: set[int] = set()
        self.can_pin = hasattr(os, "sched_getaffinity")
        if count > 0 and self.can_pin:
            self._before = os.sched_getaffinity(0)
            self._claim(count)

    def _claim(self, count: int) -> None:
        taken: list[int] = []
        folder = _folder()
        if folder is None:
            return
        # Start with the last core: on most machines the first cores are the busiest.
        for core in sorted(self._before, reverse=True):
            if len(taken) == count:
                break
            lock = _lock(folder, core)
            if lock >= 0:
                self._locks.append(lock)
                taken.append(core)
        if len(taken) == count:
            self.claimed = tuple(taken)
        else:
            self.release()

    def pin_self(self) -> None:
        """Keep the calling thread on the first claimed core."""
        if self.claimed:
            os.sched_setaffinity(0, {self.claimed[0]})

    def pin(self, index: int, pids: Iterable[int]) -> None:
        """Keep processes, with all their threads, on the claimed core of the given index (counted round)."""
        if not self.claimed:
            return
        core = {self.claimed[index % len(self.claimed)]}
        for pid in pids:
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    os.sched_setaffinity(int(task), core)

    def release(self) -> None:
        """Give the cores back and let this thread run anywhere again."""
        if self.claimed and self._before:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, self._before)
        self.claimed = ()
        for lock in self._locks:
            os.close(lock)
        self._locks.clear()


def _folder() -> str | None:
    """Return a folder for locks that belongs to this user, or None. In a shared folder any user could claim every core."""
    name = f"referee-cores-{os.geteuid()}"
    for find in (tempfile.gettempdir, lambda: os.environ.get("XDG_RUNTIME_DIR", ""), cache.folder):
        base = find()
        if not os.path.isabs(base):
            continue
        path = os.path.join(base, name)
        try:
            if not os.path.lexists(path):
                os.makedirs(base, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(path, 0o700)
            facts = os.lstat(path)
        except OSError:
            continue
        # Another user may have created the folder.
        if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077:
            return path
    return None


def _lock(folder: str, core: int) -> int:
    """An open, locked descriptor for a core, or -1 if another match has it or no lock can be made."""
    try:
        fd = os.open(os.path.join(folder, f"core-{core}"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return -1
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return -1
    return fd
