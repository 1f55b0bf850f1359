"""A player that is not a process of the match: it is at the other end of a pair of pipes, such as a person at a page.

The referee exchanges the same lines with it as with a program, so the loop and the clock treat both alike. There is nothing to start or
to stop, and no processor time to bill. When the player leaves, its reason arrives over a separate pipe, as a program's stderr does. If it
leaves without a reason, the connection failed on the referee's side, and the player is not at fault.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.limits import NONE, Limits
from referee.isolation.sandbox import Sandbox, Start
from referee.players.faults import CRASHED, Fault
from referee.players.process import ProcessPlayer
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.players.log import Log
    from referee.wire.lines import LineBuffer


class Connection(NamedTuple):
    """The match's ends of the pipes to a player: one to write to, one to read from, and one for the reason why it left.

    If ``stderr`` is -1, the player is a program at the other end of a network connection; if that connection ends, the program has
    left. ``lines`` holds the lines that it has sent already. ``overdue`` is the prefix of a late answer to an earlier question; such a
    line is discarded.
    """

    stdin: int
    stdout: int
    stderr: int = -1
    lines: LineBuffer | None = None
    overdue: bytes = b""


class NullSandbox(Sandbox):
    """The cell of a player without a process: nothing in it can be stopped, measured or ended."""

    is_exact = True

    def __init__(self) -> None:
        super().__init__(Start((), {}, "/"), Limits(), NONE)

    def stop(self) -> None:
        """A person is never stopped."""

    def go_on(self) -> None:
        """As ``stop``."""

    def pids(self) -> list[int]:
        """No process is known."""
        return []

    def quick_seconds(self) -> float:
        """No processor time is known."""
        return 0.0

    def clock(self) -> Callable[[], float]:
        """No processor time is known."""
        return _no_time

    def seconds(self) -> float:
        """No processor time is known."""
        return 0.0

    def evidence_seconds(self) -> float:
        """No processor time is known."""
        return 0.0

    def is_over_memory(self) -> bool:
        """It uses no memory of this machine."""
        return False

    def kill(self) -> None:
        """Do nothing: closing the pipes tells the player that the match is over."""

    def close(self) -> None:
        """Do nothing: it holds no resources."""


def _no_time() -> float:
    return 0.0


class ConnectedPlayer(ProcessPlayer):
    """A player at the other end of a connection."""

    is_process = False

    def __init__(self, seat: str, label: str, log: Log, connection: Connection) -> None:
        super().__init__(seat, label, log, (connection.stdin, connection.stdout, connection.stderr), NullSandbox())
        for fd in connection[:3]:
            if fd >= 0:
                os.set_blocking(fd, False)
        self.read_clock = _no_time

    def let_go(self) -> None:
        """Close the pipe to the page's server, which then knows that the seat is empty."""
        self.close_stdin()

    def ending(self) -> str:
        """Return the player's own reason for leaving."""
        return self._words() or "was lost"

    def _words(self) -> str:
        if self.stderr >= 0:
            with contextlib.suppress(OSError):
                self.drain_stderr()
        words = self.log.last_lines()
        return escape(words[-1], 160) if words else ""

    def fault(self, text: str) -> Fault:
        """Return the fault of a player that has left."""
        return Fault(CRASHED, text, None, {"cause": "left"})

    def is_lost(self) -> bool:
        """True if the connection ended without a reason; that is nobody's fault."""
        return not self._words()

    def sandbox_failure(self, why: str = "") -> str:
        """Return the message for a connection that ended without a reason."""
        return f"The connection to the {self.seat} ({self.shown_label()}) broke off: the page's server has ended. The match is void and nobody loses."

    def start_refusal(self) -> str | None:
        """Return None: there is no program to start."""
        return None


class RemotePlayer(ConnectedPlayer):
    """Somebody else's program at the other end of a network connection; it outlives the match."""

    keeps_early = True
    writes_line = "sent a line"

    def __init__(self, seat: str, label: str, log: Log, connection: Connection) -> None:
        super().__init__(seat, label, log, connection)
        if connection.lines is not None:
            self.lines = connection.lines
        self.overdue = connection.overdue

    def let_go(self) -> None:
        """Keep the connection open: the program still receives the result."""

    def ending(self) -> str:
        """Return what the referee can observe of a remote program's end."""
        return "closed its connection"

    def is_lost(self) -> bool:
        """Return False: if a remote program leaves, that is its own fault."""
        return False


def join(seat: str, label: str, log: Log, connection: Connection) -> ConnectedPlayer:
    """The player at the other end of a connection."""
    return (RemotePlayer if connection.stderr < 0 else ConnectedPlayer)(seat, label, log, connection)
