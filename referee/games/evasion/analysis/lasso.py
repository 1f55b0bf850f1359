"""The witness of an evasion: a way for the prey that leads into a loop and is never threatened.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from math import isqrt

from referee.games.evasion.analysis.arena import BUDGET, Budget
from referee.games.evasion.analysis.pursuit import Pursuit
from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.evasion.analysis.arena import Arena, Cell, Visit
    from referee.games.evasion.state import State

#: Sets of this many bits in all are kept at once.
_MOST_BITS = 400_000_000
#: What making the way may cost beside the search, in budgets.
_WALK = 20


class Lasso(NamedTuple):
    """How the prey evades for ever: it stands on ``start``, and after so many more steps on other cells, as ``moves`` says: step, x, y.

    After ``tail`` steps the moves of the next ``cycle`` steps come again and again. ``cycle`` 0: the game ends there, the hunter shut in.
    """

    start: Cell
    tail: int
    cycle: int
    moves: tuple[tuple[int, int, int], ...]

    def cells(self) -> Iterator[Cell]:
        """Yield the prey's cell now, after one step, after two and so on, without end."""
        at, step, index = self.start, 0, 0
        loop = [move for move in self.moves if move[0] > self.tail]
        moves, shift = list(self.moves), 0
        while True:
            while index < len(moves) and moves[index][0] + shift <= step:
                at = moves[index][1:]
                index += 1
            yield at
            step += 1
            if self.cycle and step > self.tail + shift + self.cycle:
                moves, shift, index = loop, shift + self.cycle, 0


def lasso(state: State, budget: int = BUDGET) -> Lasso | None:
    """A way on which the prey evades for ever; None if it is caught. BudgetSpent if that can't be told within the budget.

    Making the way may cost many times what the verdict does.
    """
    if state.ended:
        return None
    purse = Budget(budget)
    pursuit = Pursuit(state, purse)
    start = state.prey[:2]
    if pursuit.is_separated:
        pursuit.way.close()
        return _standing(pursuit, start)
    found = pursuit.search()
    # Making the witness gets its own share of work, beyond the verdict.
    purse.left += _WALK * budget
    return None if found.steps is not None else _Walk(pursuit, found.arena, found.entry).lasso(start)


def _standing(pursuit: Pursuit, start: Cell) -> Lasso:
    """The lasso of a prey that needn't move."""
    rule, way = pursuit.rule, pursuit.way
    if way.ends is not None:
        return Lasso(start, rule.settled(way.ends), 0, ())
    # By then it has waited for its next move, if it had to.
    entry = max(way.tail, rule.layers)
    tail = rule.settled(entry)
    return Lasso(start, tail, rule.settled(entry + rule.cycle(way.cycle)) - tail, ())


