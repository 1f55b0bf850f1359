"""What an answer costs its player: which of two clocks is billed, and when a limit can be reached."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from referee.players.reply import Reply, late

if TYPE_CHECKING:
    from referee.players.faults import Fault
    from referee.players.process import ProcessPlayer

#: How many processors a bot can use at once: its processor time can grow this many times as fast as the wall clock.
_WIDTH = os.cpu_count() or 1
#: The shortest time between two looks at a bot's processor time, in seconds.
_LOOK = 0.002


class Pending:
    """A question without an answer. ``deadline`` is by the wall clock; it can be postponed up to ``latest``."""

    __slots__ = ("begun", "deadline", "latest", "limit", "player")

    def __init__(self, player: ProcessPlayer, begun: float, limit: float | None, wall_limit: float | None) -> None:
        self.player = player
        self.begun = begun
        self.limit = limit
        self.deadline = self.latest = math.inf if wall_limit is None else begun + wall_limit


class Billing:
    """Bills by the processor time of a bot's whole tree if ``by_cpu``, else by the wall clock. The other time is recorded beside it."""

    def __init__(self, *, by_cpu: bool) -> None:
        self.by_cpu = by_cpu

    def reply(self, entry: Pending, now: float, line: bytes | None, fault: Fault | None, *, rescued: bool = False) -> Reply:
        """Return one player's reply, with both times."""
        wall = now - entry.begun
        used = entry.player.newly_used(self.by_cpu)
        if self.by_cpu:
            if line is not None and entry.limit is not None and used > entry.limit:
                line, fault = None, late(entry.player)
            return Reply(line, used, fault, rescued, wall)
        return Reply(line, wall if entry.limit is None else min(wall, entry.limit), fault, rescued, used)

    def has_used_up(self, entry: Pending) -> bool:
        """True if a player has used its limit of processor time."""
        return self.by_cpu and entry.limit is not None and entry.player.uses(self.by_cpu) > entry.limit

    def due(self, entry: Pending, now: float) -> float:
        """Return when to check a player again: at its deadline, or at the earliest moment when its processor time can be used up."""
        if not self.by_cpu or entry.limit is None:
            return entry.deadline
        left = entry.limit - entry.player.uses(self.by_cpu)
        return min(entry.deadline, now + max(_LOOK, left / _WIDTH))
