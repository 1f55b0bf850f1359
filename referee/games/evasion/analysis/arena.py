"""Sets of cells where the prey may be, carried forward and back in time while the hunter flies its way.

An ``Arena`` is a rectangle of the board; a set is a big integer with a bit for each of its cells, and with a margin in which
nothing stands, so that shifting a set moves it without a check at the edges.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from math import lcm

from referee.games.evasion.board.regions import line
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.games.evasion.board.walls import Walls

    Cell = tuple[int, int]
    Box = tuple[int, int, int, int]
    #: A move of the hunter that threatens an arena: its number, and the set of cells that it captures: ``pattern << shift``.
    Visit = tuple[int, int, int]


#: What an answer may cost unless it is said otherwise: about a second of a slow machine.
BUDGET = 700_000_000
#: What finding one visit costs in a budget.
_VISIT_COST = 2_500


class BudgetSpent(Exception):
    """The budget of this question is used up."""


class Budget:
    """The budget of a question. The unit is about a nanosecond on a slow machine, but work is counted, never timed.

    So the same question has the same answer on every machine and in every run.
    """

    __slots__ = ("left", "whole")

    def __init__(self, whole: int) -> None:
        self.whole = self.left = whole

    def spend(self, cost: int) -> None:
        """Charge work to the budget. Raises BudgetSpent if nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise BudgetSpent

    @property
    def spent(self) -> int:
        """The work charged so far."""
        return min(self.whole, self.whole - self.left)


class Sight:
    """Which cells the hunter captures from a place, as small patterns of the cells round it."""

    def __init__(self, walls: Walls, radius: int, rows: list[int], budget: Budget, *, by_path: bool) -> None:
        #: The path of a capture (C2) may wind and so be longer than the board, but it leads nowhere else.
        self._steps = min(radius, walls.width * walls.height)
        squares = radius * radius
        #: How far a capture reaches along an axis: no farther than the board.
        self.radius = radius = min(radius, max(walls.width, walls.height))
        self._span = 2 * radius + 1
        self._by_path = by_path
        self._spend = spend = budget.spend
        outside = (1 << walls.width + 2 * radius) - 1
        edges = outside ^ ((1 << walls.width) - 1 << radius)
        # Each row's occupied cells, those off the board included, from column -radius on.
        self._rows = [outside] * radius + [row << radius | edges for row in rows] + [outside] * radius
        self._mask = (1 << self._span) - 1
        self._known: dict[int, int] = {}
        self._lines: list[tuple[int, int]] = []
        if not by_path:
            spend(100 * self._span**3)
            self._lines = _lines(radius, squares)

    def pattern(self, x: int, y: int) -> int:
        """The cells that the hunter captures from a cell, as bits of a square of ``2 * radius + 1`` cells with the hunter's in the middle."""
        span, mask = self._span, self._mask
        occupied = 0
        for row in reversed(self._rows[y : y + span]):
            occupied = occupied << span | row >> x & mask
        found = self._known.get(occupied)
        if found is None:
            self._spend(100 * span * span)
            found = self._known[occupied] = self._flooded(occupied) if self._by_path else self._seen(occupied)
        return found

    def _seen(self, occupied: int) -> int:
        """Capture C1: the lines that no wall crosses."""
        return sum(cell for cell, through in self._lines if not through & occupied)

    def _flooded(self, occupied: int) -> int:
        """Capture C2: what a path of at most ``radius`` unit steps reaches."""
        span, radius = self._span, self.radius
        free = ((1 << span * span) - 1) & ~occupied
        left = sum(1 << row * span for row in range(span))
        not_left, not_right = free & ~left, free & ~(left << span - 1)
        cells = 1 << radius * span + radius
        for _ in range(self._steps):
            more = cells | cells << 1 & not_left | cells >> 1 & not_right | (cells << span | cells >> span) & free
            if more == cells:
                break
            cells = more
        return cells


def _lines(radius: int, squares: int) -> list[tuple[int, int]]:
    """For each cell that is near enough, by the square of its distance: its bit in the pattern, and the bits of the line to it. Source: C1."""
    span = 2 * radius + 1
    found = []
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if x * x + y * y <= squares:
                through = sum(1 << (v + radius) * span + u + radius for u, v in line((0, 0), (x, y)))
                found.append((1 << (y + radius) * span + x + radius, through))
    return found


