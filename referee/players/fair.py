"""The fair clock: it bills wall time without the time for which a bot was ready to run and got no processor.

Who sleeps pays, who is starved doesn't. The kernel counts each task's run delay (``isolation.delays``). A bill is at least the processor
time, so nobody computes for less than that. All that a bot can gain is sleep: by a helper task that waits while the bot sleeps.

Theory of operation. The run delay that counts is that of one task, not the sum, because several tasks wait at the same time: that of the
program's first task if it explains the wall time, and so for every bot of one thread. Else it is that of the task that used most processor time.
Tasks that end take their delay with them, so where several have worked, they are read every 4 ms of a long wait. A task that was not seen is
billed by the wall clock. Answers within a millisecond are billed by the wall clock without any reading. Then a later answer may be credited with waits of
earlier ones, so the readings are renewed before a question when they are older than a millisecond.

A deadline by the wall clock is only the earliest moment at which a limit can be reached. A wait that lasts isn't counted yet, so while a task
is ready to run, only processor time makes a bot late. The guard ends the wait: if the machine explains it, the match is void.

The referee's own wait since its last poll without an answer is subtracted, too: mostly it began when the answer woke the next poll. Where it
began earlier, a bot may have slept during a part of it for nothing. Nothing tells the two apart.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import BUSY, MatchVoid
from referee.isolation.delays import DelayReader, TaskTimes, is_ready, priority, tasks_of
from referee.players.billing import Billing, Pending, late
from referee.players.clock import FAIR, LATE, VOID, bill, verdict
from referee.players.player import Reply
from referee.replay.faults import NO_ANSWER, Failure
from referee.support.words import the_seat

if TYPE_CHECKING:
    import select
    from collections.abc import Iterable, Mapping

    from referee.players.pipes import Pipes
    from referee.players.player import RunningPlayer
    from referee.players.process import BotProcess

#: How often a bot with several tasks is looked at while it thinks, and how long one is left alone of which only the first task has worked yet.
_LOOK, _ALONE = 0.004, 0.05
#: The pause between two looks is at least so many times as long as a look.
_SHARE = 20
#: Readings of this age are renewed before a question, in seconds.
STALE = 0.001
#: Differences up to this mean nothing, in seconds.
_LITTLE = 0.001


def busiest_delay(before: Mapping[int, TaskTimes], now: Mapping[int, TaskTimes]) -> float:
    """Return how much the run delay of the task has grown that used most processor time, in seconds."""
    growth = [
        (times.cpu - before.get(task, TaskTimes()).cpu, times.delay - before.get(task, TaskTimes()).delay) for task, times in now.items()
    ]
    return max(growth, default=(0.0, 0.0))[1]


class BotDelays:
    """The processor time and the run delays of one bot since its last question.

    ``started_as`` is the policy and nice value with which its tasks must run to be credited with waits; None where they can't change them.
    ``read_at`` is when the readings were renewed. ``has_others``: in this answer or the last one, other tasks than the program's first one have
    worked.
    """

    def __init__(self, process: BotProcess, started_as: tuple[int, int] | None) -> None:
        self.read_at = -math.inf
        self.has_others = False
        #: How long to wait until the next look, in seconds.
        self.pause = _LOOK
        self._process = process
        self._started_as = started_as
        self._reader: DelayReader | None = None
        self._first_before = TaskTimes()
        #: The processor time that one reading tells, as it was then.
        self._own_before = 0.0
        self._tasks_before: dict[int, TaskTimes] = {}
        self._tasks: dict[int, TaskTimes] = {}
        #: True if the tasks need to be read before the next question.
        self._is_due = False

    def renew(self, *, is_answer: bool = False) -> None:
        """Take the present readings as those from which the next answer is measured."""
        self._first_before, self._own_before, self.read_at = self._read_first(), self._process.own_seconds(), perf_counter()
        if self._is_due:
            self._tasks_before = self._tasks = tasks_of(self._process.sandbox.pids())
        # Once is enough: after quick answers, nobody needs to know which tasks there are.
        self._is_due = is_answer and self.has_others

    def used(self) -> float:
        """Return the processor time of all processes since the question, in seconds. Note whether other tasks than the first have worked."""
        process = self._process
        own = process.own_seconds() - self._own_before
        if not process.sandbox.is_exact:
            own = max(own, process.uses(True) - (self._own_before - process.own_before))
        self._is_due = own > self._read_first().cpu - self._first_before.cpu + _LITTLE
        self.has_others = self.has_others or self._is_due
        return own

    def settle(self) -> None:
        """Note the end of an answer."""
        self.has_others = self._is_due
        self.renew(is_answer=True)

    def look(self) -> float:
        """Look at the bot while it thinks, so that no task is missed that ends before the answer. Return its processor time so far."""
        begun = perf_counter()
        cpu = self.used()
        if self.has_others:
            self._read_tasks()
        self.pause = max(_LOOK, _SHARE * (perf_counter() - begun))
        return cpu

    def waited(self, wall: float, cpu: float) -> float:
        """Return the seconds for which the bot has waited, of so many of wall time, in which it used so much processor time."""
        waited = self._read_first().delay - self._first_before.delay
        if self.has_others and wall - waited > cpu + _LITTLE:
            self._read_tasks()
            waited = busiest_delay(self._tasks_before, self._tasks)
        return waited if waited <= _LITTLE or self._is_as_started() else 0.0

    def ready(self) -> tuple[bool, bool]:
        """Return whether a task runs or is ready to run, and whether one is ready that hasn't run since the last look."""
        seen, now = self._tasks, self._read_tasks()
        ready = [task for task in now if is_ready(task)] if self._is_as_started() else []
        return bool(ready), any(now[task].cpu == seen.get(task, TaskTimes()).cpu for task in ready)

    def close(self) -> None:
        """Close the descriptor."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _read_first(self) -> TaskTimes:
        """Return the times of the program's first task; after its end, those from before the question."""
        try:
            if self._reader is None:
                self._reader = DelayReader(str(self._process.sandbox.first_pid()))
            return self._reader.read()
        except (OSError, ValueError):
            return self._first_before

    def _read_tasks(self) -> dict[int, TaskTimes]:
        """Read the live tasks; those that have ended stay as they were seen last."""
        live = tasks_of(self._process.sandbox.pids())
        self._tasks = {**self._tasks, **live}
        return live

    def _is_as_started(self) -> bool:
        tasks = {self._process.sandbox.first_pid(), *self._tasks} if self._started_as is not None else ()
        return all(priority(task) in (None, self._started_as) for task in tasks)


