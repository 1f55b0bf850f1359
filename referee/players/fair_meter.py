"""The meters of the fair clock: how long a bot, and the referee, were ready to run and got no processor.

The kernel counts each task's run delay (``support.delays``); ``players.clock`` says what an answer then costs.

Theory of operation. The run delay that counts is that of one task, not the sum, because several tasks wait at the same time: that of the
program's first task if it explains the wall time, as in every bot of one thread. Otherwise it is that of the task with the most processor time.
Tasks that end take their delay with them, so where several have worked, they are read every 4 ms of a long wait. A task that was not seen is
billed by the wall clock. Answers within a millisecond are billed by the wall clock without any reading. A later answer could then be credited
with earlier waits, so the readings are renewed before a question when they are older than a millisecond.

The referee's own wait since its last poll without an answer is subtracted, too: mostly it began when the answer woke the next poll. If it
began earlier, a bot may have slept for a part of it without being billed. The two cases look the same.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

from referee.players.clock import FAIR
from referee.players.meter import BotMeter
from referee.support.delays import DelayReader, TaskTimes, is_ready, priority, tasks_of

if TYPE_CHECKING:
    import select
    from collections.abc import Mapping

    from referee.isolation.bot_process import BotProcess

#: The intervals of readings of a thinking bot, in seconds: if several of its tasks have worked, and if only the first has.
LOOK, _ALONE = 0.004, 0.05
#: The pause between two readings is at least this many times as long as a reading.
_SHARE = 20
#: Readings of this age are renewed before a question, in seconds.
_STALE = 0.001
#: Differences up to this are noise, in seconds.
_LITTLE = 0.001


def busiest_delay(before: Mapping[int, TaskTimes], now: Mapping[int, TaskTimes]) -> float:
    """Return the growth of the run delay of the task that used most processor time, in seconds."""
    growth = [
        (times.cpu - before.get(task, TaskTimes()).cpu, times.delay - before.get(task, TaskTimes()).delay) for task, times in now.items()
    ]
    return max(growth, default=(0.0, 0.0))[1]


class RefereeWaits:
    """The referee's own waits for a processor since its last poll without an answer."""

    def __init__(self) -> None:
        self._reader = DelayReader("thread-self")
        self._before = self._reader.read().delay

    def renew(self) -> None:
        """Forget the waits so far."""
        self._before = self._reader.read().delay

    def note_silence(self, poller: select.poll) -> None:
        """Forget the waits so far after a poll without an answer, unless one has come between that poll and the reading."""
        delay = self._reader.read().delay
        if not poller.poll(0):
            self._before = delay

    def seconds(self) -> float:
        """Return how long the referee has waited."""
        return self._reader.read().delay - self._before

    def close(self) -> None:
        """Close the descriptor."""
        self._reader.close()


