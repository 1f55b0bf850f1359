"""Which matches of a grading count, and how long it lasts: no opponent's failure counts, and in a container no match begins after a deadline."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.league.engine import LeagueStopped
from referee.tournament.worker import Completed, Void

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from referee.tournament.local import Finished, Pool
    from referee.tournament.values import MatchTask

#: The seconds after which Gradescope stops a container, unless the assignment says otherwise.
CONTAINER_SECONDS = 600.0
#: So long before that no match is begun any more: the matches that are running can end.
MARGIN_SECONDS = 60.0
#: The further seconds after which a running match is given up, too.
_GRACE_SECONDS = 30.0
_VOIDED = "an opponent failed, which is not the hand-in's fault: {}"


def fairly(finished: Finished, students: Container[str]) -> Finished:
    """Return the end of a match: it is void if an opponent failed and the hand-in didn't."""
    task, report = finished
    if isinstance(report, Completed) and (faults := report.record.faults) and not any(task.seats[seat] in students for seat in faults):
        text = next(iter(faults.values()))
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


class DeadlinePool:
    """A pool around another one that takes no match after a deadline. Implements ``tournament.local.Pool``.

    It raises TimeIsUp when the matches that were running have ended, or soon anyway.
    """

    def __init__(self, pool: Pool, deadline: Deadline, grace_seconds: float = _GRACE_SECONDS) -> None:
        self._pool = pool
        self.slots = pool.slots
        self._deadline = deadline
        self._grace_seconds = grace_seconds
        self._running = 0

    @property
    def has_workers(self) -> bool:
        """False while it has nobody to play."""
        return self._pool.has_workers

    @property
    def room(self) -> int:
        """How many more matches it takes now. Raises TimeIsUp."""
        if self._deadline.left() > 0:
            return self._pool.room
        if not self._running:
            raise TimeIsUp("The time is up: the matches that are left are not played.")
        return 0

    def submit(self, task: MatchTask) -> None:
        """Take a match."""
        self._running += 1
        self._pool.submit(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        """Wait for the end of a match. Raises TimeIsUp."""
        ended = self._pool.wait(seconds)
        self._running -= len(ended)
        if not ended and self._deadline.left() < -self._grace_seconds:
            raise TimeIsUp("The time is up: a match that was running is given up.")
        return ended

    def close(self) -> None:
        """End all workers."""
        self._pool.close()
