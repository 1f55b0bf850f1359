"""The turning points of a match: the positions from which a different verdict holds. Computed from a replay, never stored in it."""

from __future__ import annotations

import time
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Json


S = TypeVar("S")


class Spent(Exception):
    """The processor time for judging is used up."""


class Budget:
    """Processor time of the calling thread that is left for one kind of work on a file, in seconds."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._begun = 0.0

    def split(self) -> Budget:
        """Return half of what is left as another budget; ``join`` takes its rest back."""
        self.left /= 2
        return Budget(self.left)

    def join(self, other: Budget) -> None:
        """Add what is left of another budget."""
        self.left += max(0.0, other.left)

    def __enter__(self) -> None:
        self._begun = time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.left -= time.thread_time() - self._begun


class CheckpointQueue:
    """A thread-safe queue of the positions whose verdict may have changed."""

    def __init__(self) -> None:
        #: Positions, each with whether it is the last of the match.
        self._positions: SimpleQueue[tuple[int, bool]] = SimpleQueue()

    def add(self, position: int) -> None:
        """Add a position that is later than all before."""
        self._positions.put((position, False))

    def finish(self, last: int) -> None:
        """Close the queue; ``last`` is the last position of the match."""
        self._positions.put((last, True))

    def intervals(self) -> Iterator[tuple[int, Callable[[], int]]]:
        """Yield each interval between two such positions: its first position, and a function that waits for its last one."""
        first, is_over = self._positions.get()
        while not is_over:
            following = cache(self._positions.get)

            def end(following: Callable[[], tuple[int, bool]] = following) -> int:
                position, is_last = following()
                return position if is_last else position - 1

            yield first, end
            first, is_over = following()


def turning_points(
    checkpoints: CheckpointQueue, state_at: Callable[[int], S], verdict_of: Callable[[S], Mapping[str, Json]]
) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield (position, verdict) in order: at every checkpoint, and at positions between two checkpoints from which the verdict of the later one holds.

    ``state_at`` returns a position by its number, ``verdict_of`` its verdict (``Analysis.verdict``). Between two checkpoints the verdict
    changes at most once, so a binary search finds the position.
    """
    for first, end in checkpoints.intervals():
        verdict = dict(verdict_of(state_at(first)))
        if not verdict:
            continue
        yield first, verdict
        if point := _change_between(first, end(), verdict, state_at, verdict_of):
            yield point


def _change_between(
    first: int, last: int, verdict: Mapping[str, Json], state_at: Callable[[int], S], verdict_of: Callable[[S], Mapping[str, Json]]
) -> tuple[int, dict[str, Json]] | None:
    """Return the position from which another verdict than that of ``first`` holds, and that verdict; None if it is the same up to ``last``."""
    later = dict(verdict_of(state_at(last))) if last > first else {}
    if not later and last - 1 > first:
        # The match ended there for another reason, such as a fault, so that position has no verdict.
        last -= 1
        later = dict(verdict_of(state_at(last)))
    if not later or later["verdict"] == verdict["verdict"]:
        return None
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        middle_verdict = dict(verdict_of(state_at(middle)))
        if middle_verdict["verdict"] == verdict["verdict"]:
            low = middle
        else:
            high, later = middle, middle_verdict
    return high, later
