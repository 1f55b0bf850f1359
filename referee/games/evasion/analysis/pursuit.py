"""How a verdict is found: the sets of cells where the prey can be are carried along the hunter's way until they die out or come again.

First in a small window round the prey, then in a larger one, then on the whole ground that the hunter can get to. In a window that the
prey could leave, dying out means nothing once it could have left; a set that comes again means evasion in any window.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from referee.games.evasion import variants
from referee.games.evasion.analysis.arena import Arena, BudgetSpent, Sight, Steps, Turns
from referee.games.evasion.analysis.trajectory import Way
from referee.games.evasion.board.regions import free_cells, reachable
from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.games.evasion.analysis.arena import Box, Budget, Visit
    from referee.games.evasion.state import State

#: How far the windows reach from the prey, in cells; then comes the whole ground.
WINDOWS = (24, 96)
#: How often the loop is gone through in a window, and on the whole ground, before it is given up.
_ROUNDS_IN_A_WINDOW, _ROUNDS = 4, 1_000
#: Beats that are looked at, at most, before the hunter's whole way is followed; most captures come sooner.
_FIRST_BEATS = 2_000
#: A ground that is no wider than this, in cells, is gone through whole at once when its safe cells are sought.
_SMALL = 60
#: Beats beyond which it is cheaper to go through the whole loop.
_FARTHEST = 5_000


class Found(NamedTuple):
    """What a search has found: ``steps`` until the prey is caught, None if it evades; ``arena`` is where, ``entry`` where its loop begins."""

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
        #: The hunter's ground: all that it could get to, and so all that it could capture, since no line or path of a capture crosses a wall.
        self.ground = reachable(walls, self.hunter, self.free)
        self._rows = self.ground.rows(walls.height)
        board = (1 << walls.width) - 1
        occupied = [board & ~row for row in self.free.rows(walls.height)]
        self._sight = Sight(walls, settings.capture_radius, occupied, budget, by_path=is_turnwise)
        self.way = Way(walls, rules.bounce, state.hunter, budget, stops=is_turnwise)
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
        """A rectangle of the hunter's ground."""
        return Arena(box, self._rows, self._sight, self.budget, self.rule.layers)

    def window(self, x: int, y: int, reach: int) -> Box:
        """The cells round one, as far as the ground goes."""
        left, bottom, right, top = self.box
        return max(left, x - reach), max(bottom, y - reach), min(right, x + reach), min(top, y + reach)

    def search(self) -> Found:
        """Whether the prey can evade, or when it is caught."""
        for reach in (*WINDOWS, None):
            box = self.box if reach is None else self.window(*self.prey, reach)
            found = self._search_in(self.arena(box), None if box == self.box else reach)
            if found is not None:
                return found
        raise BudgetSpent

    def _search_in(self, arena: Arena, reach: int | None) -> Found | None:
        """What can be found in one window (``reach`` None: the whole ground)."""
        rule, way = self.rule, self.way
        cells = self.begun(arena)
        # In a window that it could have left the prey's dying out says nothing, and nothing is to be had from waiting for it.
        exact = None if reach is None else rule.beats(reach)
        first = min(_FIRST_BEATS, 8 * (arena.width + arena.height) if exact is None else exact)
        cells, beat = self.through(arena, cells, 0, arena.visits(way.visits(arena.reach, 0, first)), first)
        if cells:
            way.close()
            entry = way.ends if way.ends is not None else max(first, way.tail)
            cells, beat = self.through(arena, cells, first, arena.visits(way.visits(arena.reach, first, entry)), entry)
        if cells:
            if way.ends is not None:
                return Found(None, arena, entry)
            if cells & ~self._threatened(arena, entry):
                return Found(None, arena, entry)
            cycle = rule.cycle(way.cycle)
            visits = list(arena.visits(way.visits(arena.reach, entry, entry + cycle)))
            for rounds in range(_ROUNDS if reach is None else _ROUNDS_IN_A_WINDOW):
                after, beat = self.through(arena, cells, entry, visits, entry + cycle)
                beat += rounds * cycle
                if not after:
                    cells = 0
                    break
                if after | cells == after:
                    return Found(None, arena, entry)
                cells = after
        if not cells and (exact is None or beat <= exact):
            return Found(rule.steps(beat), arena, 0)
        return None

    def _threatened(self, arena: Arena, entry: int) -> int:
        """The cells of an arena that the hunter's loop ever captures; who stands on another one may stay there."""
        threatened = 0
        for _, pattern, shift in arena.visits(self.way.visits(arena.reach, entry, entry + self.way.cycle)):
            threatened |= pattern << shift
        return threatened

    def begun(self, arena: Arena) -> int:
        """The set that holds the prey alone, at the first beat."""
        return self.rule.begun(arena, self.rule.start(arena, *self.prey), arena.threat(*self.hunter))

    def through(self, arena: Arena, cells: int, after: int, visits: Iterable[Visit], until: int) -> tuple[int, int]:
        """A set carried from beat ``after`` through visits to ``until``, and that beat; an empty one with the beat at which it died out."""
        forward, budget, cost = self.rule.forward, self.budget, arena.visit_cost
        for visit in visits:
            budget.left -= cost
            if budget.left < 0:
                raise BudgetSpent
            cells = forward(arena, cells, after, visit)
            after = visit[0]
            if not cells:
                return 0, after
        return self.rule.rest(arena, cells, after, until), until

    def back(self, arena: Arena, cells: int, after: int, visits: list[Visit], until: int) -> int:
        """Where the prey must be after one beat to be in a set after another, having come through the visits between."""
        backward, budget, cost = self.rule.backward, self.budget, arena.visit_cost
        last = visits[-1][0] if visits else after
        cells = self.rule.rest_back(arena, cells, last, until)
        for index in range(len(visits) - 1, -1, -1):
            budget.left -= cost
            if budget.left < 0:
                raise BudgetSpent
            cells = backward(arena, cells, visits[index - 1][0] if index else after, visits[index])
            if not cells:
                break
        return cells

    def haven(self, arena: Arena, entry: int) -> int:
        """The cells of an arena from which the prey can stay free for ever without leaving it, after a beat of the loop or later.

        They are the greatest set that the hunter's loop, gone through backwards, leaves as it is.
        """
        way, rule = self.way, self.rule
        cells = rule.anywhere(arena)
        if way.ends is not None:
            return cells
        cycle = rule.cycle(way.cycle)
        visits = list(arena.visits(way.visits(arena.reach, entry, entry + cycle)))
        while visits and cells:
            before = self.back(arena, cells, entry, visits, entry + cycle) & cells
            if before == cells:
                break
            cells = before
        return cells

    def safe(self) -> tuple[int, int, Arena]:
        """The cells of the ground from which the prey can stay free for ever, those of which that isn't known, and their arena."""
        arena = self.arena(self.box)
        # So much is left for what is known near the prey, where the whole is too much.
        reserve = self.budget.left // 5
        self.budget.left -= reserve
        try:
            return self._safe(arena)
        except BudgetSpent:
            self.budget.left = reserve
        surely = 0
        with suppress(BudgetSpent):
            for reach in WINDOWS if not self.is_separated else ():
                surely |= self._safe_near(arena, reach)
        if not surely and self.is_separated:
            raise BudgetSpent
        return surely, arena.free & ~surely, arena

    def _safe_near(self, arena: Arena, reach: int) -> int:
        """Cells round the prey from which it can stay free for ever without going far."""
        window = self.arena(self.window(*self.prey, reach))
        self.way.close()
        if self.way.ends is not None:
            return 0
        return _moved(self._to_now(window, self.haven(window, self.way.tail), self.way.tail), window, arena, 1)

    def _safe(self, arena: Arena) -> tuple[int, int, Arena]:
        """As ``safe``, on the whole ground."""
        way = self.way
        way.close()
        if way.ends is not None:
            return self._to_now(arena, self.rule.anywhere(arena), way.ends), 0, arena
        cycle = self.rule.cycle(way.cycle)
        surely = 0
        could = arena.free
        haven = self._haven() if min(arena.width, arena.height) > _SMALL else None
        if haven is not None:
            window, cells = haven
            # Time enough to get to a haven from anywhere; what is caught is caught sooner, but for a few cells.
            horizon = self.rule.beats(max(arena.width, arena.height))
            while horizon < min(cycle, _FARTHEST):
                could = self._to_now(arena, self.rule.anywhere(arena), horizon)
                entry = max(way.tail, horizon)
                visits = list(window.visits(way.visits(window.reach, horizon, entry)))
                there = self.back(window, cells, horizon, visits, entry) if entry == way.tail else self.haven(window, entry)
                surely |= self._to_now(arena, _moved(there, window, arena, arena.layers), horizon)
                if surely == could:
                    return surely, 0, arena
                horizon *= 2
        try:
            return self._to_now(arena, self.haven(arena, way.tail), way.tail), 0, arena
        except BudgetSpent:
            if not surely:
                raise
            return surely, could & ~surely, arena

    def _haven(self) -> tuple[Arena, int] | None:
        """A window in which a prey can be safe for ever, and the cells of it that are so when the hunter's loop begins; None if none is found."""
        for box in self._havens():
            window = self.arena(box)
            cells = self.haven(window, self.way.tail)
            if cells:
                return window, cells
        return None

    def _havens(self) -> Iterator[Box]:
        """Windows in which a prey may be safe: round this one, then all over the ground."""
        if not self.is_separated:
            yield self.window(*self.prey, WINDOWS[0])
        left, bottom, right, top = self.box
        step = 2 * WINDOWS[0]
        centres = [(x, y) for y in range(bottom + step // 2, top, step) for x in range(left + step // 2, right, step)]
        for x, y in islice(centres, 12):
            yield self.window(x, y, WINDOWS[0])

    def _to_now(self, arena: Arena, cells: int, beat: int) -> int:
        """Where a prey in the state of this position's must be to be in a set after a beat."""
        visits = list(arena.visits(self.way.visits(arena.reach, 0, beat)))
        cells = self.back(arena, cells, 0, visits, beat)
        threat = arena.threat(*self.hunter)
        return self.rule.now(arena, self.rule.before(arena, cells, threat)) & ~threat


def _moved(cells: int, window: Arena, arena: Arena, layers: int) -> int:
    """A set of a window, so many layers of it, as one of a larger arena."""
    moved = 0
    left = window.box[0] - arena.box[0]
    above = window.box[1] - arena.box[1]
    for layer in range(layers):
        rows = [0] * above + [row << left for row in window.rows_of(cells >> layer * window.layer & (1 << window.layer) - 1)]
        moved |= arena.set_of(rows) << layer * arena.layer
    return moved


def _bounds(rows: list[int]) -> Box:
    """The smallest rectangle that holds the cells of some rows."""
    used = [y for y, row in enumerate(rows) if row]
    columns = 0
    for row in rows:
        columns |= row
    return (columns & -columns).bit_length() - 1, used[0], columns.bit_length() - 1, used[-1]
