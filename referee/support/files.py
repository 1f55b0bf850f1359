"""Opening files that others name: never one that would make the referee wait for ever."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


#: Descriptors of this process by name, such as a shell's <(...): opening one waits for nobody.
_OWN = ("/dev/fd", "/proc/self/fd")


def open_regular(path: Path) -> BinaryIO:
    """Open an ordinary file to read it, or whatever is this process's stdin or another of its descriptors.

    OSError if there is none, or if it is something else: opening a FIFO waits until somebody writes to it, and a device may have no
    end.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(fd)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(0, "it is a folder", str(path))
        if not stat.S_ISREG(facts.st_mode) and not _is_stdin(facts) and str(path.parent) not in _OWN:
            raise OSError(0, "it is not an ordinary file", str(path))
        os.set_blocking(fd, True)
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def _is_stdin(facts: os.stat_result) -> bool:
    try:
        return os.path.samestat(facts, os.fstat(0))
    except OSError:
        return False
