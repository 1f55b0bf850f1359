"""Estimates of the cost of a move: the hunter's by the area left to the prey, the prey's by the steps until the hunter catches it.

They look at only one step, because nobody knows what the players would have done next. ``verdict`` has what is certain.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from referee.games.capabilities import Appraised
from referee.games.evasion import variants
from referee.games.evasion.board.regions import reachable
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import trace
from referee.games.evasion.rules.stepwise import can_build
from referee.games.evasion.rules.turnwise import MOST_ID
from referee.games.evasion.state import HEADINGS, HUNTER, PREY, AddWall, Build, HunterMove, PreyMove, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.evasion.board.regions import Region
    from referee.games.evasion.board.walls import Walls
    from referee.games.evasion.codec.turnwise import Move
    from referee.games.evasion.state import Settings, State

    Cell = tuple[int, int]

#: The measures are estimates: the players go on after the step.
is_exact = False
#: The number of the hunter's moves that the prey's estimate follows: in that time a prey can escape from most places.
HORIZON = 60
#: Steps within which the moves of a prey count as one, and those of a hunter with a shorter cooldown.
_PREY_APART, _HUNTER_APART = 6, 20
#: The number of walls, from the newest on, whose removal is tried.
_MOST_WALLS = 20
#: While no wall changes, removals are tried only in every third step: they are many, and a chance lasts.
_EVERY = 3
#: Distances from the prey at which a wall of ``gameserver`` is tried, in cells.
_TRIED = (2, 4, 7, 11)
#: The most cells of all boards whose regions are remembered; a cell takes a bit.
_MOST_CELLS = 200_000_000


def measure(seat: str, settings: Settings) -> str:
    """Return what the estimate for a seat counts."""
    if seat == HUNTER:
        return f"cells left to the prey, all {settings.width * settings.height:,} of the board if walls shut the hunter out"
    if variants.RULE_SETS[settings.rules].is_turnwise:
        return f"steps until the hunter would catch a prey that stays where it is, at most {_horizon(settings)}"
    return f"steps until the hunter would catch a prey that then stays or goes on, whichever is later, at most {_horizon(settings)}"


def apart(seat: str, settings: Settings) -> int:
    """Return the steps within which only one move is named: a hunter builds one wall in that time."""
    if seat == HUNTER:
        return max(_HUNTER_APART, settings.cooldown * variants.RULE_SETS[settings.rules].steps_per_unit)
    return _PREY_APART


def appraiser(seat: str) -> Callable[[State, Mapping[str, Move], State], Appraised | None]:
    """Return the function that appraises the moves of a seat."""
    return partial(_appraise_hunter, _Regions()) if seat == HUNTER else _appraise_prey


class _Left(NamedTuple):
    """The number of cells that walls leave to the prey; the whole board if the hunter can't reach the prey's cells."""

    cells: int
    is_shut_out: bool


class _Try(NamedTuple):
    """A move that a hunter could make: the ``walls`` after the step, the one of them that is new, and the hunter's cell after the step."""

    move: HunterMove | AddWall
    walls: Walls
    wall: Wall | None
    hunter: Cell


class _Regions:
    """Caches the regions that walls leave: the same walls come up again, because a hunter passes the same row many times."""

    def __init__(self) -> None:
        self._regions: dict[Walls, list[Region]] = {}

    def left(self, prey: Cell, hunter: Cell, walls: Walls) -> _Left:
        """Return the cells that walls leave to the prey; ``hunter`` is its cell after the step."""
        cells = walls.width * walls.height
        if len(self._regions) * cells > _MOST_CELLS:
            self._regions.clear()
        alike = self._regions.setdefault(walls, [])
        region = next((region for region in alike if prey in region), None)
        if region is None:
            region = reachable(walls, prey)
            alike.append(region)
        is_shut_out = hunter not in region
        return _Left(cells if is_shut_out else len(region), is_shut_out)


