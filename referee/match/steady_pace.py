"""A match between programs at a pace that spectators can follow."""

from __future__ import annotations

import select
from time import monotonic

from referee.replay.events import Listener, MatchBegun, StepTaken


class SteadyPace(Listener):
    """Slows a match between programs to a number of steps a second, so that spectators can follow it. No clock runs during the delay."""

    def __init__(self, steps_a_second: float) -> None:
        self._seconds = 1.0 / steps_a_second
        self._due = 0.0

    def begun(self, event: MatchBegun) -> None:
        """Delay the first step like every other, so that spectators see the start."""
        self._due = monotonic() + self._seconds

    def stepped(self, event: StepTaken) -> None:
        """Wait until the next step is due."""
        now = monotonic()
        if self._due > now:
            select.select([], [], [], self._due - now)
        self._due = max(self._due, now) + self._seconds
