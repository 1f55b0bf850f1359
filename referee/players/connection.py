"""A player that is not a process of the match: it is at the other end of a pair of pipes, such as a person at a page.

The referee exchanges the same lines with it as with a program, so the loop and the clock treat both alike. There is no process to start or
to stop, and no processor time to bill. When the player leaves, its reason arrives over a separate pipe, as a program's stderr does. If it
leaves without a reason, the connection failed on the referee's side, and the player is not at fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from referee.errors import MatchVoid
from referee.players.link import Link
from referee.players.player import RunningPlayer
from referee.replay.faults import Failure
from referee.support.escape import escape
from referee.support.words import who
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from referee.isolation.log import Log
    from referee.players.player import Connection


class ConnectedPlayer(RunningPlayer):
    """A person at a page, or a remote program at the other end of a network connection. A remote program runs on after the match."""

    link: Link

    def __init__(self, seat: str, connection: Connection, log: Log) -> None:
        is_remote = connection.reason < 0
        keeps_early = connection.host is not None
        lines = connection.lines or LineBuffer(keeps_blank=keeps_early)
        fds = connection.stdin, connection.stdout, connection.reason
        link = Link(fds, log, lines, keeps_early=keeps_early or is_remote, is_remote=is_remote, overdue=connection.overdue)
        super().__init__(seat, connection.label, log, link)

    @override
    def introduce(self, name: str) -> None:
        """Call a person by its own name from now on."""
        if not self.link.is_remote:
            self.label = name

    @override
    def failure(self) -> Failure:
        """Return how the player left. If a remote program leaves, this is its own fault. MatchVoid if a person left without a reason."""
        if self.link.is_remote:
            return Failure("hung-up", detail={"cause": "left"})
        if self.link.stderr >= 0:
            self.link.drain_stderr()
        words = self.log.last_lines()
        if not words:
            raise MatchVoid(
                f"The connection to {who(self.seat, self.label, begins=False)} broke off: the page's server has ended. The match is void and nobody loses."
            )
        return Failure("left", words=escape(words[-1], 160), detail={"cause": "left"})
