"""The witness of an evasion: a path for the prey that leads into a loop and is never captured.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from itertools import repeat
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion.analysis.arena import BUDGET, Budget
from referee.games.evasion.analysis.pursuit import Pursuit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.evasion.analysis.arena import Arena, Cell, Threat
    from referee.games.evasion.state import State

#: The most bits of all sets that are in memory at once.
_MOST_BITS = 400_000_000
#: The budget for the path, as a multiple of that for the search.
_PATH_BUDGETS = 20


class Lasso(NamedTuple):
    """A path on which the prey evades for ever: it starts on ``start``, and each of ``moves`` is (step, x, y), its cell from that step on.

    After ``tail`` steps the moves of the next ``cycle`` steps repeat. ``cycle`` 0: the game ends there, because the hunter is shut in.
    """

    start: Cell
    tail: int
    cycle: int
    moves: tuple[tuple[int, int, int], ...]

    def cells(self) -> Iterator[Cell]:
        """Yield the prey's cell now, after one step, after two and so on, without end."""
        at, step, shift, moves = self.start, 0, 0, self.moves
        while True:
            for when, x, y in moves:
                yield from repeat(at, when + shift - step)
                at, step = (x, y), when + shift
            if not self.cycle:
                yield from repeat(at)
            end = self.tail + shift + self.cycle + 1
            yield from repeat(at, end - step)
            step, shift = end, shift + self.cycle
            moves = tuple(move for move in self.moves if move[0] > self.tail)


def lasso(state: State, budget: int = BUDGET) -> Lasso | None:
    """Return a path on which the prey evades for ever; None if it is caught. BudgetSpent if this stays undecided.

    Finding the path may cost many times as much as the verdict.
    """
    if state.ended:
        return None
    shared = Budget(budget)
    pursuit = Pursuit(state, shared)
    start = state.prey[:2]
    if pursuit.is_separated:
        return _standing(pursuit, start)
    found = pursuit.search()
    shared.left += _PATH_BUDGETS * budget
    return None if found.steps is not None else _Path(pursuit, found.arena, found.entry).lasso(start)


def _standing(pursuit: Pursuit, start: Cell) -> Lasso:
    """Return the lasso of a prey that never has to move."""
    rule, trajectory = pursuit.rule, pursuit.trajectory
    trajectory.close()
    if trajectory.ends is not None:
        return Lasso(start, rule.settled(trajectory.ends), 0, ())
    # By then the prey has waited for its next turn.
    entry = max(trajectory.tail, rule.layers)
    tail = rule.settled(entry)
    return Lasso(start, tail, rule.settled(entry + pursuit.cycle) - tail, ())


