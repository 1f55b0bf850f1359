"""Pools that play tasks: workers, whose reports become records, and this process itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.errors import BUSY
from referee.isolation.machine import SHORTAGES
from referee.tournament.plan import PlayStopped
from referee.tournament.values import Record
from referee.tournament.worker import Completed, NotStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.replay.events import MatchResult
    from referee.tournament import local
    from referee.tournament.values import Task
    from referee.tournament.worker import Report, Void

#: Play stops after this number of matches in a row, each with other bots, in which the machine failed.
_MOST_FAILURES = 3


class MachineFailed(PlayStopped):
    """Matches are void because this machine can't give bots what they are promised. The text is a sentence for the staff."""


class WorkerPool:
    """Plays tasks on workers of this machine or of a cluster. Implements ``plan.Pool``.

    A failure that makes every match impossible, such as a full disk, isn't an attempt: it stops play after earlier results are stored.
    Play also stops after ``most_shortages`` matches in a row, each with other bots, for which the machine lacked something.
    """

    def __init__(self, workers: local.Pool, most_shortages: int = _MOST_FAILURES) -> None:
        self._workers = workers
        self._most_shortages = most_shortages
        self._stop: PlayStopped | None = None
        #: The names hit by failures of the machine since the last complete match.
        self._hit: set[frozenset[str]] = set()

    @property
    def has_workers(self) -> bool:
        """False while nobody can play: the tasks wait."""
        return self._workers.has_workers

    @property
    def room(self) -> int:
        """How many more tasks it takes now."""
        return 0 if self._stop is not None else self._workers.room

    def submit(self, task: Task) -> None:
        """Take a task. Workers know the files of its entries."""
        self._workers.submit(task._replace(seats={seat: entry._replace(files={}) for seat, entry in task.seats.items()}))

    def wait(self, seconds: float) -> Sequence[Record]:
        """Wait until an attempt has ended. PlayStopped if no match can be played at present."""
        self._check()
        attempts = [self._record(task, report) for task, report in self._workers.wait(seconds)]
        records = [record for record in attempts if record is not None]
        if not records:
            self._check()
        return records

    def _check(self) -> None:
        if self._stop is not None:
            raise self._stop

    def cancel(self, key: str) -> None:
        """Do nothing: the match continues, and its worker is free afterwards."""

    def _record(self, task: Task, report: Report) -> Record | None:
        """Return the record of an attempt; None if the report isn't one."""
        if isinstance(report, Completed):
            self._hit.clear()
            return report.record
        if isinstance(report, NotStarted):
            faults = {seat: report.text for seat, name in task.names.items() if name == report.team}
            return Record(task.key, text=report.text, faults=faults, started=False)
        if report.is_fatal:
            self._stop = PlayStopped(report.text)
            return None
        if report.reason in (*SHORTAGES, BUSY):
            self._note_failure(report)
        return Record(task.key, host=report.host, void=report.text, cause=report.reason, hit=report.teams)

    def _note_failure(self, void: Void) -> None:
        """Note the names hit by a failure of the machine. Several failures in a row, each with other bots, stop play."""
        self._hit.add(frozenset(void.teams))
        if len(self._hit) >= (self._most_shortages if void.reason in SHORTAGES else _MOST_FAILURES):
            several = f" in {len(self._hit)} matches in a row with different bots" if len(self._hit) > 1 else ""
            self._stop = MachineFailed(f"Play is stopped, because this machine failed{several}: {void.text}")


class HerePool:
    """Plays tasks in this process, one after another. Implements ``plan.Pool``; an error of a match ends play.

    ``results`` are those of the matches by the keys of their tasks.
    """

    has_workers = True

    def __init__(self, play_one: Callable[[Task], MatchResult]) -> None:
        self._play_one = play_one
        self._waiting: list[Task] = []
        self.results: dict[str, MatchResult] = {}

    @property
    def room(self) -> int:
        """One task at a time."""
        return 1 - len(self._waiting)

    def submit(self, task: Task) -> None:
        """Take a task; ``wait`` plays it."""
        self._waiting.append(task)

    def wait(self, seconds: float) -> Sequence[Record]:
        """Play the task that waits, however long it takes."""
        return [self._played(self._waiting.pop())] if self._waiting else []

    def _played(self, task: Task) -> Record:
        result = self.results[task.key] = self._play_one(task)
        return Record(
            task.key, result.winner, result.reason, result.text, result.scores, result.steps, result.faults, replay=str(result.replay)
        )

    def cancel(self, key: str) -> None:
        """Don't play a task that waits."""
        self._waiting = [task for task in self._waiting if task.key != key]