class FairMeter(BotMeter):
    """The processor time and the run delays of one bot since its last question.

    ``started_as`` is the policy and nice value with which its tasks must run to be credited with waits; None where they can't change them.
    """

    __slots__ = (
        "_cpu_before",
        "_first_task_before",
        "_has_others",
        "_is_due",
        "_pause",
        "_read_at",
        "_reader",
        "_started_as",
        "_tasks",
        "_tasks_before",
    )

    def __init__(self, process: BotProcess, started_as: tuple[int, int] | None) -> None:
        super().__init__(process, FAIR)
        #: When the readings were renewed.
        self._read_at = -math.inf
        #: Whether other tasks than the program's first one have worked in this answer or the last one.
        self._has_others = False
        #: How long to wait until the next look, in seconds.
        self._pause = LOOK
        self._started_as = started_as
        self._reader: DelayReader | None = None
        self._first_task_before = TaskTimes()
        #: The processor time at the last renewal, by one reading.
        self._cpu_before = 0.0
        self._tasks_before: dict[int, TaskTimes] = {}
        self._tasks: dict[int, TaskTimes] = {}
        #: True if the tasks need to be read before the next question.
        self._is_due = False

    @property
    def is_stale(self) -> bool:
        """True if its readings are too old for the next question."""
        return perf_counter() - self._read_at > _STALE

    def renew(self, *, is_answer: bool = False) -> None:
        """Take the present readings as those from which the next answer is measured."""
        self._first_task_before, self._cpu_before, self._read_at = self._read_first_task(), self.first_seconds(), perf_counter()
        if self._is_due:
            self._tasks_before = self._tasks = tasks_of(self.process.pids())
        # Once is enough: after quick answers, the list of tasks isn't needed.
        self._is_due = is_answer and self._has_others

    def finish_quickly(self, seconds: float) -> float:
        """Note the end of a quick answer, whose wall time is billed without a reading of waits. Return its wall time."""
        if self.process.is_exact:
            super().finish_quickly(seconds)
        else:
            self._billed += seconds
        return seconds

    def look(self) -> float:
        """Read the tasks while the bot thinks, so that a task that ends before the answer is counted. Return the processor time so far."""
        begun = perf_counter()
        cpu = self._cpu_used()
        if self._has_others:
            self._read_tasks()
        self._pause = max(LOOK, _SHARE * (perf_counter() - begun))
        return cpu

    def next_look(self, sent_at: float, now: float, limit: float | None) -> float:
        """Return when to read again: rarely while only its first task works, because the delay of that task isn't lost."""
        return max(0.0 if self._has_others else sent_at + _ALONE, now + self._pause)

    def measure(self, wall: float) -> tuple[float, float]:
        """Return its processor time and its wait so far, of ``wall`` seconds."""
        cpu = self._cpu_used()
        waited = self._read_first_task().delay - self._first_task_before.delay
        if self._has_others and wall - waited > cpu + _LITTLE:
            self._read_tasks()
            waited = busiest_delay(self._tasks_before, self._tasks)
        return cpu, waited if waited <= _LITTLE or self._is_as_started() else 0.0

    def finish(self, wall: float, late: float) -> tuple[float, float]:
        """Note the end of an answer, and return its processor time and its wait."""
        self._billed += wall
        measured = self.measure(wall - late)
        self.newly_used(is_thorough=True)
        self._has_others = self._is_due
        self.renew(is_answer=True)
        return measured

    def states(self) -> tuple[bool, bool]:
        """Return whether a task runs or is ready to run, and whether one is ready that hasn't run since the last look."""
        before, now = self._tasks, self._read_tasks()
        ready = [task for task in now if is_ready(task)] if self._is_as_started() else []
        return bool(ready), any(now[task].cpu == before.get(task, TaskTimes()).cpu for task in ready)

    def close(self) -> None:
        """Close the descriptor."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _cpu_used(self) -> float:
        """Return the processor time of all processes since the question, in seconds. Note whether other tasks than the first have worked."""
        used = self.first_seconds() - self._cpu_before
        if not self.process.is_exact:
            used = max(used, self.uses(is_thorough=True) - (self._cpu_before - self._first_before))
        self._is_due = used > self._read_first_task().cpu - self._first_task_before.cpu + _LITTLE
        self._has_others = self._has_others or self._is_due
        return used

    def _read_first_task(self) -> TaskTimes:
        """Return the times of the program's first task; after its end, those from before the question."""
        try:
            if self._reader is None:
                self._reader = DelayReader(str(self.process.first_pid()))
            return self._reader.read()
        except (OSError, ValueError):
            return self._first_task_before

    def _read_tasks(self) -> dict[int, TaskTimes]:
        """Read the live tasks; those that have ended stay as they were seen last."""
        live = tasks_of(self.process.pids())
        self._tasks = {**self._tasks, **live}
        return live

    def _is_as_started(self) -> bool:
        tasks = {self.process.first_pid(), *self._tasks} if self._started_as is not None else ()
        return all(priority(task) in (None, self._started_as) for task in tasks)
