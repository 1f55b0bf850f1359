"""The referee's ends of the pipes to one player, and the bytes that came through them."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.players.log import Log
    from referee.wire.lines import LineBuffer


def readable(fds: Iterable[int]) -> select.poll:
    """Return a poll that waits for bytes on any of the descriptors."""
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return poller


class Pipes:
    """Three descriptors, -1 when closed. ``stderr`` goes to the log; ``unsent`` are bytes that didn't fit into ``stdin``.

    ``keeps_early``: lines sent before a question are answers to later questions; else they are a fault. ``is_remote``: the other end is a
    network connection. ``overdue`` is the prefix of a late answer to a question from before the match; such a line is discarded.
    """

    def __init__(
        self,
        fds: tuple[int, int, int],
        log: Log,
        lines: LineBuffer,
        *,
        keeps_early: bool,
        is_remote: bool = False,
        overdue: bytes = b"",
    ) -> None:
        self.stdin, self.stdout, self.stderr = fds
        for fd in fds:
            if fd >= 0:
                os.set_blocking(fd, False)
        self.has_answered = (self.stdout, select.POLLIN)
        self.lines = lines
        self.unsent = b""
        self.keeps_early = keeps_early
        self.is_remote = is_remote
        self.overdue = overdue
        self._log = log

    def send(self, data: bytes) -> bool:
        """Write what is unsent and this, without waiting; what doesn't fit stays in ``unsent``. False if the bot has closed its stdin."""
        data, self.unsent = self.unsent + data, b""
        try:
            self.unsent = data[os.write(self.stdin, data) :]
        except BlockingIOError:
            self.unsent = data
        except OSError:
            return False
        return True

    def read(self) -> bytes | None:
        """Return the available bytes of stdout: None if there are none, empty at the end."""
        try:
            return os.read(self.stdout, 65_536)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def drain_stderr(self) -> bool:
        """Log the available bytes, at most one full pipe; False at the end."""
        try:
            data = os.read(self.stderr, 65_536)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            return False
        self._log.take(data)
        return True

    def close_one(self, name: Literal["stdin", "stdout", "stderr"]) -> None:
        """Close one descriptor; without its stdin a player reads the end of its input."""
        if (fd := getattr(self, name)) >= 0:
            os.close(fd)
            setattr(self, name, -1)

    def close(self) -> None:
        """Close all descriptors and finish the log."""
        if self.stderr >= 0:
            # Bytes that were in the pipe when the bot ended belong to its log: at most one full pipe.
            self.drain_stderr()
        self.close_one("stdin")
        self.close_one("stdout")
        self.close_one("stderr")
        self._log.close()
