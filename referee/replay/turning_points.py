"""The turning points of a match: the positions from which a different verdict holds. Computed from a replay, never stored in it."""

from __future__ import annotations

from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Json


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
    checkpoints: CheckpointQueue, state_at: Callable[[int], Any], verdict_of: Callable[[Any], Mapping[str, Json]]
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
        last = end()
        later = dict(verdict_of(state_at(last))) if last > first else {}
        if not later and last - 1 > first:
            # The match ended there for another reason, such as a fault, so that position has no verdict.
            last -= 1
            later = dict(verdict_of(state_at(last)))
        if not later or later["verdict"] == verdict["verdict"]:
            continue
        low, high = first, last
        while high - low > 1:
            middle = (low + high) // 2
            found = dict(verdict_of(state_at(middle)))
            if found["verdict"] == verdict["verdict"]:
                low = middle
            else:
                high, later = middle, found
        yield high, later
