"""An independent model of "can the prey stay free forever": every prey is tried, cell by cell and step by step.

It shares nothing with the analysis but the engine's functions for one move: no bit boards, no windows, no way of the hunter known ahead.
"""

from __future__ import annotations

from itertools import repeat
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion import variants
from referee.games.evasion.analysis.arena import BUDGET, Budget
from referee.games.evasion.analysis.pursuit import Pursuit
from referee.games.evasion.board.wall import Wall
from referee.games.evasion.board.walls import Walls, trace
from referee.games.evasion.game import GAME
from referee.games.evasion.state import PREY, Body, PreyMove, State, To

if TYPE_CHECKING:
    import random

    Cell = tuple[int, int]
    Prey = tuple[Cell, int]
    from collections.abc import Iterator

    from referee.games.evasion.analysis.arena import Arena, Cell, Threat

DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def steps_to_capture(state: State) -> int | None:
    """The steps after which the best prey is caught; None if it can evade forever."""
    rules, settings = variants.RULE_SETS[state.settings.rules], state.settings
    is_turnwise = rules.is_turnwise
    hunter: tuple[int, int, int, int] = state.hunter
    preys: set[Prey] = {((state.prey.x, state.prey.y), state.prey_timer)}
    known: dict[Prey, set[Prey]] = {}
    seen = set()
    step = state.step
    while True:
        moment = (hunter, step % (2 if is_turnwise else settings.prey_period), frozenset(preys))
        if moment in seen:
            return None
        seen.add(moment)
        if not is_turnwise or step % 2 == 0:
            moved = rules.bounce(state.walls, *hunter)
            if is_turnwise and moved[:2] == hunter[:2]:
                return None
            hunter = moved
        if step % 2 if is_turnwise else (step + 1) % settings.prey_period == 0:
            for prey in preys:
                if prey not in known:
                    known[prey] = _after(state, *prey)
            preys = set().union(*(known[prey] for prey in preys))
        step += 1
        preys = {(cell, timer) for cell, timer in preys if not rules.captures(state.walls, settings.capture_radius, hunter[:2], cell)}
        if not preys:
            return step - state.step


def _after(state: State, cell: Cell, timer: int) -> set[Prey]:
    """All that a prey can be after its move."""
    rules = variants.RULE_SETS[state.settings.rules]
    if rules.steps_per_unit == 1:
        return {(rules.bounce(state.walls, *cell, *way)[:2], 0) for way in DIRECTIONS}
    if timer:
        return {(cell, timer - 1)}
    places = [(cell[0] + dx, cell[1] + dy) for dx, dy in DIRECTIONS if (dx, dy) != (0, 0)]
    return {(cell, 0)} | {(place, state.settings.prey_cooldown) for place in places if state.walls.is_free(*place)}


def is_safe(state: State, cell: Cell) -> bool:
    """Whether a prey on that cell, were it there now, could evade forever."""
    if variants.RULE_SETS[state.settings.rules].captures(state.walls, state.settings.capture_radius, state.hunter[:2], cell):
        return False
    return steps_to_capture(state._replace(prey=Body(*cell, 0, 0))) is None


def walk(state: State, lasso: Lasso) -> None:
    """Walk a lasso on the engine, twice round its loop: it must be a way of the rules, never end in capture, and close."""
    is_turnwise = variants.RULE_SETS[state.settings.rules].is_turnwise
    state = state._replace(settings=state.settings._replace(max_steps=10**6))
    cells = lasso.cells()
    assert next(cells) == state.prey[:2]
    moments = []
    for step in range(lasso.tail + 2 * lasso.cycle + 2):
        if lasso.cycle and step >= lasso.tail and (step - lasso.tail) % lasso.cycle == 0:
            moments.append(
                (state.hunter, state.prey[:2], state.prey_timer, state.step % (2 if is_turnwise else state.settings.prey_period))
            )
        to, (x, y) = next(cells), state.prey[:2]
        move = PreyMove((to[0] - x, to[1] - y)) if not is_turnwise else To(*to) if to != (x, y) else None
        state, _ = GAME.step(state, {PREY: move})
        assert state.prey[:2] == to
        if state.ended:
            assert state.ended == "trapped"
            assert lasso.cycle == 0
            return
    assert len(moments) == 3
    assert len(set(moments)) == 1


def random_position(rng: random.Random, rules: str, most: int = 8) -> State:
    """A position on a small board, as odd as can be."""
    rule_set = variants.RULE_SETS[rules]
    while True:
        width, height = rng.randint(2, most), rng.randint(1, most)
        walls = Walls(width, height)
        for number in range(rng.choice((0, 1, 2, 3, 5, 8))):
            kind, x, y = rng.choice(rule_set.kinds), rng.randrange(width), rng.randrange(height)
            anchor = y if kind == "vertical" else x
            span = None if rng.random() < 0.3 else (anchor - rng.randint(0, 2), anchor + rng.randint(0, 2))
            wall = trace(walls, kind, x, y, span, number)
            walls = walls.adding(wall) if isinstance(wall, Wall) else walls
        free = [(x, y) for x in range(width) for y in range(height) if walls.is_free(x, y)]
        if len(free) < 2:
            continue
        hunter, prey = rng.sample(free, 2)
        settings = rule_set.defaults._replace(
            width=width,
            height=height,
            prey_period=rng.choice((1, 2, 2, 2, 3)),
            prey_cooldown=rng.randint(0, 3),
            capture_radius=rng.choice((0, 1, 1, 2, 3, 4, 4, 7, 12, 40)),
        )
        if rule_set.captures(walls, settings.capture_radius, hunter, prey):
            continue
        heading = rng.choice(((1, 1), (1, -1), (-1, 1), (-1, -1)))
        timer = rng.randint(0, settings.prey_cooldown) if rules == "gameserver" else 0
        return State(settings, rng.randrange(6), Body(*hunter, *heading), Body(*prey, 0, 0), walls, 0, 8, "", timer)


#: The most bits of all sets that are in memory at once.
_MOST_BITS = 400_000_000
#: The budget for the path, as a multiple of that for the search.
_PATH_BUDGETS = 20


class Lasso(NamedTuple):
    """A path on which the prey evades forever: it starts on ``start``, and each of ``moves`` is (step, x, y), its cell from that step on.

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
    """Return a path on which the prey evades forever; None if it is caught. BudgetSpent if this stays undecided.

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
