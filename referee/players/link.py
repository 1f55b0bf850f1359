"""Moves the bytes to and from one player. A link doesn't know the limits and the clock of a match."""

from __future__ import annotations

import os
import select
from time import perf_counter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from referee.isolation.log import Log
    from referee.wire.lines import LineBuffer

#: How long to read from a player whose time is up, in seconds: one read may not return everything that it sent.
_LAST_LOOK = 0.05


class Link:
    """The referee's ends of the pipes to one player: three descriptors, -1 when closed. ``stderr`` goes to the log.

    ``keeps_early``: lines sent before a question are answers to later questions; else they are a fault. ``is_remote``: the other end is a
    network connection. ``overdue`` is the prefix of a late answer to a question from before the match; such a line is discarded.
    ``unsent`` are bytes that didn't fit into ``stdin``. ``answered`` is the result of a poll that finds only output on stdout.
    """

    __slots__ = (
        "_answers",
        "_log",
        "_max_bytes",
        "_overdue",
        "answered",
        "is_remote",
        "keeps_early",
        "lines",
        "stderr",
        "stdin",
        "stdout",
        "unsent",
    )

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
        self.answered = [(self.stdout, select.POLLIN)]
        self.lines = lines
        self._max_bytes = lines.max_bytes
        #: How many lines bypassed the buffer.
        self._answers = 0
        self.unsent = b""
        self.keeps_early = keeps_early
        self.is_remote = is_remote
        self._overdue = overdue
        self._log = log

    def send(self, data: bytes) -> bool:
        """Write the unsent bytes and these, without waiting; the rest stays in ``unsent``. False if the bot has closed its stdin."""
        if self.unsent:
            data = self.unsent + data
        try:
            self.unsent = data[os.write(self.stdin, data) :]
        except BlockingIOError:
            self.unsent = data
        except OSError:
            self.unsent = b""
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

    def receive(self) -> bool:
        """Add the available bytes of stdout to the lines; False at its end."""
        data = self.read()
        if data:
            self.lines.feed(data)
        return data != b""

    def receive_answer(self) -> bytes | None:
        """Return the available bytes if they are one whole line, without its end, as nearly every answer is. Else add them to the lines.

        b"" at the end of stdout, None if nothing is certain yet. A bot can take back its output: then there is nothing to read.
        """
        try:
            data = os.read(self.stdout, 65_536)
        except BlockingIOError:
            return None
        if data and data.find(b"\n") == len(data) - 1 and len(data) <= self._max_bytes and data[0] > 32 and not self._overdue:
            self._answers += 1
            return data[:-1]
        self.lines.feed(data)
        return None if data else b""

    def receive_early(self) -> bool:
        """Add early output to the lines, up to one full line if ``keeps_early``; False at the end of stdout."""
        lines = self.lines
        while not (self.keeps_early and lines.is_full):
            data = self.read()
            if not data:
                return data is None
            lines.feed(data)
            if lines.is_full:
                break
        return True

    def receive_rest(self) -> bytes | None:
        """Read once more from a player whose time is up. Return its whole line, if one has come."""
        end = perf_counter() + _LAST_LOOK
        line = self.take()
        while line is None and (data := self.read()):
            self.lines.feed(data)
            line = self.take()
            if perf_counter() > end:
                break
        return line

    def take(self) -> bytes | None:
        """Return the next whole line, except for a late answer to a question from before the match; None without one."""
        line = self.lines.take()
        if line is not None and self._overdue and line.startswith(self._overdue):
            self._overdue = b""
            line = self.lines.take()
        return line

    @property
    def line_number(self) -> int:
        """The number of the last line taken, from 1; blank lines count."""
        return self.lines.number + self._answers

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
            # The log also gets the bytes in the pipe at the end of the bot: at most one full pipe.
            self.drain_stderr()
        self.close_one("stdin")
        self.close_one("stdout")
        self.close_one("stderr")
        self._log.close()
