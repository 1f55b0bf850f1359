"""The turning points of a match: the positions from which a different verdict holds. Computed from a replay, never stored in it."""

from __future__ import annotations

import threading
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Json


class CheckpointQueue:
    """A thread-safe queue of the positions whose verdict may have changed."""

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._last: int | None = None
        self._changed = threading.Condition()

    def add(self, position: int) -> None:
        """Add a position that is later than all before."""
        with self._changed:
            self._positions.append(position)
            self._changed.notify_all()

    def finish(self, last: int) -> None:
        """Close the queue; ``last`` is the last position of the match."""
        with self._changed:
            self._last = last
            self._changed.notify_all()

    def intervals(self) -> Iterator[tuple[int, Callable[[], int]]]:
        """Yield each stretch between two such positions: its first position, and a function that waits for its last one."""
        for index in count():
            if not self._wait_for(index):
                return
            yield self._positions[index], partial(self._end_before, index + 1)

    def _wait_for(self, index: int) -> bool:
        """Wait for the queue's entry of this index; False if the queue ends before it."""
        with self._changed:
            self._changed.wait_for(lambda: index < len(self._positions) or self._last is not None)
            return index < len(self._positions)

    def _end_before(self, index: int) -> int:
        if self._wait_for(index):
            return self._positions[index] - 1
        assert self._last is not None
        return self._last


def turning_points(
    checkpoints: CheckpointQueue, state_at: Callable[[int], Any], verdict_of: Callable[[Any], Mapping[str, Json]]
) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield (position, verdict) in order: at every mark, and where the verdict came true between two marks.

    ``state_at`` returns a position by its number, ``verdict_of`` its verdict (``Analysis.verdict``). Between two marks the verdict
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