class Arena:
    """A rectangle of the board as the prey's ground: ``free`` is the set of the cells where it may be, ``bits`` the size of a set.

    ``layers`` copies of the rectangle, one above the other, tell preys apart that must wait for different times before they move.
    """

    def __init__(self, box: Box, rows: list[int], sight: Sight, budget: Budget, layers: int = 1) -> None:
        self.box = box
        self.layers = layers
        self._left, self._bottom, right, top = box
        self.width, self.height = right - self._left + 1, top - self._bottom + 1
        self._margin = margin = 2 * sight.radius + 1
        # Whole bytes, so that rows can be put together as bytes.
        self.stride = (self.width + margin + 7) // 8 * 8
        self._base = margin * self.stride + margin
        self._sight = sight
        self.budget = budget
        self._patterns: dict[int, int] = {}
        self.layer = (self.height + 2 * margin) * self.stride
        self.bits = self.layer * layers
        # Measured: what a spread, and a visit without one, cost in a budget.
        self._spread_cost = 600 + self.layer // 8
        self.visit_cost = 1_200 + (self.bits // 16 if layers == 1 else self.bits // 4)
        budget.spend(100_000 + self.bits)
        width = (1 << self.width) - 1
        self.free = self.set_of([row >> self._left & width for row in rows[self._bottom : top + 1]])
        #: The places of one layer, and of all.
        self.lowest, self.everything = (1 << self.layer) - 1, (1 << self.bits) - 1
        self._copies = sum(1 << self.layer * layer for layer in range(layers))

    def set_of(self, rows: list[int]) -> int:
        """The set with these rows of the rectangle."""
        size = self.stride // 8
        return int.from_bytes(b"".join([row.to_bytes(size, "little") for row in rows]), "little") << self._base

    def rows_of(self, cells: int) -> list[int]:
        """The rows of the rectangle that a set of one layer holds."""
        size = self.stride // 8
        data = (cells >> self._base).to_bytes(size * (self.height + self._margin), "little")
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, size * self.height, size)]

    def bit(self, x: int, y: int) -> int:
        """The place of a cell in a set."""
        return (y - self._bottom) * self.stride + x - self._left + self._base

    def cell(self, bit: int) -> Cell:
        """The cell at a place of a set, whatever its layer."""
        y, x = divmod(bit % self.layer - self._base, self.stride)
        return x + self._left, y + self._bottom

    def visits(self, moves: Iterable[tuple[int, int, int]]) -> Iterator[Visit]:
        """What the hunter's moves (number, x, y) threaten here. BudgetSpent if there are too many."""
        radius, known, budget = self._sight.radius, self._patterns, self.budget
        corner = self.bit(-radius, -radius)
        for beat, x, y in moves:
            budget.left -= _VISIT_COST
            if budget.left < 0:
                raise BudgetSpent
            pattern = self._sight.pattern(x, y)
            wide = known.get(pattern)
            if wide is None:
                wide = known[pattern] = self._widened(pattern)
            yield beat, wide, y * self.stride + x + corner

    def threat(self, x: int, y: int) -> int:
        """The set of cells that the hunter captures from a cell."""
        left, bottom, right, top = self.reach
        if not (left <= x <= right and bottom <= y <= top):
            return 0
        ((_, pattern, shift),) = self.visits([(0, x, y)])
        return pattern << shift

    @property
    def reach(self) -> Box:
        """The cells from which the hunter can threaten the arena."""
        left, bottom, right, top = self.box
        radius = self._sight.radius
        return left - radius, bottom - radius, right + radius, top + radius

    def _widened(self, pattern: int) -> int:
        """A pattern with the rows as far apart as the arena's, in every layer."""
        span = 2 * self._sight.radius + 1
        mask = (1 << span) - 1
        return sum((pattern >> row * span & mask) << row * self.stride for row in range(span)) * self._copies

    def spread(self, cells: int) -> int:
        """A set of one layer and all free cells beside it, in all eight directions."""
        self.budget.left -= self._spread_cost
        cells |= cells << 1 | cells >> 1
        return (cells | cells << self.stride | cells >> self.stride) & self.free


