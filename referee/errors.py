"""The exceptions, and the exit status that the command line gives each.

::

    RefereeError
     +-- UsageError            2  an option, a match file or a player's name is wrong
     |    +-- PlayerError      2  a player's description names no program that can run
     |    +-- ReplayError      2  a file isn't a replay that can be read
     |         +-- ReplayCut   2  it ends early; what was read so far is good
     |         +-- ReplayWrong 1  it was read, and its moves don't give what it records
     +-- StartError            3  a bot's program could not be started
     +-- Interrupted         130  Ctrl-C, after a part of the work
     +-- MatchVoid             4  the referee itself failed: nobody loses
          +-- ReplayUnwritten  4  its replay could not be continued, for example because the disk is full
          +-- CopyUnwritten    4  the disk has no room for the copy of a bot's files

Games raise three more. They are in ``referee.games.outcome``, because games import nothing from here:
``SettingsError`` (2), ``MalformedMove`` and ``IllegalMove`` (a fault of the bot, never an exit status).

A bot's failure during a match is a value (``referee.replay.faults.Fault``), not an exception.
"""

from __future__ import annotations

from contextlib import contextmanager

from referee.support.escape import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class RefereeError(Exception):
    """Base class of the referee's own exceptions. The text is one sentence for the user, and has everything unprintable escaped."""

    exit_code = 4
    #: JSON data about earlier work, which ``--json`` prints beside the sentence.
    facts: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return message(super().__str__())

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        """Add facts to those that the error has."""
        self.facts = {**(self.facts or {}), **facts}


class UsageError(RefereeError):
    """The request can't be carried out as written; nothing was started."""

    exit_code = 2


class PlayerError(UsageError):
    """A player's description names no program or page that can play. ``seat`` is the player's seat, where it is known."""

    seat: str | None = None


class StartError(RefereeError):
    """The operating system refused to start a bot's program. ``seat`` is the bot's seat, where it is known.

    ``is_doubtful``: the machine may be to blame, not the bot.
    """

    exit_code = 3

    def __init__(self, text: str, seat: str | None = None, *, is_doubtful: bool = False) -> None:
        super().__init__(text)
        self.seat = seat
        self.is_doubtful = is_doubtful


@contextmanager
def of_seat(seat: str) -> Iterator[None]:
    """Raise the PlayerErrors and StartErrors of the block with this seat."""
    try:
        yield
    except (PlayerError, StartError) as error:
        error.seat = seat
        raise


class ReplayError(UsageError):
    """A file is not a replay, or not one that this version can read."""


class ReplayWrong(ReplayError):
    """A replay is wrong: its moves don't give what it records."""

    exit_code = 1


class ReplayCut(ReplayError):
    """A replay ends before its result: the referee was killed or the file was shortened."""


class Interrupted(RefereeError):
    """Ctrl-C, or a signal that asks for the end, has ended a command; ``facts`` are its results so far."""

    def __init__(self, facts: Mapping[str, Any], exit_code: int = 130) -> None:
        super().__init__("Interrupted.")
        self.facts = facts
        self.exit_code = exit_code


#: The codes of void matches for which one player may be to blame without evidence which: their supervisor was killed, or the
#: machine was too busy to judge one of them.
SUPERVISOR, BUSY = DISPUTED = ("supervisor", "busy")


class MatchVoid(RefereeError):
    """The match is void: it counts for no player, because the referee or its machine failed, or nobody knows who did.

    ``reason`` is a code: ``limit``, ``disk`` or ``memory`` if this machine could not give the bots what they were promised, one of
    ``DISPUTED``, "" for anything else without a code. ``seats`` are the seats whose bots the failure hit, with a code of ``DISPUTED`` those
    of which one may be to blame; empty if no particular seat is.
    """

    exit_code = 4

    def __init__(self, text: str, reason: str = "", seats: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.reason = reason
        self.seats = seats


class ReplayUnwritten(MatchVoid):
    """Writing a replay failed during the match. ``facts`` are about the played steps and the replay's path."""

    def __init__(self, text: str, facts: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.facts = facts


class CopyUnwritten(MatchVoid):
    """The disk has no room for the copy of a bot's files."""
