"""A player that is a program of the match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.players.link import Link
from referee.replay.faults import Failure
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from referee.isolation.process import Process


class ProcessPlayer:
    """A program of the match, with the pipes to it. ``keeps_early``: lines sent before a question are answers to later questions."""

    def __init__(self, process: Process, *, keeps_early: bool = False) -> None:
        self.seat = process.seat
        self.label = process.label
        self.log = process.log
        self.process = process
        lines = LineBuffer(process.limits.line_bytes, keeps_blank=keeps_early)
        self.link = Link(process.take_pipes(), self.log, lines, keeps_early=keeps_early)

    def failure(self) -> Failure:
        """Return how the program ended. MatchVoid if its sandbox failed, or if the machine ran out of memory."""
        return Failure("ended", detail=self.process.ending())
