"""The pool of a grading: failures of opponents don't count, and in a container no match begins after a deadline."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from referee.errors import DISPUTED, SUPERVISOR, UsageError
from referee.isolation.machine import SHORTAGES
from referee.support.words import counted
from referee.tournament.plan import MOST_VOIDS, PlayStopped, after_three

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from referee.tournament.plan import Pool
    from referee.tournament.values import Record, Task

#: The seconds after which Gradescope stops a container, unless the assignment says otherwise.
CONTAINER_SECONDS = 600.0
#: No match begins in the last seconds before that, so that running matches can end.
MARGIN_SECONDS = 60.0
#: Running matches are given up this many seconds after the deadline.
GRACE_SECONDS = 30.0
_VOIDED = "an opponent failed, which is not the hand-in's fault: {}"
#: After this number of void matches without a known cause, the hand-in is blamed, because the opponents are the organizers' own.
_MOST_DISPUTES = 2


class FairPool:
    """A pool around another one in which no student loses points through somebody else. Implements ``tournament.plan.Pool``.

    A match is void if an opponent failed and the hand-in didn't. One void match without a known cause proves nothing against a
    hand-in. After two of them, it loses the next match that ends in this way. ``students`` has the student of each match by the key of its task,
    ``attempts`` are the earlier ones that don't count. After the ``deadline`` it takes no match. ``sentences`` are remarks for the grader,
    which the reader takes.
    """

    def __init__(self, pool: Pool, students: Mapping[str, str], attempts: Iterable[Record], deadline: Deadline | None = None) -> None:
        self._pool = pool
        self._deadline = deadline
        self._students = students
        self._tasks: dict[str, Task] = {}
        self._after_three = after_three()
        self.sentences: deque[str] = deque()
        #: By student and task: the number of void matches without a known cause since the match was last played to the end.
        self._disputes: dict[str, Counter[str]] = {}
        for record in attempts:
            if record.key in students:
                self._note(record)

    @property
    def has_workers(self) -> bool:
        """False while the pool has no workers."""
        return self._pool.has_workers

    @property
    def room(self) -> int:
        """The number of further matches that the pool accepts now."""
        return self._pool.room if self._deadline is None or self._deadline.left() > 0 else 0

    def submit(self, task: Task) -> None:
        """Accept a match."""
        student = self._students[task.key]
        self._tasks[task.key] = task._replace(blamed=(student,) if self._is_blamed(student) else ())
        self._pool.submit(self._tasks[task.key])

    def wait(self, seconds: float) -> Sequence[Record]:
        """Wait for the end of a match, and return the records of those that ended."""
        return [self._judged(record) for record in self._pool.wait(seconds)]

    def gives_up(self, task: Task, record: Record) -> bool:
        """Return whether a void attempt is the last one of this run: the third, or one on a machine that lacks something."""
        return record.cause in SHORTAGES or self._after_three(task, record)

    def _judged(self, record: Record) -> Record:
        """Return the record of a match as it counts for the marks."""
        task, student = self._tasks[record.key], self._students[record.key]
        if not record.void:
            if record.is_startable and record.faults and not any(task.names[seat] == student for seat in record.faults):
                return record._replace(void=_VOIDED.format(next(iter(record.faults.values()))))
            return record
        if task.blamed and record.cause == SUPERVISOR:
            # The bot leaves nothing that could be judged, for example because it also kills the worker.
            seats = [seat for seat, name in task.names.items() if name == student]
            faults, kinds = dict.fromkeys(seats, record.void), dict.fromkeys(seats, "crashed")
            return record._replace(void="", cause="", text=record.void, faults=faults, fault_kinds=kinds)
        was_blamed = self._is_blamed(student)
        self._note(record)
        if self._is_blamed(student) and not was_blamed:
            opponents = " and ".join(sorted({*task.names.values()} - {student}))
            self.sentences.append(
                f"{student} is to blame for void matches with {opponents}, and loses if that happens again: {record.void}"
            )
        return record

    def _note(self, record: Record) -> None:
        """Count a void attempt without a known cause. After an attempt that was played to the end, set the count to 0."""
        student = self._students[record.key]
        disputes = self._disputes.setdefault(student, Counter())
        if not record.void:
            disputes.pop(record.key, None)
        elif record.cause in DISPUTED and (not record.hit or student in record.hit):
            disputes[record.key] += 1

    def _is_blamed(self, student: str) -> bool:
        return self._disputes.get(student, Counter()).total() >= _MOST_DISPUTES


def void_note(record: Record) -> str:
    """Return why a match that was given up is undecided."""
    if record.cause in SHORTAGES:
        return record.void
    return f"Its match was void {counted(MOST_VOIDS, 'time')}: {record.void}"


class TimeIsUp(PlayStopped):
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
