"""A player who is no process of the match: somebody at the other end of a pair of pipes, such as a person at a page.

The same lines go to it and come from it as with a program, so the loop and the clock know no difference. There is nothing to start,
to stop or to bill processor time for. What it says when it leaves comes over a pipe of its own, as a program's stderr does; who
leaves without a word was lost by the referee, not by the player.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.limits import NONE, Limits
from referee.isolation.sandbox import Cell, Start
from referee.players.faults import CRASHED, Fault
from referee.players.process import ProcessPlayer
from referee.wire.escape import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.players.log import Log
    from referee.wire.lines import LineBuffer


class Connection(NamedTuple):
    """The match's ends of the pipes to a player: where to write, where to read, and where its last words come from.

    Without the last (-1) it is somebody else's program at the other end of a network connection: when that breaks off it is the
    program that has left. ``lines`` holds what has come from it already, ``overdue`` how a line begins that answers a question of before,
    and is dropped.
    """

    stdin: int
    stdout: int
    stderr: int = -1
    lines: LineBuffer | None = None
    overdue: bytes = b""


class Absent(Cell):
    """The place of a player who isn't here: nothing in it can be stopped, measured or ended."""

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
        """It uses nothing of ours."""
        return False

    def kill(self) -> None:
        """There is nothing to end; closing the pipes tells it that the match is over."""

    def close(self) -> None:
        """There is nothing to give back."""


def _no_time() -> float:
    return 0.0


class ConnectedPlayer(ProcessPlayer):
    """A player at the other end of a connection."""

    is_process = False

    def __init__(self, seat: str, label: str, log: Log, connection: Connection) -> None:
        super().__init__(seat, label, log, (connection.stdin, connection.stdout, connection.stderr), Absent())
        for fd in connection[:3]:
            if fd >= 0:
                os.set_blocking(fd, False)
        self.read_clock = _no_time

    def let_go(self) -> None:
        """The page's server learns by the end of its pipe that the seat is empty."""
        self.close_stdin()

    def ending(self) -> str:
        """Why it left, as it said itself."""
        return self._words() or "was lost"

    def _words(self) -> str:
        if self.stderr >= 0:
            with contextlib.suppress(OSError):
                self.drain_stderr()
        words = self.log.last_lines()
        return plain(words[-1], 160) if words else ""

    def fault(self, text: str) -> Fault:
        """A player that left has forfeited."""
        return Fault(CRASHED, text, None, {"cause": "left"})

    def is_lost(self) -> bool:
        """Whether the connection broke off without a word, which is nobody's fault."""
        return not self._words()

    def sandbox_failure(self, why: str = "") -> str:
        """What to say then."""
        return f"The connection to the {self.seat} ({self.shown_label()}) broke off: the page's server has ended. The match is void and nobody loses."

    def start_refusal(self) -> str | None:
        """It has no program that could be refused."""
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
        """It is still told how the game ended."""

    def ending(self) -> str:
        """Whatever went on there, this is all that is seen here."""
        return "closed its connection"

    def is_lost(self) -> bool:
        """Its leaving is its own fault."""
        return False


def join(seat: str, label: str, log: Log, connection: Connection) -> ConnectedPlayer:
    """The player at the other end of a connection."""
    return (RemotePlayer if connection.stderr < 0 else ConnectedPlayer)(seat, label, log, connection)
