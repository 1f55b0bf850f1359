"""A player: a bot, a connection, or a function in this process; and its reply to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from referee.isolation.bot import Bot
from referee.replay.faults import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.dialect import Host
    from referee.games.game import Json, Seat
    from referee.isolation.bot_process import BotProcess
    from referee.isolation.log import Log
    from referee.players.link import Link
    from referee.wire.lines import LineBuffer


#: How long a program may take to exit after the end of a match, in seconds.
GRACE = 1.0
#: The player name for a person on a command line.
HUMAN = "human"


def is_human(text: str) -> bool:
    """True if a player's description stands for a person."""
    return text.strip() == HUMAN


class Connection(NamedTuple):
    """A player outside the referee's processes: the referee's ends of the pipes to it.

    The referee writes to ``stdin`` and reads ``stdout``. ``reason`` is the pipe for a person's reason to leave; -1 for a program at the
    other end of a network connection, which leaves by closing it. ``lines`` are the lines that it has sent already, including blank ones.
    ``overdue`` is the prefix of a late answer to an earlier question; such a line is discarded. ``host`` communicates with it in a
    dialect, None for the native protocol.
    """

    label: str
    stdin: int
    stdout: int
    reason: int = -1
    lines: LineBuffer | None = None
    overdue: bytes = b""
    host: Host | None = None
    about: Mapping[str, Json] = {}


class Function(NamedTuple):
    """A player in this process: ``answer`` gets each line for the bot and returns its answer, None for none."""

    label: str
    answer: Callable[[bytes], bytes | None]
    about: Mapping[str, Json] = {}


#: Who plays a seat. ``label`` is its name, ``about`` goes into the replay's head.
Player: TypeAlias = Bot | Connection | Function


def host_of(player: Player, seat: Seat) -> Host | None:
    """Return the host that communicates with a player in its dialect; None for the native protocol."""
    if isinstance(player, Bot):
        return None if player.dialect is None else player.dialect.host(seat)
    return player.host if isinstance(player, Connection) else None


class RunningPlayer:
    """The player of a seat in a match: a program, or one of the two subclasses.

    ``label`` is its name from the command line. A missing part is None: the referee waits only for players with a ``link``, and only a ``process`` can be
    stopped, measured and ended.
    """

    def __init__(self, seat: str, label: str, log: Log, link: Link | None, process: BotProcess | None = None) -> None:
        self.seat = seat
        self.label = label
        self.log = log
        self.link = link
        self.process = process

    def introduce(self, name: str) -> None:
        """Take the name that the player gives itself. Its label stays: for a program it says which file it is."""

    def failure(self) -> Failure:
        """Return how it ended. Raises MatchVoid if the player is not to blame, such as where its sandbox failed."""
        assert self.process is not None
        return Failure("ended", detail=self.process.ending())


class Reply(NamedTuple):
    """The reply to a question: a complete line or a failure, the seconds to bill, and whether lateness of the referee was forgiven.

    With neither line nor failure the player passes, because the match is over. ``other`` are seconds by the clock that isn't billed.
    """

    line: bytes | None
    seconds: float
    failure: Failure | None = None
    rescued: bool = False
    other: float = 0.0
