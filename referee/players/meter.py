"""Measures the time of an answer: one kind of meter for each kind of clock. ``players.clock`` computes the bill.

A bot's processor time is read in two ways: quickly, by one system call for its first process or its control group, and thoroughly, by a walk
through all its processes. Where the kernel keeps an account of the whole group, both are the same and exact.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from referee.players.clock import CPU, WALL, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.bot_process import BotProcess

#: Processor time for each question that isn't billed, in seconds: a bot needs it to wake up and to go to sleep.
UNBILLED = 0.0002
#: An answer is quick up to this time, in seconds; and the number of quick answers in a row after which all processes are read.
QUICK, _MOST_QUICK = 0.001, 64
#: How many processors a bot can use at once: its processor time can grow this many times as fast as the wall clock.
_WIDTH = os.cpu_count() or 1
#: The shortest time between two looks at a bot's processor time, in seconds.
_LOOK = 0.002


class Meter:
    """The meter of a player without a process: nothing is measured, so wall time is billed. ``kind`` is the time that is billed.

    ``records_wall``: the time recorded beside the bill is wall time, else it is processor time.
    """

    __slots__ = ("kind", "records_wall")

    def __init__(self, kind: Kind = WALL, *, records_wall: bool = False) -> None:
        self.kind: Kind = kind
        self.records_wall = records_wall

    @property
    def is_stale(self) -> bool:
        """True if its readings are too old for the next question."""
        return False

    def renew(self) -> None:
        """Take the readings at the beginning of the next answer."""

    def look(self) -> float:
        """Return the processor time since the question, in seconds, as far as the clock needs it while the player thinks."""
        return 0.0

    def next_look(self, sent_at: float, now: float, limit: float | None) -> float:
        """Return when to look again at the latest, by the performance counter."""
        return math.inf

    def measure(self, wall: float) -> tuple[float, float]:
        """Return the processor time since the question and the wait for a processor in ``wall`` seconds so far, in seconds."""
        return 0.0, 0.0

    def states(self) -> tuple[bool, bool]:
        """Return whether a task runs or is ready to run, and whether one is ready that hasn't run since the last look."""
        return False, False

    def finish(self, wall: float, late: float) -> tuple[float, float]:
        """Note the end of an answer that took ``wall`` seconds, ``late`` of them by the referee. Return what ``measure`` returns."""
        return 0.0, 0.0

    def close(self) -> None:
        """Close the descriptors."""


class BotMeter(Meter):
    """The meter of a bot that is billed by the wall clock: its processor time is recorded beside that.

    ``used_before`` is the highest reading of its processor time at the end of its last answer, ``last_used`` the processor time of that
    answer, both in seconds.
    """

    __slots__ = ("_billed", "_checked", "_first_before", "_quick_answers", "_read", "last_used", "process", "used_before")

    def __init__(self, process: BotProcess, kind: Kind = WALL) -> None:
        super().__init__(kind, records_wall=kind != WALL)
        self.process = process
        self.used_before = self.last_used = 0.0
        #: Returns its processor time so far, by the cheapest available call; OSError after its end.
        self._read: Callable[[], float] = process.clock()
        #: Without an account: the last reading of its first process, and the number of answers since all processes were read.
        self._first_before, self._quick_answers = 0.0, 0
        #: Its seconds by the wall clock so far, and the readings at the last check of its work out of turn.
        self._billed = 0.0
        self._checked: tuple[float, float] | None = None

    def finish_quickly(self, seconds: float) -> float:
        """Note the end of an answer that took at most ``QUICK`` seconds by the wall clock. Return its processor time by the cheapest reading."""
        self._billed += seconds
        try:
            now = self._read()
        except OSError:
            now = self.used_before
        used = self.last_used = now - self.used_before
        self.used_before = now
        return used

    def finish(self, wall: float, late: float) -> tuple[float, float]:
        """Note the end of an answer."""
        self._billed += wall
        return self.newly_used(), 0.0

    def newly_used(self, *, is_thorough: bool = False) -> float:
        """Return its processor time since the last call, in seconds. ``is_thorough``: that of all its processes, even if each must be read.

        Reading all processes can miss one that ends in the meantime, so a later reading can be lower. Only time above the highest
        reading is returned. Otherwise the referee would bill the same time twice.
        """
        if is_thorough:
            self._quick_answers = 0
            self._first_before = self.first_seconds()
        used = self.last_used = self.uses(is_thorough=is_thorough)
        self.used_before += used
        return used

    def uses(self, *, is_thorough: bool = False) -> float:
        """Return its processor time since ``newly_used`` was last called, in seconds."""
        sandbox = self.process
        return max(0.0, (sandbox.seconds() if is_thorough else sandbox.quick_seconds()) - self.used_before)

    def first_seconds(self) -> float:
        """The processor time by one reading: of all its processes or, without an account, of the first. After its end, the last reading."""
        try:
            return self._read()
        except OSError:
            return self._first_before

    def worked_aside(self) -> float:
        """Return its processor time since its last answer by the cheapest reading, in seconds."""
        try:
            return self._read() - self.used_before
        except OSError:
            return 0.0

    def used_exactly(self) -> float:
        """Return its processor time since its last answer, in seconds; infinite if that isn't exact."""
        sandbox = self.process
        return max(0.0, sandbox.seconds() - self.used_before) if sandbox.is_exact else math.inf

    def ponders(self, questions: int) -> bool:
        """True if it has worked out of turn since the last call, ``questions`` questions ago.

        It has worked out of turn if its processor time grew by more than its billed time. It counts as working if it has child processes
        whose time isn't measured. The first call only records the starting values.
        """
        sandbox = self.process
        used = sandbox.quick_seconds()
        checked, self._checked = self._checked, (used, self._billed)
        if checked is None:
            return False
        unbilled = (used - checked[0]) - (self._billed - checked[1])
        return unbilled > questions * UNBILLED or (not sandbox.is_exact and sandbox.has_children())


class CpuMeter(BotMeter):
    """The meter of a bot that is billed by the processor time of all its processes since its last answer."""

    __slots__ = ()

    def __init__(self, process: BotProcess) -> None:
        super().__init__(process, CPU)

    def finish_quickly(self, seconds: float) -> float:
        """Note the end of a quick answer, and return its processor time.

        If the kernel keeps no account, then only the first process is read, because reading all of them would take longer than the
        answer. After ``_MOST_QUICK`` such answers, or after one that isn't quick, the time of the others is billed.
        """
        self._billed += seconds
        if self.process.is_exact or self._quick_answers == _MOST_QUICK:
            return self.newly_used(is_thorough=True)
        self._quick_answers += 1
        try:
            now = self._read()
        except OSError:
            now = self._first_before
        used = self.last_used = now - self._first_before
        self._first_before = now
        self.used_before += used
        return used

    def look(self) -> float:
        """Return the processor time of all its processes since its last answer."""
        return self.uses(is_thorough=True)

    def next_look(self, sent_at: float, now: float, limit: float | None) -> float:
        """Return the earliest moment when its limit can be used up."""
        return math.inf if limit is None else now + max(_LOOK, (limit - self.look()) / _WIDTH)

    def measure(self, wall: float) -> tuple[float, float]:
        """Return its processor time since its last answer."""
        return self.look(), 0.0

    def finish(self, wall: float, late: float) -> tuple[float, float]:
        """Note the end of an answer."""
        self._billed += wall
        return self.newly_used(is_thorough=True), 0.0
