"""How a match is shown: the options of its pages, and a pace that spectators can follow."""

from __future__ import annotations

import select
from time import monotonic
from typing import NamedTuple

from referee.replay.events import Listener, MatchBegun, StepTaken


class Show(NamedTuple):
    """The options for a match's pages: whether spectators are served, the server's address, and the pace and clock of people."""

    is_live: bool = False
    pace: float | None = 8
    is_timed: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    opens: bool = True
    stays: bool = False
    names: tuple[str, ...] = ()
    #: Steps a second of a match between programs; None: no delay between steps.
    bots_pace: float | None = None


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
