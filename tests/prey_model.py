"""An independent model of "can the prey stay free for ever": every prey is tried, cell by cell and step by step.

It shares nothing with the analysis but the engine's functions for one move: no bit boards, no windows, no way of the hunter known ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.evasion.board.wall import Wall
from referee.games.evasion.board.walls import Walls, trace
from referee.games.evasion.game import GAME
from referee.games.evasion.state import PREY, Body, PreyMove, State, To

if TYPE_CHECKING:
    import random

    from lasso import Lasso

    Cell = tuple[int, int]
    Prey = tuple[Cell, int]

DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def steps_to_capture(state: State) -> int | None:
    """The steps after which the best prey is caught; None if it can evade for ever."""
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
    """Whether a prey on that cell, were it there now, could evade for ever."""
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