def _appraise_hunter(regions: _Regions, before: State, _moves: Mapping[str, Move], after: State) -> Appraised | None:
    """Compare the area that the hunter's move left to the prey with the area that the best wall would have left."""
    if after.ended == "caught":
        return None
    prey, hunter = before.prey[:2], after.hunter[:2]
    before_it = regions.left(prey, before.hunter[:2], before.walls)
    is_changed = after.walls is not before.walls
    now = regions.left(prey, hunter, after.walls) if is_changed else before_it
    instead, better = now, None
    takes_down = is_changed or before.step % _EVERY == 0
    for attempt in _tries(before, is_shut_out=before_it.is_shut_out, takes_down=takes_down):
        left = regions.left(prey, attempt.hunter, attempt.walls)
        if left.cells < instead.cells:
            instead, better = left, attempt
    if better is None:
        return None
    remark = "the hunter is shut out" if now.is_shut_out else ""
    return Appraised(better.move, _words(better), now.cells, instead.cells, remark)


def _tries(state: State, *, is_shut_out: bool, takes_down: bool) -> Iterator[_Try]:
    """Yield the moves to try: none, the longest walls, and fewer walls if the hunter is shut out or can't build another."""
    rules, standing = variants.RULE_SETS[state.settings.rules], state.walls
    at = rules.bounce(standing, *state.hunter)[:2]
    yield _Try(HunterMove(), standing, None, at)
    if rules.is_turnwise:
        for wall in _walls_to_try(state):
            move = AddWall(_free_id(standing), wall.x1, wall.y1, wall.x2, wall.y2)
            walls = standing.adding(wall)
            yield _Try(move, walls, wall, rules.bounce(walls, *state.hunter)[:2])
        return
    for wall in _walls_to_try(state):
        yield _Try(HunterMove(Build(wall.kind)), standing.adding(wall), wall, at)
    is_full = len(standing) >= state.settings.max_walls
    for removed, walls in _fewer(standing) if takes_down and (is_full or is_shut_out) else ():
        if len(removed) > 1 and not is_shut_out:
            continue
        at = rules.bounce(walls, *state.hunter)[:2]
        yield _Try(HunterMove(None, removed), walls, None, at)
        for wall in _walls_to_try(state._replace(walls=walls)) if is_full and not state.wall_timer else ():
            yield _Try(HunterMove(Build(wall.kind), removed), walls.adding(wall), wall, at)


def _walls_to_try(state: State) -> Iterator[Wall]:
    """Yield the walls that the hunter could build now: the longest of each kind. In ``gameserver``, rows and columns near the prey."""
    rules = variants.RULE_SETS[state.settings.rules]
    if state.ended or len(state.walls) >= state.settings.max_walls or state.wall_timer:
        return
    x, y, dx, dy = state.hunter
    if rules.is_turnwise:
        if state.step % 2 == 0:
            yield from _lines_near_the_prey(state)
        return
    moved = rules.bounce(state.walls, x, y, dx, dy)
    for kind in rules.kinds:
        wall = can_build(state.walls, rules.kinds, Build(kind), 0, state.settings, (x, y), moved[:2], state.prey[:2], state.next_id)
        if isinstance(wall, Wall):
            yield wall


def _lines_near_the_prey(state: State) -> Iterator[Wall]:
    x, y = state.prey[:2]
    for far in _TRIED:
        places = (HORIZONTAL, x, y - far), (HORIZONTAL, x, y + far), (VERTICAL, x - far, y), (VERTICAL, x + far, y)
        for kind, at_x, at_y in places:
            wall = trace(state.walls, kind, at_x, at_y, None, state.next_id) if state.walls.is_free(at_x, at_y) else None
            if isinstance(wall, Wall) and not wall.covers(*state.hunter[:2]):
                yield wall


def _fewer(walls: Walls) -> Iterator[tuple[tuple[int, ...], Walls]]:
    """Yield the walls without one of the newest, then with only one of the newest; each with the ids of the removed walls."""
    for wall in walls.all[-_MOST_WALLS:]:
        yield (wall.id,), walls.without(frozenset((wall.id,)))
    for wall in walls.all[-_MOST_WALLS:] if len(walls) > 2 else ():
        gone = tuple(other.id for other in walls if other.id != wall.id)
        yield gone, walls.without(frozenset(gone))


def _words(attempt: _Try) -> str:
    """Return a hunter's move in words."""
    wall = attempt.wall
    removed = attempt.move.remove if isinstance(attempt.move, HunterMove) else ()
    parts = [f"take down wall{'s' * (len(removed) > 1)} {', '.join(map(str, removed))}"] if removed else []
    if wall is not None:
        parts.append(f"build a {wall.kind} wall from ({wall.x1}, {wall.y1}) to ({wall.x2}, {wall.y2})")
    return " and ".join(parts) or "change no wall"


