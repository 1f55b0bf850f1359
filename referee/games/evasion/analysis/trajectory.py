"""The way that the hunter flies while the walls stand as they are: straight runs between bounces, and in the end a loop."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from referee.games.evasion.board.cells import Cells
from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.evasion.analysis.arena import Box, Budget
    from referee.games.evasion.board.bounce import Motion
    from referee.games.evasion.board.walls import Walls

    Bounce = Callable[[Walls, int, int, int, int], Motion]

#: What finding one run costs, in the units of a budget (see ``verdict``).
_RUN_COST = 6_000
_start = attrgetter("start")


class Run(NamedTuple):
    """A straight piece of the way: after ``start`` moves the hunter is at (x, y), and flies ``length`` cells on in its heading.

    With the move after these it bounces, which leads to the place where the next run starts.
    """

    start: int
    x: int
    y: int
    dx: int
    dy: int
    length: int


class Way:
    """The hunter's way from a place and heading, found as far as it is asked for.

    ``tail`` and ``cycle`` are known once ``close`` has been called: the place and heading after ``tail`` moves come again after
    ``cycle`` more. A hunter that is shut in (``gameserver``) has no loop: ``ends`` is the number of moves that it can make.
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
        """Find one more run, or that the way is closed."""
        self._budget.spend(_RUN_COST)
        known = self._seen.get(self._next)
        last = self.runs[-1] if self.runs else None
        start = last.start + last.length + 1 if last else 0
        if known is not None:
            self.tail = self.runs[known].start
            self.cycle = start - self.tail
            self.is_closed = True
            return
        self._seen[self._next] = len(self.runs)
        x, y, dx, dy = self._next
        by = dy * self._wide + dx
        ahead = self._occupied[(y + 1) * self._wide + x + 1 + by :: by]
        length = len(ahead) - len(ahead.lstrip(b"\0"))
        self.runs.append(Run(start, x, y, dx, dy, length))
        end = x + dx * length, y + dy * length
        self._next = self._bounce(self._walls, *end, dx, dy)
        if self._stops and self._next[:2] == end:
            self.ends = start + length
            self.is_closed = True

    def close(self) -> None:
        """Follow the way until it repeats."""
        while not self.is_closed:
            self._grow()

    def visits(self, box: Box, after: int, until: int) -> Iterator[tuple[int, int, int]]:
        """The moves after number ``after`` and up to ``until`` that end in a box of cells (first and last x and y): number, x, y."""
        left, bottom, right, top = box
        for shift, run in self._runs(after, until):
            start, x, y, dx, dy, length = run
            start += shift
            # How many cells into the run the hunter is in the box, by x and by y, and in the time that was asked for.
            first_x, last_x = (left - x, right - x) if dx > 0 else (x - right, x - left)
            first_y, last_y = (bottom - y, top - y) if dy > 0 else (y - top, y - bottom)
            first = max(first_x, first_y, 0, after + 1 - start)
            last = min(last_x, last_y, length, until - start)
            for along in range(first, last + 1):
                yield start + along, x + dx * along, y + dy * along

    def _runs(self, after: int, until: int) -> Iterator[tuple[int, Run]]:
        """The runs that touch a time, each with what is to be added to its start: the loop is gone through again and again."""
        shift = index = 0
        if self.is_closed and self.ends is None and after >= self.tail + self.cycle:
            shift = (after - self.tail) // self.cycle * self.cycle
            index = self._seen_at(self.tail)
        # Skip what lies before; runs are sorted by their start.
        index = max(index, self._seen_at(after - shift))
        while True:
            while index >= len(self.runs) and not self.is_closed:
                self._grow()
            if index >= len(self.runs):
                if self.ends is not None:
                    return
                shift += self.cycle
                index = self._seen_at(self.tail)
            run = self.runs[index]
            if run.start + shift > until:
                return
            yield shift, run
            index += 1

    def _seen_at(self, beat: int) -> int:
        """The index of the last known run that starts at or before a beat."""
        return max(0, bisect_right(self.runs, beat, key=_start) - 1)
