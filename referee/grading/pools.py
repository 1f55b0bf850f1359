"""Pools around those of leagues: in a grading no opponent's failure counts, and in a container no match begins after a deadline."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.league.engine import LeagueStopped
from referee.league.worker import Played, Void

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.league.local import Finished, Pool
    from referee.league.values import MatchTask

#: The seconds after which Gradescope stops a container, unless the assignment says otherwise.
CONTAINER_SECONDS = 600.0
#: So long before that no match is begun any more: the matches that are running can end.
MARGIN_SECONDS = 60.0
#: The further seconds after which a running match is given up, too.
_GRACE_SECONDS = 30.0
_VOIDED = "an opponent failed, which is not the submission's fault: {}"


class _PoolAround:
    """A pool that lets another one play. Implements ``league.local.Pool``."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.slots = pool.slots

    @property
    def has_workers(self) -> bool:
        """False while it has nobody to play."""
        return self._pool.has_workers

    @property
    def room(self) -> int:
        """How many more matches it takes now."""
        return self._pool.room

    def submit(self, task: MatchTask) -> None:
        """Take a match."""
        self._pool.submit(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        """Wait for the end of a match."""
        return self._pool.wait(seconds)

    def close(self) -> None:
        """End all workers."""
        self._pool.close()


class FairPool(_PoolAround):
    """A pool in which a match is void if an opponent failed and the submission didn't."""

    def __init__(self, pool: Pool, students: frozenset[str]) -> None:
        super().__init__(pool)
        self._students = students

    def wait(self, seconds: float) -> Sequence[Finished]:
        """Wait for the end of a match."""
        return [self._judged(finished) for finished in super().wait(seconds)]

    def _judged(self, finished: Finished) -> Finished:
        task, report = finished
        if isinstance(report, Played) and report.record.faults:
            seats = report.record.faults
            if not any(task.seats[seat] in self._students for seat in seats):
                text = next(iter(seats.values()))
                return finished._replace(report=Void(task.key, _VOIDED.format(text), report.record.host))
        return finished


class TimeIsUp(LeagueStopped):
    """The deadline has passed: no further match begins. Finished matches are stored."""

    exit_code = 0


class Deadline:
    """A moment after which no match is begun. It is counted from the start of this object, in seconds."""

    def __init__(self, seconds: float = CONTAINER_SECONDS - MARGIN_SECONDS) -> None:
        if not 1 <= seconds <= 1_000_000:
            raise UsageError(f"--deadline is {seconds:g}, but must be from 1 to 1,000,000 seconds.")
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, negative after the deadline."""
        return self._end - time.monotonic()


class DeadlinePool(_PoolAround):
    """A pool that takes no match after a deadline. It raises TimeIsUp when the matches that were running have ended, or soon anyway."""

    def __init__(self, pool: Pool, deadline: Deadline, grace_seconds: float = _GRACE_SECONDS) -> None:
        super().__init__(pool)
        self._deadline = deadline
        self._grace_seconds = grace_seconds
        self._running = 0

    @property
    def room(self) -> int:
        """How many more matches it takes now. Raises TimeIsUp."""
        if self._deadline.left() > 0:
            return super().room
        if not self._running:
            raise TimeIsUp("The time is up: the matches that are left are not played.")
        return 0

    def submit(self, task: MatchTask) -> None:
        """Take a match."""
        self._running += 1
        super().submit(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        """Wait for the end of a match. Raises TimeIsUp."""
        ended = super().wait(seconds)
        self._running -= len(ended)
        if not ended and self._deadline.left() < -self._grace_seconds:
            raise TimeIsUp("The time is up: a match that was running is given up.")
        return ended
