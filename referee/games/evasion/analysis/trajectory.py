"""The hunter's trajectory while the walls don't change: straight runs between bounces, and finally a loop."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion.board.cells import Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.evasion.analysis.arena import Box, Budget
    from referee.games.evasion.board.bounce import Motion
    from referee.games.evasion.board.walls import Walls

    Bounce = Callable[[Walls, int, int, int, int], Motion]

#: The cost of finding one run.
_RUN_COST = 6_000
_start = attrgetter("start")


class Run(NamedTuple):
    """A straight part of the trajectory: after ``start`` moves the hunter is at (x, y) and moves ``length`` cells in its direction.

    Its next move is a bounce, which leads to the cell where the next run starts.
    """

    start: int
    x: int
    y: int
    dx: int
    dy: int
    length: int


class Trajectory:
    """The hunter's trajectory from a cell and direction, computed only as far as needed.

    ``close`` sets ``tail`` and ``cycle``: the cell and direction after ``tail`` moves repeat every ``cycle`` moves. A hunter that gets
    shut in (``gameserver``) has no loop: then ``ends`` is the number of moves that it can make.
    """

    def __init__(self, walls: Walls, bounce: Bounce, start: Motion, budget: Budget, *, stops: bool) -> None:
        self.runs: list[Run] = []
        self.tail = self.cycle = 0
        self.ends: int | None = None
        self.is_closed = False
        self._walls, self._bounce, self._budget = walls, bounce, budget
        self._stops = stops
        self._next: Motion = start
        self._seen: dict[Motion, int] = {}
        cells = Cells(walls)
        self._wide, self._occupied = cells.wide, cells.bytes

    def _grow(self) -> None:
        """Find one more run, or the end or the loop of the trajectory."""
        self._budget.spend(_RUN_COST)
        earlier = self._seen.get(self._next)
        start = self.runs[-1].start + self.runs[-1].length + 1 if self.runs else 0
        if earlier is not None:
            self.tail = self.runs[earlier].start
            self.cycle = start - self.tail
            self.is_closed = True
            return
        self._seen[self._next] = len(self.runs)
        x, y, dx, dy = self._next
        by = dy * self._wide + dx
        ahead = self._occupied[(y + 1) * self._wide + x + 1 + by :: by]
        # The number of free cells before the first occupied one.
        length = len(ahead) - len(ahead.lstrip(b"\0"))
        self.runs.append(Run(start, x, y, dx, dy, length))
        end = x + dx * length, y + dy * length
        self._next = self._bounce(self._walls, *end, dx, dy)
        if self._stops and self._next[:2] == end:
            self.ends = start + length
            self.is_closed = True

    def close(self) -> None:
        """Compute the whole trajectory, until it ends or repeats."""
        while not self.is_closed:
            self._grow()

    def moves_in(self, box: Box, after: int, until: int) -> Iterator[tuple[int, int, int]]:
        """Yield the moves after number ``after`` and up to ``until`` that end in a box, as (number, x, y)."""
        left, bottom, right, top = box
        for shift, (start, x, y, dx, dy, length) in self._runs(after, until):
            # The part of the run that is in the box, by x and by y, and in the given time.
            first_x, last_x = (left - x, right - x) if dx > 0 else (x - right, x - left)
            first_y, last_y = (bottom - y, top - y) if dy > 0 else (y - top, y - bottom)
            first = max(first_x, first_y, 0, after + 1 - start - shift)
            last = min(last_x, last_y, length, until - start - shift)
            for along in range(first, last + 1):
                yield start + shift + along, x + dx * along, y + dy * along

    def _runs(self, after: int, until: int) -> Iterator[tuple[int, Run]]:
        """Yield the runs of a time, each with the number of moves to add to its start: the loop is repeated."""
        shift = 0
        if self.cycle and after >= self.tail + self.cycle:
            shift = (after - self.tail) // self.cycle * self.cycle
        index = self._index(after - shift)
        while True:
            while index >= len(self.runs) and not self.is_closed:
                self._grow()
            if index >= len(self.runs):
                if self.ends is not None:
                    return
                shift += self.cycle
                index = self._index(self.tail)
            run = self.runs[index]
            if run.start + shift > until:
                return
            yield shift, run
            index += 1

    def _index(self, move: int) -> int:
        """Return the index of the last known run that starts at or before a move."""
        return max(0, bisect_right(self.runs, move, key=_start) - 1)