class _Walk:
    """A prey on its way through an arena, always in the sets from which it can evade."""

    def __init__(self, pursuit: Pursuit, arena: Arena, entry: int) -> None:
        self._pursuit, self._arena, self._entry = pursuit, arena, entry
        self._rule = pursuit.rule
        self._moves: list[tuple[int, int, int]] = []
        self._bit = pursuit.rule.start(arena, *pursuit.prey).bit_length() - 1

    def lasso(self, start: Cell) -> Lasso:
        """The whole way."""
        pursuit, arena, entry, rule = self._pursuit, self._arena, self._entry, self._rule
        way = pursuit.way
        haven = pursuit.haven(arena, entry)
        before = list(arena.visits(way.visits(arena.reach, 0, entry)))
        self._begin(pursuit.back(arena, haven, 0, before, entry))
        self._go(haven, 0, before, entry)
        if way.ends is not None:
            return Lasso(start, rule.steps(entry), 0, tuple(self._moves))
        cycle = rule.cycle(way.cycle)
        visits = list(arena.visits(way.visits(arena.reach, entry, entry + cycle)))
        seen: dict[int, int] = {}
        at = entry
        while self._bit not in seen:
            seen[self._bit] = at
            self._go(haven, entry, visits, entry + cycle, at - entry)
            at += cycle
        tail = seen[self._bit]
        last = rule.steps(at) - rule.steps(tail)
        return Lasso(start, rule.settled(tail), last, tuple(self._moves))

    def _begin(self, goal: int) -> None:
        """What comes before the first beat: the prey's turn, if it is that."""
        arena, rule = self._arena, self._rule
        threat = arena.threat(*self._pursuit.hunter)
        after = rule.begun(arena, 1 << self._bit, threat) & goal
        self._move(self._nearest(after, self._bit), rule.settled(0))

    def _go(self, goal: int, after: int, visits: list[Visit], until: int, shift: int = 0) -> None:
        """Go from one beat to another through visits, so that a goal is still to be had; ``shift`` is added to the beats."""
        arena, rule = self._arena, self._rule
        block = min(len(visits), max(isqrt(len(visits)), _MOST_BITS // arena.bits)) or 1
        ends: dict[int, int] = {}
        cells = rule.rest_back(arena, goal, visits[-1][0] if visits else after, until)
        for index in range(len(visits) - 1, -1, -1):
            if index == len(visits) - 1 or (index + 1) % block == 0:
                ends[index] = cells
            cells = self._before(cells, visits, index, after)
        for first in range(0, len(visits), block):
            last = min(first + block, len(visits)) - 1
            sets = [ends[last]]
            for index in range(last, first, -1):
                sets.append(self._before(sets[-1], visits, index, after))
            for index in range(first, last + 1):
                self._pass(visits[index - 1][0] if index else after, visits[index], sets.pop(), shift)
        last = visits[-1][0] if visits else after
        staying = rule.waited(arena, self._bit, last, until)
        if goal >> staying & 1:
            self._bit = staying
        else:
            self._travel(last, until, goal, shift, None)

    def _before(self, cells: int, visits: list[Visit], index: int, after: int) -> int:
        self._pursuit.budget.spend(self._arena.visit_cost)
        return self._rule.backward(self._arena, cells, visits[index - 1][0] if index else after, visits[index])

    def _pass(self, after: int, visit: Visit, goal: int, shift: int) -> None:
        """Come through one visit into a set: by staying, or else by moves made as late as they can be."""
        beat, pattern, offset = visit
        staying = self._rule.waited(self._arena, self._bit, after, beat)
        if goal >> staying & 1 and not pattern << offset >> staying & 1:
            self._bit = staying
        else:
            self._travel(after, beat, goal, shift, visit)

    def _travel(self, after: int, beat: int, goal: int, shift: int, visit: Visit | None) -> None:
        """Go into a set until a beat, in which the hunter comes by if there is a ``visit``, by moves made as late as they can be."""
        arena, rule = self._arena, self._rule
        start, moves, ways = beat, 2, 0
        while not ways:
            if start <= after:
                raise AssertionError("a way that was proved is not there")
            moves *= 4
            start = max(after, beat - 1 - rule.beats(moves))
            sets = [1 << rule.waited(arena, self._bit, after, start)]
            for at in range(start, beat - 1):
                sets.append(rule.rest(arena, sets[-1], at, at + 1))
            last = rule.rest(arena, sets[-1], beat - 1, beat) if visit is None else rule.forward(arena, sets[-1], beat - 1, visit)
            ways = last & goal
        self._bit = rule.waited(arena, self._bit, after, start)
        bit = self._nearest(ways, self._bit)
        places = [bit]
        back = rule.rest_back(arena, 1 << bit, beat - 1, beat) if visit is None else rule.backward(arena, 1 << bit, beat - 1, visit)
        bit = self._nearest(back & sets.pop(), bit)
        for at in range(beat - 2, start - 1, -1):
            places.append(bit)
            bit = self._nearest(rule.rest_back(arena, 1 << bit, at, at + 1) & sets.pop(), bit)
        for at, place in enumerate(reversed(places), start + 1):
            self._move(place, rule.settled(at + shift))

    def _nearest(self, cells: int, bit: int) -> int:
        """A place of a set, on the cell of another if there is one."""
        arena = self._arena
        if not cells:
            raise AssertionError("a way that was proved is not there")
        here = arena.cell(bit)
        rest = cells
        while rest:
            low = (rest & -rest).bit_length() - 1
            if arena.cell(low) == here:
                return low
            rest &= rest - 1
        return (cells & -cells).bit_length() - 1

    def _move(self, bit: int, step: int) -> None:
        """Be at a place after so many steps."""
        if self._arena.cell(bit) != self._arena.cell(self._bit):
            self._moves.append((step, *self._arena.cell(bit)))
        self._bit = bit
