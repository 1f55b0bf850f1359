"""Calculates the time that an answer costs its player, and when a limit can be reached. Each clock has a class; ``fair.py`` has the third."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from referee.players.player import Reply
from referee.replay.faults import Failure

if TYPE_CHECKING:
    import select

    from referee.players.pipes import Pipes
    from referee.players.player import RunningPlayer
    from referee.players.process import BotProcess

#: How many processors a bot can use at once: its processor time can grow this many times as fast as the wall clock.
_WIDTH = os.cpu_count() or 1
#: The shortest time between two looks at a bot's processor time, in seconds.
_LOOK = 0.002


class Pending:
    """A question without an answer. ``deadline`` is by the wall clock; it can be postponed up to ``latest``. ``guard`` is when the wait ends.

    ``begun`` is earlier than the question by ``owed``, the seconds that the player owes for work out of turn.
    """

    __slots__ = ("begun", "deadline", "guard", "latest", "limit", "owed", "pipes", "player", "process")

    def __init__(
        self, player: RunningPlayer, pipes: Pipes, begun: float, limit: float | None, guard: float | None, owed: float = 0.0
    ) -> None:
        self.player = player
        self.pipes = pipes
        self.process = player.process
        self.begun = begun
        self.limit = limit
        self.owed = owed
        self.deadline = self.latest = math.inf if limit is None else begun + limit
        self.guard = math.inf if guard is None else begun + guard


class Billing:
    """Bills by the wall clock. The processor time is recorded beside it. ``poll_ends`` is when the present poll ends at the latest."""

    poll_ends = math.inf

    def renew(self, process: BotProcess | None) -> None:
        """Read what the next answer of a bot is measured by."""

    def note_silence(self, poller: select.poll) -> None:
        """Note that a poll has just found no answer."""

    def pending(self, entry: Pending) -> Pending:
        """Return a question that was just sent, with its deadline."""
        return entry

    def reply(self, entry: Pending, now: float, line: bytes | None, failure: Failure | None, *, rescued: bool = False) -> Reply:
        """Return one player's reply, with the billed time and the other one."""
        wall = now - entry.begun
        used = 0.0 if entry.process is None else entry.process.newly_used()
        return Reply(line, wall if entry.limit is None else min(wall, entry.limit), failure, rescued, used)

    def look(self, entry: Pending) -> bool:
        """Look at a player in a long wait. True if it has used up its limit by processor time alone."""
        return False

    def due(self, entry: Pending, now: float) -> float:
        """Return when to check a player again."""
        return entry.deadline

    def failure(self, entry: Pending, now: float) -> Failure | None:
        """Return the failure of a player whose deadline has passed without an answer; None if the deadline was postponed."""
        return late(entry.pipes)

    def out_of_time(self, player: RunningPlayer, pipes: Pipes, limit: float | None) -> Failure:
        """Return the failure of a player that has no time left for a question, neither of its ``limit`` nor, if it has some, of the guard."""
        return late(pipes, is_guard=limit is None or limit > 0.0)

    def close(self) -> None:
        """Close the descriptors."""


class CpuBilling(Billing):
    """Bills by the processor time of a bot's whole tree. The wall clock is recorded beside it, and ends the wait at the guard."""

    def pending(self, entry: Pending) -> Pending:
        """Return a question that was just sent. Its only deadline by the wall clock is the guard."""
        entry.deadline = entry.latest = entry.guard
        return entry

    def reply(self, entry: Pending, now: float, line: bytes | None, failure: Failure | None, *, rescued: bool = False) -> Reply:
        """Return one player's reply, with both times."""
        used = 0.0 if entry.process is None else entry.process.newly_used(True)
        if line is not None and entry.limit is not None and used > entry.limit:
            line, failure = None, late(entry.pipes)
        return Reply(line, used, failure, rescued, now - entry.begun)

    def look(self, entry: Pending) -> bool:
        """True if a player has used its limit of processor time."""
        return self._left(entry) < 0.0

    def due(self, entry: Pending, now: float) -> float:
        """Return when to check a player again: at its deadline, or at the earliest moment when its processor time can be used up."""
        return min(entry.deadline, now + max(_LOOK, self._left(entry) / _WIDTH))

    def failure(self, entry: Pending, now: float) -> Failure | None:
        """Return the failure of a player that has used up its time, or that has met the guard."""
        return late(entry.pipes, is_guard=not self.look(entry))

    def _left(self, entry: Pending) -> float:
        """The processor time that a player may still use for its answer, in seconds."""
        if entry.limit is None:
            return math.inf
        return entry.limit - (0.0 if entry.process is None else entry.process.uses(True))


def late(pipes: Pipes, *, is_guard: bool = False) -> Failure:
    """The failure of a player whose time is up; the guard is that of the wall clock, where processor time is billed."""
    detail = {"cause": "time", "guard": True} if is_guard else None
    return Failure("unread" if pipes.unsent else "unfinished" if pipes.lines.has_bytes else "silent", detail=detail)
