"""Sets of cells where the prey may be, carried forward and back in time while the hunter follows its trajectory.

An ``Arena`` is a rectangle of the board. A set is a big integer with one bit for each cell of the arena. Empty margins around the
rectangle make shifting a set a move of all its cells, without checks at the edges.

Times are counted in moves of the hunter from the given position; the first one is number 1.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

from referee.games.evasion.board.regions import line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from referee.games.evasion.board.walls import Walls

    Cell = tuple[int, int]
    #: A rectangle of cells: first x, first y, last x, last y.
    Box = tuple[int, int, int, int]
    #: A move of the hunter that threatens an arena: its number, and the set of cells that it captures, ``pattern << shift``.
    Threat = tuple[int, int, int]


#: The default budget of a question: about a second of work on a slow machine.
BUDGET = 700_000_000
#: The cost of finding one threat.
_THREAT_COST = 2_500


class BudgetSpent(Exception):
    """The budget of this question is used up."""


class Budget:
    """The budget of a question. The unit is about a nanosecond on a slow machine.

    Work is counted, never timed, so a question has the same answer on every machine and in every run.
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
    """Finds the cells that the hunter captures from a cell, as a small pattern of the cells around it."""

    def __init__(self, walls: Walls, radius: int, rows: list[int], budget: Budget, *, by_path: bool) -> None:
        #: The most steps of a capture's path (C2). A winding path can be longer than the width of the board.
        self._steps = min(radius, walls.width * walls.height)
        squares = radius * radius
        #: The reach of a capture along an axis, in cells; no more than the board.
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
        """Return the cells that the hunter captures from a cell: bits of a square of ``2 * radius + 1`` cells, the hunter in the middle."""
        span, mask = self._span, self._mask
        occupied = 0
        for row in reversed(self._rows[y : y + span]):
            occupied = occupied << span | row >> x & mask
        pattern = self._known.get(occupied)
        if pattern is None:
            self._spend(100 * span * span)
            pattern = self._known[occupied] = self._flooded(occupied) if self._by_path else self._seen(occupied)
        return pattern

    def _seen(self, occupied: int) -> int:
        """Capture C1: cells in sight, to which no wall crosses the line."""
        return sum(cell for cell, through in self._lines if not through & occupied)

    def _flooded(self, occupied: int) -> int:
        """Capture C2: cells that a path of at most ``radius`` unit steps reaches."""
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
    """Return, for each cell whose squared distance is at most ``squares``, its bit in a pattern and the bits of the line to it (C1)."""
    span = 2 * radius + 1
    lines = []
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if x * x + y * y <= squares:
                through = sum(1 << (v + radius) * span + u + radius for u, v in line((0, 0), (x, y)))
                lines.append((1 << (y + radius) * span + x + radius, through))
    return lines


