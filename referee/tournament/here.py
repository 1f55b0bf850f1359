"""A pool without workers: this process plays one match after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.tournament.values import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.replay.events import MatchResult
    from referee.tournament.values import Task


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
