"""Calculates the time that an answer costs its player: by which of two clocks, and when a limit can be reached."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from referee.players.faults import Failure
from referee.players.player import Reply

if TYPE_CHECKING:
    from referee.players.pipes import Pipes
    from referee.players.player import Player

#: How many processors a bot can use at once: its processor time can grow this many times as fast as the wall clock.
_WIDTH = os.cpu_count() or 1
#: The shortest time between two looks at a bot's processor time, in seconds.
_LOOK = 0.002


class Pending:
    """A question without an answer. ``deadline`` is by the wall clock; it can be postponed up to ``latest``."""

    __slots__ = ("begun", "deadline", "latest", "limit", "pipes", "player", "process")

    def __init__(self, player: Player, pipes: Pipes, begun: float, limit: float | None, wall_limit: float | None) -> None:
        self.player = player
        self.pipes = pipes
        self.process = player.process
        self.begun = begun
        self.limit = limit
        self.deadline = self.latest = math.inf if wall_limit is None else begun + wall_limit


class Billing:
    """Bills by the processor time of a bot's whole tree if ``by_cpu``, else by the wall clock. The other time is recorded beside it."""

    def __init__(self, *, by_cpu: bool) -> None:
        self.by_cpu = by_cpu

    def reply(self, entry: Pending, now: float, line: bytes | None, failure: Failure | None, *, rescued: bool = False) -> Reply:
        """Return one player's reply, with both times."""
        wall = now - entry.begun
        used = 0.0 if entry.process is None else entry.process.newly_used(self.by_cpu)
        if self.by_cpu:
            if line is not None and entry.limit is not None and used > entry.limit:
                line, failure = None, late(entry.pipes)
            return Reply(line, used, failure, rescued, wall)
        return Reply(line, wall if entry.limit is None else min(wall, entry.limit), failure, rescued, used)

    def has_used_up(self, entry: Pending) -> bool:
        """True if a player has used its limit of processor time."""
        return self._left(entry) < 0.0

    def due(self, entry: Pending, now: float) -> float:
        """Return when to check a player again: at its deadline, or at the earliest moment when its processor time can be used up."""
        return min(entry.deadline, now + max(_LOOK, self._left(entry) / _WIDTH))

    def _left(self, entry: Pending) -> float:
        """The processor time that a player may still use for its answer, in seconds; infinite if that isn't billed."""
        if not self.by_cpu or entry.limit is None:
            return math.inf
        return entry.limit - (0.0 if entry.process is None else entry.process.uses(self.by_cpu))


def late(pipes: Pipes, *, is_guard: bool = False) -> Failure:
    """The failure of a player whose time is up; the guard is that of the wall clock, where processor time is billed."""
    detail = {"cause": "time", "guard": True} if is_guard else None
    return Failure("unread" if pipes.unsent else "unfinished" if pipes.lines.has_bytes else "silent", detail=detail)