class Arena:
    """A rectangle of the board with the cells where the prey may be.

    A set has ``layers`` copies of the rectangle, one above the other, for preys that must wait for different times before they move.
    ``free`` is the set of all cells where a prey may be, in one layer; ``everywhere`` the same in all layers. ``bits`` is the size of a set.
    """

    def __init__(self, box: Box, rows: list[int], sight: Sight, budget: Budget, layers: int = 1) -> None:
        self.box = box
        self.layers = layers
        self._left, self._bottom, right, top = box
        self.width, self.height = right - self._left + 1, top - self._bottom + 1
        self._margin = margin = 2 * sight.radius + 1
        # A multiple of 8, so that rows can be joined as bytes.
        self.stride = (self.width + margin + 7) // 8 * 8
        self._base = margin * self.stride + margin
        self._sight = sight
        self.budget = budget
        self._patterns: dict[int, int] = {}
        self.layer = (self.height + 2 * margin) * self.stride
        self.bits = self.layer * layers
        # Measured: the cost of a spread, and of a threat without one.
        self._spread_cost = 600 + self.layer // 8
        self.threat_cost = 1_200 + (self.bits // 16 if layers == 1 else self.bits // 4)
        budget.spend(100_000 + self.bits)
        width = (1 << self.width) - 1
        self.free = self.set_of([row >> self._left & width for row in rows[self._bottom : top + 1]])
        #: All bits of the lowest layer, and of all layers.
        self.lowest, self.everything = (1 << self.layer) - 1, (1 << self.bits) - 1
        self._copies = sum(1 << self.layer * layer for layer in range(layers))
        self.everywhere = self.free * self._copies

    def set_of(self, rows: list[int]) -> int:
        """Return the set with these rows of the rectangle."""
        size = self.stride // 8
        return int.from_bytes(b"".join([row.to_bytes(size, "little") for row in rows]), "little") << self._base

    def rows_of(self, cells: int) -> list[int]:
        """Return the rows of the rectangle in a set of one layer."""
        size = self.stride // 8
        data = (cells >> self._base).to_bytes(size * (self.height + self._margin), "little")
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, size * self.height, size)]

    def bit(self, x: int, y: int) -> int:
        """Return the number of a cell's bit, in the lowest layer."""
        return (y - self._bottom) * self.stride + x - self._left + self._base

    def cell(self, bit: int) -> Cell:
        """Return the cell of a bit in any layer."""
        y, x = divmod(bit % self.layer - self._base, self.stride)
        return x + self._left, y + self._bottom

    def threats(self, moves: Iterable[tuple[int, int, int]]) -> Iterator[Threat]:
        """Yield the threats of the hunter's moves (number, x, y). Raises BudgetSpent."""
        radius, patterns, budget = self._sight.radius, self._patterns, self.budget
        corner = self.bit(-radius, -radius)
        for move, x, y in moves:
            budget.left -= _THREAT_COST
            if budget.left < 0:
                raise BudgetSpent
            pattern = self._sight.pattern(x, y)
            wide = patterns.get(pattern)
            if wide is None:
                wide = patterns[pattern] = self._widened(pattern)
            yield move, wide, y * self.stride + x + corner

    def captured_from(self, x: int, y: int) -> int:
        """Return the set of cells that the hunter captures from a cell."""
        left, bottom, right, top = self.reach
        if not (left <= x <= right and bottom <= y <= top):
            return 0
        ((_, pattern, shift),) = self.threats([(0, x, y)])
        return pattern << shift

    @property
    def reach(self) -> Box:
        """The cells from which the hunter can threaten the arena."""
        left, bottom, right, top = self.box
        radius = self._sight.radius
        return left - radius, bottom - radius, right + radius, top + radius

    def _widened(self, pattern: int) -> int:
        """Return a pattern with its rows as far apart as the arena's, in every layer."""
        span = 2 * self._sight.radius + 1
        mask = (1 << span) - 1
        return sum((pattern >> row * span & mask) << row * self.stride for row in range(span)) * self._copies

    def spread(self, cells: int) -> int:
        """Return a set of one layer together with all free cells next to it, in all eight directions."""
        self.budget.left -= self._spread_cost
        cells |= cells << 1 | cells >> 1
        return (cells | cells << self.stride | cells >> self.stride) & self.free