class _Path:
    """Finds the prey's path through an arena. After each move of the hunter the prey is in the set from which it can evade."""

    def __init__(self, pursuit: Pursuit, arena: Arena, entry: int) -> None:
        self._pursuit, self._arena, self._entry = pursuit, arena, entry
        self._rule = pursuit.rule
        self._moves: list[tuple[int, int, int]] = []
        #: The bit of the prey in a set.
        self._bit = pursuit.rule.start(arena, *pursuit.prey).bit_length() - 1

    def lasso(self, start: Cell) -> Lasso:
        """Return the whole path."""
        pursuit, arena, entry, rule = self._pursuit, self._arena, self._entry, self._rule
        region = pursuit.safe_region(arena, entry)
        threats = list(pursuit.threats(arena, 0, entry))
        # In ``gameserver`` the prey's turn can come before the hunter's first move.
        goal = pursuit.back(arena, region, 0, threats, entry)
        self._move(self._nearest(rule.begun(arena, 1 << self._bit, arena.captured_from(*pursuit.hunter)) & goal), rule.settled(0))
        self._go(region, 0, threats, entry)
        if pursuit.trajectory.ends is not None:
            return Lasso(start, rule.steps(entry), 0, tuple(self._moves))
        threats = pursuit.loop_threats(arena, entry)
        seen: dict[int, int] = {}
        at = entry
        while self._bit not in seen:
            seen[self._bit] = at
            self._go(region, entry, threats, entry + pursuit.cycle, at - entry)
            at += pursuit.cycle
        tail = seen[self._bit]
        return Lasso(start, rule.settled(tail), rule.steps(at) - rule.steps(tail), tuple(self._moves))

    def _go(self, goal: int, after: int, threats: list[Threat], until: int, shift: int = 0) -> None:
        """Move the prey past some threats into a set; ``shift`` is added to the numbers of the hunter's moves.

        The set before each threat is found backwards, from the goal. Only the last set of each block is stored, and the others are
        found again when the prey comes to the block.
        """
        rule = self._rule
        block = min(len(threats), max(isqrt(len(threats)), _MOST_BITS // self._arena.bits)) or 1
        last = threats[-1][0] if threats else after
        cells = rule.rest_back(self._arena, goal, last, until)
        ends: dict[int, int] = {}
        for index in range(len(threats) - 1, -1, -1):
            if index == len(threats) - 1 or (index + 1) % block == 0:
                ends[index] = cells
            cells = self._before(cells, threats, index, after)
        for first in range(0, len(threats), block):
            end = min(first + block, len(threats)) - 1
            sets = [ends[end]]
            for index in range(end, first, -1):
                sets.append(self._before(sets[-1], threats, index, after))
            for index in range(first, end + 1):
                self._travel(threats[index - 1][0] if index else after, threats[index][0], sets.pop(), shift, threats[index])
        self._travel(last, until, goal, shift, None)

    def _before(self, cells: int, threats: list[Threat], index: int, after: int) -> int:
        self._pursuit.budget.spend(self._arena.threat_cost)
        return self._rule.backward(self._arena, cells, threats[index - 1][0] if index else after, threats[index])

    def _travel(self, after: int, until: int, goal: int, shift: int, threat: Threat | None) -> None:
        """Bring the prey into a set at a move of the hunter, which may be a threat. The prey stays if it can, else it moves as late as it can."""
        arena, rule = self._arena, self._rule
        staying = rule.waited(arena, self._bit, after, until)
        if goal >> staying & 1 and (threat is None or not threat[1] << threat[2] >> staying & 1):
            self._bit = staying
            return
        start, moves, possible = until, 2, 0
        while not possible:
            if start <= after:
                raise AssertionError(_MISSING)
            moves *= 4
            start = max(after, until - 1 - rule.hunter_moves(moves))
            sets = [1 << rule.waited(arena, self._bit, after, start)]
            for at in range(start, until - 1):
                sets.append(rule.rest(arena, sets[-1], at, at + 1))
            at, cells = until - 1, sets[-1]
            possible = goal & (rule.rest(arena, cells, at, until) if threat is None else rule.forward(arena, cells, at, threat))
        self._bit = rule.waited(arena, self._bit, after, start)
        bits = [self._nearest(possible)]
        for at in range(until - 1, start, -1):
            cells = 1 << bits[-1]
            if threat is not None and at == until - 1:
                before = rule.backward(arena, cells, at, threat)
            else:
                before = rule.rest_back(arena, cells, at, at + 1)
            bits.append(self._nearest(before & sets.pop(), bits[-1]))
        for at, bit in enumerate(reversed(bits), start + 1):
            self._move(bit, rule.settled(at + shift))

    def _nearest(self, cells: int, bit: int | None = None) -> int:
        """Return a bit of a set: on the cell of the given bit, or of the prey, if there is one."""
        if not cells:
            raise AssertionError(_MISSING)
        here = self._arena.cell(self._bit if bit is None else bit)
        rest = cells
        while rest:
            low = (rest & -rest).bit_length() - 1
            if self._arena.cell(low) == here:
                return low
            rest &= rest - 1
        return (cells & -cells).bit_length() - 1

    def _move(self, bit: int, step: int) -> None:
        """Put the prey on a bit after a number of steps."""
        if self._arena.cell(bit) != self._arena.cell(self._bit):
            self._moves.append((step, *self._arena.cell(bit)))
        self._bit = bit


_MISSING = "a path that was proved does not exist"
