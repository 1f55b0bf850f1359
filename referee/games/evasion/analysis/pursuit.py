"""The search for a verdict: the set of cells where the prey can be follows the hunter's trajectory until it is empty or repeats.

The search looks at a small window around the prey first, then at a larger one, then at all cells that the hunter can reach. In a window
that the prey could have left, an empty set proves nothing. A set that repeats proves evasion in any window.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion import variants
from referee.games.evasion.analysis.arena import Arena, BudgetSpent, Sight, Steps, Turns
from referee.games.evasion.analysis.trajectory import Trajectory
from referee.games.evasion.board.regions import free_cells, reachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.games.evasion.analysis.arena import Box, Budget, Threat
    from referee.games.evasion.state import State

#: The reach of the windows around the prey, in cells.
WINDOWS = (24, 96)
#: The most rounds of the hunter's loop that are followed in a window, and on the whole ground.
_ROUNDS_IN_A_WINDOW, _ROUNDS = 4, 1_000
#: The most moves that are followed before the whole trajectory is computed. Most captures come sooner.
_FIRST_MOVES = 2_000
#: A ground up to this width, in cells, is searched for safe cells as a whole.
SMALL_BOARD = 60
#: The most windows in which a safe region is sought.
_MOST_WINDOWS = 12
#: Beyond this number of moves it is cheaper to follow the whole loop.
_MOST_MOVES = 5_000


class Proof(NamedTuple):
    """The result of a search: ``steps`` until the prey is caught, None if it evades; the ``arena``, and the move ``entry`` where its loop begins."""

    steps: int | None
    arena: Arena
    entry: int


class Pursuit:
    """One question about one position. Every method raises BudgetSpent when the budget is used up."""

    def __init__(self, state: State, budget: Budget) -> None:
        settings, walls = state.settings, state.walls
        rules = variants.RULE_SETS[settings.rules]
        is_turnwise = rules.is_turnwise
        self.budget = budget
        self.hunter = state.hunter[:2]
        self.prey = state.prey[:2]
        budget.spend(walls.width * walls.height * 30)
        self.free = free_cells(walls)
        #: All cells that the hunter can reach. It captures no others, because neither lines nor paths of a capture cross walls.
        self.ground = reachable(walls, self.hunter, self.free)
        self._rows = self.ground.rows(walls.height)
        board = (1 << walls.width) - 1
        occupied = [board & ~row for row in self.free.rows(walls.height)]
        self._sight = Sight(walls, settings.capture_radius, occupied, budget, by_path=is_turnwise)
        self.trajectory = Trajectory(walls, rules.bounce, state.hunter, budget, stops=is_turnwise)
        self.rule = (
            Turns(settings.prey_cooldown, state.prey_timer, prey_first=bool(state.step % 2))
            if is_turnwise
            else Steps(state.step, settings.prey_period)
        )
        self.box = _bounds(self._rows)

    @property
    def is_separated(self) -> bool:
        """Whether no path of steps in all eight directions joins the two."""
        return self.prey not in self.ground

    def arena(self, box: Box) -> Arena:
        """Return a rectangle of the hunter's ground."""
        return Arena(box, self._rows, self._sight, self.budget, self.rule.layers)

    def window(self, x: int, y: int, reach: int) -> Box:
        """Return the rectangle around a cell, cut to the ground."""
        left, bottom, right, top = self.box
        return max(left, x - reach), max(bottom, y - reach), min(right, x + reach), min(top, y + reach)

    def threats(self, arena: Arena, after: int, until: int) -> Iterator[Threat]:
        """Yield the threats to an arena after one move of the hunter and up to another."""
        return arena.threats(self.trajectory.moves_in(arena.reach, after, until))

    def loop_threats(self, arena: Arena, entry: int) -> list[Threat]:
        """Return the threats to an arena in one cycle from a move of the loop on."""
        return list(self.threats(arena, entry, entry + self.cycle))

    @property
    def cycle(self) -> int:
        """The number of moves after which the hunter's loop and the prey's turns repeat."""
        return self.rule.cycle(self.trajectory.cycle)

    def search(self) -> Proof:
        """Return whether the prey can evade, or when it is caught."""
        for reach in (*WINDOWS, None):
            box = self.box if reach is None else self.window(*self.prey, reach)
            proof = self._search_in(self.arena(box), None if box == self.box else reach)
            if proof is not None:
                return proof
        raise BudgetSpent

    def _search_in(self, arena: Arena, reach: int | None) -> Proof | None:
        """Return what one window proves, None if it proves nothing; ``reach`` None is the whole ground."""
        trajectory = self.trajectory
        # Up to this move the prey can't have left the window. Later an empty set proves nothing.
        exact = None if reach is None else self.rule.hunter_moves(reach)
        entry = min(_FIRST_MOVES, 8 * (arena.width + arena.height) if exact is None else exact)
        begun = self.rule.begun(arena, self.rule.start(arena, *self.prey), arena.captured_from(*self.hunter))
        cells, move = self.through(arena, begun, 0, self.threats(arena, 0, entry), entry)
        if cells:
            trajectory.close()
            first, entry = entry, trajectory.ends if trajectory.ends is not None else max(entry, trajectory.tail)
            cells, move = self.through(arena, cells, first, self.threats(arena, first, entry), entry)
        if cells:
            if trajectory.ends is not None or cells & ~self._threatened(arena, entry):
                return Proof(None, arena, entry)
            cycle, threats = self.cycle, self.loop_threats(arena, entry)
            for rounds in range(_ROUNDS if reach is None else _ROUNDS_IN_A_WINDOW):
                before, (cells, move) = cells, self.through(arena, cells, entry, threats, entry + cycle)
                move += rounds * cycle
                if not cells:
                    break
                if before | cells == cells:
                    return Proof(None, arena, entry)
        return Proof(self.rule.steps(move), arena, 0) if not cells and (exact is None or move <= exact) else None

    def _threatened(self, arena: Arena, entry: int) -> int:
        """Return the cells of an arena that the hunter's loop ever captures. On any other cell the prey can stay."""
        threatened = 0
        for _, pattern, shift in self.threats(arena, entry, entry + self.trajectory.cycle):
            threatened |= pattern << shift
        return threatened

    def through(self, arena: Arena, cells: int, after: int, threats: Iterable[Threat], until: int) -> tuple[int, int]:
        """Return the set after move ``until``, and this move; or the empty set and the move after which it is empty.

        ``cells`` is the set after move ``after``, ``threats`` are those between the two.
        """
        forward, budget, cost = self.rule.forward, self.budget, arena.threat_cost
        for threat in threats:
            budget.left -= cost
            if budget.left < 0:
                raise BudgetSpent
            cells = forward(arena, cells, after, threat)
            after = threat[0]
            if not cells:
                return 0, after
        return self.rule.rest(arena, cells, after, until), until

    def back(self, arena: Arena, cells: int, after: int, threats: list[Threat], until: int) -> int:
        """Return the set after move ``after`` from which a prey can reach ``cells`` after move ``until``, through the threats between."""
        backward, budget, cost = self.rule.backward, self.budget, arena.threat_cost
        last = threats[-1][0] if threats else after
        cells = self.rule.rest_back(arena, cells, last, until)
        for index in range(len(threats) - 1, -1, -1):
            budget.left -= cost
            if budget.left < 0:
                raise BudgetSpent
            cells = backward(arena, cells, threats[index - 1][0] if index else after, threats[index])
            if not cells:
                break
        return cells

    def safe_region(self, arena: Arena, entry: int) -> int:
        """Return the set of an arena in which the prey can stay forever from a move on, at the loop's beginning or later.

        It is the greatest set that one cycle of the hunter's loop, followed backwards, doesn't change.
        """
        cells = arena.everywhere
        if self.trajectory.ends is not None:
            return cells
        threats = self.loop_threats(arena, entry)
        while threats and cells:
            before = self.back(arena, cells, entry, threats, entry + self.cycle) & cells
            if before == cells:
                break
            cells = before
        return cells

    def safe(self) -> tuple[int, int, Arena]:
        """Return the cells of the ground from which the prey can evade forever, the undecided cells, and their arena."""
        arena = self.arena(self.box)
        # Keep a part of the budget for the cells near the prey, in case the whole ground takes too much.
        reserve = self.budget.left // 5
        self.budget.left -= reserve
        try:
            return self._safe(arena)
        except BudgetSpent:
            self.budget.left = reserve
        safe = 0
        with suppress(BudgetSpent):
            for reach in () if self.is_separated else WINDOWS:
                window = self.arena(self.window(*self.prey, reach))
                self.trajectory.close()
                if self.trajectory.ends is None:
                    tail = self.trajectory.tail
                    safe |= _moved(self._to_now(window, self.safe_region(window, tail), tail), window, arena, 1)
        if not safe and self.is_separated:
            raise BudgetSpent
        return safe, arena.free & ~safe, arena

    def _safe(self, arena: Arena) -> tuple[int, int, Arena]:
        """Return the same, from a search of the whole ground."""
        trajectory = self.trajectory
        trajectory.close()
        if trajectory.ends is not None:
            return self._to_now(arena, arena.everywhere, trajectory.ends), 0, arena
        safe, possible = 0, arena.free
        is_large = min(arena.width, arena.height) > SMALL_BOARD
        regions = ((window, self.safe_region(window, trajectory.tail)) for window in map(self.arena, self._windows()))
        window, region = next(((window, region) for window, region in regions if region), (arena, 0)) if is_large else (arena, 0)
        # Enough time to reach the safe region from anywhere. Nearly all other cells are captured earlier.
        horizon = self.rule.hunter_moves(max(arena.width, arena.height))
        while region and horizon < min(self.cycle, _MOST_MOVES):
            possible = self._to_now(arena, arena.everywhere, horizon)
            entry = max(trajectory.tail, horizon)
            if entry == trajectory.tail:
                there = self.back(window, region, horizon, list(self.threats(window, horizon, entry)), entry)
            else:
                there = self.safe_region(window, entry)
            safe |= self._to_now(arena, _moved(there, window, arena, arena.layers), horizon)
            if safe == possible:
                return safe, 0, arena
            horizon *= 2
        try:
            return self._to_now(arena, self.safe_region(arena, trajectory.tail), trajectory.tail), 0, arena
        except BudgetSpent:
            if not safe:
                raise
            return safe, possible & ~safe, arena

    def _windows(self) -> Iterator[Box]:
        """Yield windows that may have a safe region: the prey's own, then some all over the ground."""
        if not self.is_separated:
            yield self.window(*self.prey, WINDOWS[0])
        left, bottom, right, top = self.box
        step = 2 * WINDOWS[0]
        centres = [(x, y) for y in range(bottom + step // 2, top, step) for x in range(left + step // 2, right, step)]
        for x, y in centres[:_MOST_WINDOWS]:
            yield self.window(x, y, WINDOWS[0])

    def _to_now(self, arena: Arena, cells: int, move: int) -> int:
        """Return the cells from which this position's prey can be in a set after a move of the hunter."""
        cells = self.back(arena, cells, 0, list(self.threats(arena, 0, move)), move)
        captured = arena.captured_from(*self.hunter)
        return self.rule.now(arena, self.rule.before(arena, cells, captured)) & ~captured


def _moved(cells: int, window: Arena, arena: Arena, layers: int) -> int:
    """Return a set of a window as a set of a larger arena, for some layers."""
    moved = 0
    left = window.box[0] - arena.box[0]
    above = window.box[1] - arena.box[1]
    for layer in range(layers):
        rows = [0] * above + [row << left for row in window.rows_of(cells >> layer * window.layer & window.lowest)]
        moved |= arena.set_of(rows) << layer * arena.layer
    return moved


def _bounds(rows: list[int]) -> Box:
    """Return the smallest rectangle that holds the cells of some rows."""
    used = [y for y, row in enumerate(rows) if row]
    columns = 0
    for row in rows:
        columns |= row
    return (columns & -columns).bit_length() - 1, used[0], columns.bit_length() - 1, used[-1]