class Steps:
    """How sets change in ``classic`` and ``diagonal``: in each step the hunter moves, then perhaps the prey, and capture is tested.

    A beat is a move of the hunter; ``step`` is the number of steps before the first.
    """

    layers = 1

    def __init__(self, step: int, period: int) -> None:
        self._step, self._period = step, period

    def cycle(self, beats: int) -> int:
        """After how many beats a loop of the hunter meets the same steps of the prey again."""
        return lcm(beats, self._period)

    def steps(self, beat: int) -> int:
        """How many steps have been made when a beat's capture is tested."""
        return beat

    #: How many steps have been made when the prey has moved in a beat.
    settled = steps

    def moves(self, beat: int) -> int:
        """How often the prey moves up to a beat."""
        return (self._step + beat) // self._period - self._step // self._period

    def beats(self, moves: int) -> int:
        """The last beat up to which the prey moves no more often than that."""
        return (moves + 1 + self._step // self._period) * self._period - 1 - self._step

    def start(self, arena: Arena, x: int, y: int) -> int:
        """The set that holds the prey alone."""
        return 1 << arena.bit(x, y)

    def begun(self, arena: Arena, cells: int, first: int) -> int:
        """The set at the first beat."""
        return cells

    def before(self, arena: Arena, cells: int, first: int) -> int:
        """Where the prey must be now to be in a set at the first beat."""
        return cells

    def anywhere(self, arena: Arena) -> int:
        """The set of all places where a prey could be."""
        return arena.free

    def rest(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """The set after some beats in which nothing is threatened."""
        for _ in range((self._step + until) // self._period - (self._step + after) // self._period):
            more = arena.spread(cells)
            if more == cells:
                break
            cells = more
        return cells

    #: A move can be taken back by another.
    rest_back = rest

    def forward(self, arena: Arena, cells: int, after: int, visit: Visit) -> int:
        """Where the prey can be after a visit, having been in ``cells`` after an earlier beat."""
        beat, pattern, shift = visit
        cells = self.rest(arena, cells, after, beat)
        threat = pattern << shift
        return (cells | threat) ^ threat

    def backward(self, arena: Arena, cells: int, after: int, visit: Visit) -> int:
        """Where the prey must be after a beat to be in ``cells`` after a visit."""
        beat, pattern, shift = visit
        threat = pattern << shift
        return self.rest(arena, (cells | threat) ^ threat, after, beat)

    def waited(self, arena: Arena, bit: int, after: int, until: int) -> int:
        """The place in a set of a prey that stays where it is for some beats."""
        return bit

    def now(self, arena: Arena, cells: int) -> int:
        """The cells of a set where a prey may be that can move as soon as this position's."""
        return cells


class Turns:
    """How sets change in ``gameserver``: the hunter moves, capture is tested, the prey has its turn, capture is tested again.

    A beat is a move of the hunter. Layer 0 holds the prey that may move in its next turn, layer ``n`` the one that waits ``n`` turns.
    """

    def __init__(self, cooldown: int, timer: int, *, prey_first: bool) -> None:
        self.layers = max(cooldown, timer) + 1
        self._cooldown, self._timer, self._prey_first = cooldown, timer, prey_first

    def cycle(self, beats: int) -> int:
        """After how many beats a loop of the hunter comes again."""
        return beats

    def steps(self, beat: int) -> int:
        """How many turns have been made when a beat's first capture is tested; the second takes nobody who can pass."""
        return 2 * beat - 1 + self._prey_first

    def settled(self, beat: int) -> int:
        """How many turns have been made when the prey has had its turn in a beat."""
        return 2 * beat + self._prey_first

    def moves(self, beat: int) -> int:
        """How often the prey moves up to a beat, at most."""
        return -(-beat // (self._cooldown + 1)) + 1

    def beats(self, moves: int) -> int:
        """The last beat up to which the prey moves no more often than that."""
        return max(0, (moves - 1) * (self._cooldown + 1))

    def start(self, arena: Arena, x: int, y: int) -> int:
        """The set that holds the prey alone, waiting as it does."""
        return 1 << arena.bit(x, y) + arena.layer * self._timer

    def begun(self, arena: Arena, cells: int, first: int) -> int:
        """The set at the first beat: the prey's turn may come before; ``first`` is what the hunter captures from where it is."""
        return self._turn(arena, cells) & ~first if self._prey_first else cells

    def before(self, arena: Arena, cells: int, first: int) -> int:
        """Where the prey must be now to be in a set at the first beat."""
        return self._turn_back(arena, cells & ~first) if self._prey_first else cells

    def anywhere(self, arena: Arena) -> int:
        """The set of all places where a prey could be."""
        return arena.free * sum(1 << arena.layer * layer for layer in range(self.layers))

    def _turn(self, arena: Arena, cells: int) -> int:
        """The prey's turn: it passes, or moves and then waits; who waits waits one turn less."""
        ready = cells & arena.lowest
        moved = arena.spread(ready) << arena.layer * self._cooldown
        return cells >> arena.layer | moved | ready

    def _turn_back(self, arena: Arena, cells: int) -> int:
        ready = cells & arena.lowest | arena.spread(cells >> arena.layer * self._cooldown & arena.lowest)
        return cells << arena.layer & arena.everything | ready

    def rest(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """The set after some beats in which nothing is threatened."""
        for _ in range(until - after):
            more = self._turn(arena, cells)
            if more == cells:
                break
            cells = more
        return cells

    def rest_back(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """Where the prey must be to be in ``cells`` after some beats in which nothing is threatened."""
        for _ in range(until - after):
            more = self._turn_back(arena, cells)
            if more == cells:
                break
            cells = more
        return cells

    def forward(self, arena: Arena, cells: int, after: int, visit: Visit) -> int:
        """Where the prey can be after a visit, having been in ``cells`` after an earlier beat."""
        beat, pattern, shift = visit
        safe = ~(pattern << shift)
        return self._turn(arena, self.rest(arena, cells, after, beat - 1) & safe) & safe

    def backward(self, arena: Arena, cells: int, after: int, visit: Visit) -> int:
        """Where the prey must be after a beat to be in ``cells`` after a visit."""
        beat, pattern, shift = visit
        safe = ~(pattern << shift)
        return self.rest_back(arena, self._turn_back(arena, cells & safe) & safe, after, beat - 1)

    def waited(self, arena: Arena, bit: int, after: int, until: int) -> int:
        """The place in a set of a prey that stays where it is for some beats."""
        layer, place = divmod(bit, arena.layer)
        return place + arena.layer * max(0, layer - (until - after))

    def now(self, arena: Arena, cells: int) -> int:
        """The cells of a set where a prey may be that can move as soon as this position's."""
        return cells >> arena.layer * self._timer & arena.lowest