class FairBilling(Billing):
    """Bills by the fair clock. The wall clock is recorded beside it."""

    def __init__(self, processes: Iterable[BotProcess], started_as: tuple[int, int] | None) -> None:
        self.delays = {one: BotDelays(one, None if one.sandbox.is_sandbox else started_as) for one in processes}
        self._own = DelayReader("thread-self")
        self._own_before = self._own.read().delay

    def renew(self, process: BotProcess | None) -> None:
        """Renew the readings of a bot and of the referee."""
        if process is not None:
            self.delays[process].renew()
            self._own_before = self._own.read().delay

    def note_silence(self, poller: select.poll) -> None:
        """Waits of the referee before this moment kept no answer waiting, unless one has come between that poll and the reading."""
        own = self._own.read().delay
        if not poller.poll(0):
            self._own_before = own

    def reply(self, entry: Pending, now: float, line: bytes | None, failure: Failure | None, *, rescued: bool = False) -> Reply:
        """Return one player's reply, with the bill and the wall time."""
        if entry.process is None:
            return super().reply(entry, now, line, failure, rescued=rescued)._replace(other=now - entry.begun)
        # A poll that lasted too long is the referee's doing, also where it was stopped and not starved.
        referee_waited = max(self._own.read().delay - self._own_before, now - self.poll_ends)
        wall, cpu, waited = self._times(entry, now, referee_waited)
        billed = bill(FAIR, wall, cpu, waited + referee_waited, entry.owed)
        entry.process.newly_used(True)
        self.delays[entry.process].settle()
        limit = math.inf if entry.limit is None else entry.limit
        if line is not None and billed > limit:
            line, failure = None, late(entry.pipes)
        if failure is not None and failure.reason in NO_ANSWER:
            billed = limit
        rescued = line is not None and bill(FAIR, wall, cpu, waited, entry.owed) > limit
        return Reply(line, min(billed, limit), failure, rescued, now - entry.begun)

    def look(self, entry: Pending) -> bool:
        """Look at a bot in a long wait. True if its processor time alone is above its limit."""
        if entry.process is None:
            return False
        cpu = self.delays[entry.process].look()
        return entry.limit is not None and cpu > entry.limit

    def due(self, entry: Pending, now: float) -> float:
        """Return when to look at a player again."""
        if entry.process is None:
            return entry.deadline
        delays = self.delays[entry.process]
        alone = 0.0 if delays.has_others else entry.begun + _ALONE
        return min(entry.deadline, max(alone, now + delays.pause))

    def failure(self, entry: Pending, now: float) -> Failure | None:
        """Return the failure of a player that is late; None if its deadline was postponed. MatchVoid if the machine is too busy to judge it."""
        if entry.process is None or entry.limit is None:
            return late(entry.pipes)
        wall, cpu, waited = self._times(entry, now, 0.0)
        billed = bill(FAIR, wall, cpu, waited, entry.owed)
        ready, starved = self.delays[entry.process].ready()
        guard = entry.guard - entry.begun
        judged = verdict(FAIR, wall, cpu, billed, entry.limit, guard, has_answered=False, is_ready=ready, is_starved=starved)
        if judged == LATE:
            return late(entry.pipes)
        if judged == VOID:
            raise too_busy(entry.player.seat, f"for {max(0.0, wall - billed):.1f} of the {wall:.1f} s in which it was asked")
        left = entry.limit - billed
        entry.deadline = min(now + (left if left > 0.0 else _LOOK), max(entry.guard, now))
        return None

    def out_of_time(self, player: RunningPlayer, pipes: Pipes, limit: float | None) -> Failure:
        """Return the failure of a player that has used up its bank. MatchVoid if the guard of the match is used up."""
        if limit is None or limit > 0.0:
            raise too_busy(player.seat, "for most of the time in which it was asked in this match")
        return late(pipes)

    def _times(self, entry: Pending, now: float, referee_waited: float) -> tuple[float, float, float]:
        """Return the wall time of a bot since its question, its processor time and its wait, in seconds."""
        assert entry.process is not None
        delays = self.delays[entry.process]
        wall, cpu = now - entry.begun - entry.owed, delays.used()
        return wall, cpu, delays.waited(wall - referee_waited, cpu)

    def close(self) -> None:
        """Close the descriptors."""
        for delays in self.delays.values():
            delays.close()
        self._own.close()


def too_busy(seat: str, when: str) -> MatchVoid:
    """Return the error of a match in which a bot got too little of the processor to be judged; ``when`` ends the clause about it."""
    text = (
        f"{the_seat(seat)} was ready to run and had no processor {when}: the machine is too busy, the match is void and nobody loses. "
        "Run fewer programs beside it."
    )
    return MatchVoid(text, BUSY, (seat,))
