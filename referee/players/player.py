"""The interface of a player, and its reply to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from referee.players.log import Log
    from referee.players.pipes import Pipes
    from referee.players.process import BotProcess
    from referee.replay.faults import Failure


class Player(Protocol):
    """The player of a seat: a program (``process.ProcessPlayer``), somebody at the other end of a connection
    (``connection.ConnectedPlayer``) or a function in this process (``in_process.LocalPlayer``).

    ``label`` is its name from the command line. What a player doesn't have is None: only pipes are waited for, only a process can be
    stopped, measured and ended.
    """

    seat: str
    label: str
    log: Log

    @property
    def pipes(self) -> Pipes | None:
        """The pipes to it."""

    @property
    def process(self) -> BotProcess | None:
        """The process that the referee has started for it."""

    def failure(self) -> Failure:
        """Return how it ended. Raises MatchVoid if the player is not to blame."""


class Reply(NamedTuple):
    """The reply to a question: a complete line or a failure, the seconds to bill, and whether lateness of the referee was forgiven.

    With neither line nor failure the player passes, because the match is over. ``other`` are seconds by the clock that isn't billed.
    """

    line: bytes | None
    seconds: float
    failure: Failure | None = None
    rescued: bool = False
    other: float = 0.0
