"""The turning points of a match: from which position on something else was certain. Worked out from a replay, never stored in it."""

from __future__ import annotations

import threading
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Json


class Marks:
    """The positions at which a game has to be judged anew, as they come in; who judges waits for them."""

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._last: int | None = None
        self._changed = threading.Condition()

    def add(self, position: int) -> None:
        """One more, later than all before."""
        with self._changed:
            self._positions.append(position)
            self._changed.notify_all()

    def finish(self, last: int) -> None:
        """There are no more; ``last`` is the last position of all."""
        with self._changed:
            self._last = last
            self._changed.notify_all()

    def spans(self) -> Iterator[tuple[int, Callable[[], int]]]:
        """For each stretch without such positions its first one, and what waits for its last one."""
        for index in count():
            if not self._wait_for(index):
                return
            yield self._positions[index], partial(self._end_before, index + 1)

    def _wait_for(self, index: int) -> bool:
        """Wait for the position of that number; False if there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: index < len(self._positions) or self._last is not None)
            return index < len(self._positions)

    def _end_before(self, index: int) -> int:
        if self._wait_for(index):
            return self._positions[index] - 1
        assert self._last is not None
        return self._last


def turning_points(
    marks: Marks, state_at: Callable[[int], Any], certainty: Callable[[Any], Mapping[str, Json]]
) -> Iterator[tuple[int, dict[str, Json]]]:
    """What is certain, and from which position on, in order: at every mark, and where it came true between two.

    ``state_at`` gives a position by its number, ``certainty`` what is certain of it (``Game.certainty``). Between two marks that changes
    once at most, so it is looked for by halving.
    """
    for first, end in marks.spans():
        certain = dict(certainty(state_at(first)))
        if not certain:
            continue
        yield first, certain
        last = end()
        later = dict(certainty(state_at(last))) if last > first else {}
        if not later and last - 1 > first:
            # The game has ended there by something that is no part of this.
            last -= 1
            later = dict(certainty(state_at(last)))
        if not later or later["verdict"] == certain["verdict"]:
            continue
        low, high = first, last
        while high - low > 1:
            middle = (low + high) // 2
            found = dict(certainty(state_at(middle)))
            if found["verdict"] == certain["verdict"]:
                low = middle
            else:
                high, later = middle, found
        yield high, later