def _free_id(walls: Walls) -> int:
    """Return an id for a new wall of ``gameserver``."""
    used = {wall.id for wall in walls}
    return next(number for number in range(MOST_ID + 1) if number not in used)


def _horizon(settings: Settings) -> int:
    """The steps that are followed for the prey."""
    return HORIZON * variants.RULE_SETS[settings.rules].steps_per_unit


def _appraise_prey(before: State, moves: Mapping[str, Move], after: State) -> Appraised | None:
    """Compare how soon the hunter would catch the prey after its move and after each other one, if no wall changed.

    The prey then stays or, where it has a heading, goes on: a single step doesn't save a prey that rests in a corner on the hunter's path.
    """
    rules = variants.RULE_SETS[before.settings.rules]
    if not rules.is_turnwise and not before.prey_moves:
        return None
    path = _path(after)
    x, y = before.prey[:2]
    near = before.settings.capture_radius + 2
    if not any(abs(at[0] - x) <= near and abs(at[1] - y) <= near for _, at in path):
        return None
    now = _most_steps_left(after, path)
    best, better, best_cell = now, None, (False, 0)
    for dx, dy in ((0, 0), *HEADINGS):
        move = _prey_move(dx, dy, is_turnwise=rules.is_turnwise)
        state, _ = variants.step(before, {**moves, PREY: move})
        left = _most_steps_left(state, path)
        # Among equally good moves, a move to another cell is clearer advice than a turn at a wall, and far from the hunter is safer.
        cell = state.prey[:2] != (x, y), (state.prey.x - state.hunter.x) ** 2 + (state.prey.y - state.hunter.y) ** 2
        if left > now and (left, cell) > (best, best_cell):
            best, better, best_cell = left, (move, state), cell
    if better is None:
        return None
    move, state = better
    is_turning = not rules.is_turnwise and (state.prey.dx or state.prey.dy)
    what = "go to" if state.prey[:2] != (x, y) else "turn round at" if is_turning else "stay at"
    about = f"{what} ({state.prey.x}, {state.prey.y})"
    return Appraised(move, about, now, best, "caught" if after.ended == "caught" else "")


def _prey_move(dx: int, dy: int, *, is_turnwise: bool) -> PreyMove | Step:
    """Return the prey's move in a direction; (0, 0) is to stay."""
    if not is_turnwise:
        return PreyMove((dx, dy))
    return Step(HEADINGS[dx, dy]) if dx or dy else PreyMove()


def _path(state: State) -> list[tuple[int, Cell]]:
    """Return the hunter's cells from a position on, each with the steps until it is there, if no wall changes."""
    rules = variants.RULE_SETS[state.settings.rules]
    motion = tuple(state.hunter)
    unit = rules.steps_per_unit
    # In ``gameserver`` the hunter moves in every second turn.
    first = 1 if unit == 1 or state.step % unit == 0 else unit
    path = [(0, state.hunter[:2])]
    for move in range(HORIZON):
        motion = rules.bounce(state.walls, *motion)
        path.append((min(first + move * unit, _horizon(state.settings)), motion[:2]))
    return path


def _most_steps_left(state: State, path: list[tuple[int, Cell]]) -> int:
    """Return the steps until the hunter, on its path, catches a prey that stays or goes on, whichever is later; at most the horizon."""
    stays = _steps_left(state, path, is_going_on=False)
    is_resting = not (state.prey.dx or state.prey.dy)
    if is_resting or variants.RULE_SETS[state.settings.rules].is_turnwise:
        return stays
    return max(stays, _steps_left(state, path, is_going_on=True))


def _steps_left(state: State, path: list[tuple[int, Cell]], *, is_going_on: bool) -> int:
    """Return the steps until the hunter, on its path, catches the prey; the horizon if it doesn't in that time."""
    if state.ended == "caught":
        return 0
    settings, (x, y, dx, dy) = state.settings, state.prey
    rules, radius = variants.RULE_SETS[settings.rules], settings.capture_radius
    for steps, cell in path:
        if is_going_on and steps and (state.step + steps) % settings.prey_period == 0:
            x, y, dx, dy = rules.bounce(state.walls, x, y, dx, dy)
        if abs(cell[0] - x) <= radius and abs(cell[1] - y) <= radius and rules.captures(state.walls, radius, cell, (x, y)):
            return steps
    return _horizon(settings)