class Steps:
    """How sets change in ``classic`` and ``diagonal``: in each step the hunter moves, then perhaps the prey, and capture is tested.

    ``step`` is the number of steps before the first move.
    """

    #: The number of layers; see ``Turns``.
    layers = 1
    #: The number of turns for which the position's prey must wait before it moves.
    timer = 0

    def __init__(self, step: int, period: int) -> None:
        self._step, self._period = step, period

    def cycle(self, moves: int) -> int:
        """Return the period of a loop of the hunter together with the prey's turns, in moves of the hunter."""
        return lcm(moves, self._period)

    def steps(self, move: int) -> int:
        """Return the number of steps when the capture of a move is tested."""
        return move

    #: The number of steps when the prey has had its turn after a move.
    settled = steps

    def hunter_moves(self, prey_moves: int) -> int:
        """Return the last move of the hunter until which the prey has made at most this number of moves."""
        return (prey_moves + 1 + self._step // self._period) * self._period - 1 - self._step

    def start(self, arena: Arena, x: int, y: int) -> int:
        """Return the set that holds only the prey."""
        return 1 << arena.bit(x, y) + arena.layer * self.timer

    def begun(self, arena: Arena, cells: int, captured: int) -> int:
        """Return the set when the hunter's first move begins; ``captured`` are the cells that it captures from where it is."""
        return cells

    def before(self, arena: Arena, cells: int, captured: int) -> int:
        """Return the set from which ``begun`` leads into ``cells``."""
        return cells

    def rest(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """Return the set after some moves of the hunter that threaten nothing."""
        for _ in range((self._step + until) // self._period - (self._step + after) // self._period):
            more = arena.spread(cells)
            if more == cells:
                break
            cells = more
        return cells

    #: The set from which ``rest`` leads into a set: every move can be taken back by another.
    rest_back = rest

    def forward(self, arena: Arena, cells: int, after: int, threat: Threat) -> int:
        """Return the set after a threat, from the set after an earlier move."""
        move, pattern, shift = threat
        captured = pattern << shift
        return (self.rest(arena, cells, after, move) | captured) ^ captured

    def backward(self, arena: Arena, cells: int, after: int, threat: Threat) -> int:
        """Return the set after an earlier move from which ``forward`` leads into ``cells``."""
        move, pattern, shift = threat
        captured = pattern << shift
        return self.rest(arena, (cells | captured) ^ captured, after, move)

    def waited(self, arena: Arena, bit: int, after: int, until: int) -> int:
        """Return the bit of a prey that stays on its cell during some moves of the hunter."""
        layer, place = divmod(bit, arena.layer)
        return place + arena.layer * max(0, layer - (until - after))

    def now(self, arena: Arena, cells: int) -> int:
        """Return the cells of a set in the layer of the position's prey."""
        return cells >> arena.layer * self.timer & arena.lowest


class Turns(Steps):
    """How sets change in ``gameserver``: the hunter moves, capture is tested, the prey has its turn, capture is tested again.

    Layer 0 holds the prey that may move in its next turn, layer ``n`` the prey that waits ``n`` turns.
    """

    def __init__(self, cooldown: int, timer: int, *, prey_first: bool) -> None:
        self.layers = max(cooldown, timer) + 1
        self.timer = timer
        self._cooldown, self._prey_first = cooldown, prey_first

    def cycle(self, moves: int) -> int:
        """Return the period of a loop of the hunter."""
        return moves

    def steps(self, move: int) -> int:
        """Return the number of turns when a move's first capture is tested. The second one captures no prey that can pass."""
        return 2 * move - 1 + self._prey_first

    def settled(self, move: int) -> int:
        """Return the number of turns when the prey has had its turn after a move."""
        return 2 * move + self._prey_first

    def hunter_moves(self, prey_moves: int) -> int:
        """Return the last move of the hunter until which the prey has made at most this number of moves."""
        return max(0, (prey_moves - 1) * (self._cooldown + 1))

    def begun(self, arena: Arena, cells: int, captured: int) -> int:
        """Return the set when the hunter's first move begins, perhaps after a turn of the prey."""
        return self._turn(arena, cells) & ~captured if self._prey_first else cells

    def before(self, arena: Arena, cells: int, captured: int) -> int:
        """Return the set from which ``begun`` leads into ``cells``."""
        return self._turn_back(arena, cells & ~captured) if self._prey_first else cells

    def _turn(self, arena: Arena, cells: int) -> int:
        """Return the set after the prey's turn: it passes, or moves and then waits; a prey that waits has one turn less to wait."""
        ready = cells & arena.lowest
        return cells >> arena.layer | arena.spread(ready) << arena.layer * self._cooldown | ready

    def _turn_back(self, arena: Arena, cells: int) -> int:
        ready = cells & arena.lowest | arena.spread(cells >> arena.layer * self._cooldown & arena.lowest)
        return cells << arena.layer & arena.everything | ready

    def rest(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """Return the set after some moves of the hunter that threaten nothing."""
        return _repeated(self._turn, arena, cells, until - after)

    def rest_back(self, arena: Arena, cells: int, after: int, until: int) -> int:
        """Return the set from which ``rest`` leads into ``cells``."""
        return _repeated(self._turn_back, arena, cells, until - after)

    def forward(self, arena: Arena, cells: int, after: int, threat: Threat) -> int:
        """Return the set after a threat, from the set after an earlier move."""
        move, pattern, shift = threat
        safe = ~(pattern << shift)
        return self._turn(arena, self.rest(arena, cells, after, move - 1) & safe) & safe

    def backward(self, arena: Arena, cells: int, after: int, threat: Threat) -> int:
        """Return the set after an earlier move from which ``forward`` leads into ``cells``."""
        move, pattern, shift = threat
        safe = ~(pattern << shift)
        return self.rest_back(arena, self._turn_back(arena, cells & safe) & safe, after, move - 1)


def _repeated(turn: Callable[[Arena, int], int], arena: Arena, cells: int, times: int) -> int:
    for _ in range(times):
        more = turn(arena, cells)
        if more == cells:
            break
        cells = more
    return cells
