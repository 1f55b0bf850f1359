"""Positions of Evasion with which ``referee check`` tests bots, for each rule set and seat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import DECISIVE, EDGE, EMPTY, FULL, LAST, LONG, SETTINGS, STUCK, Position, Samples
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.game import GAME
from referee.games.evasion.state import Body, Settings, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Json, Seat

#: The most walls that a setting allows: about 64 KiB of state.
_MOST_WALLS = 1_000
#: Rows and columns from one short wall to the next, and the length of such a wall.
_ROWS, _COLUMNS, _LENGTH = 4, 6, 3


def positions(settings: Settings, seat: Seat) -> list[Position]:
    """Return positions in which the seat is asked, for the settings of a match."""
    samples = []
    for kind, about, state in (*_usual(settings), *_other_settings(settings)):
        position = _asked(state, seat, is_last=kind == LAST)
        if position is not None:
            samples.append(Position(kind, about, state.settings, position, position.step))
    return samples


def move(_state: State, _seat: Seat) -> Json:
    """Return the move that does nothing."""
    return {}


def _asked(state: State, seat: Seat, *, is_last: bool) -> State | None:
    """Return the position at the nearest step in which the seat is asked: the last one before the step limit, or the first from this step on."""
    period = 2 * max(state.settings.prey_period, 1) + 2
    steps = range(state.settings.max_steps - 1, -1, -1) if is_last else range(state.step, state.step + period)
    for step in steps:
        position = state._replace(step=step)
        if seat in GAME.movers(position) and step < state.settings.max_steps:
            return position
    return None


def _usual(settings: Settings) -> Iterable[tuple[str, str, State]]:
    """Positions that a match with these settings can reach."""
    start = GAME.start(settings)
    width, height, reach = settings.width, settings.height, settings.capture_radius
    yield EMPTY, "the start, no walls", start
    yield EMPTY, "no walls, the hunter in the middle", start._replace(hunter=Body(width // 2, height // 3, -1, 1), step=100)
    full = _with_walls(start, settings.max_walls)
    yield FULL, f"{len(full.walls)} walls, the most that are allowed", full._replace(step=_some_steps(settings))
    yield FULL, "the most walls, and none may be built yet", full._replace(step=_some_steps(settings), wall_timer=settings.cooldown)
    yield LAST, "the last step of the match", full
    for about, hunter, prey in (
        ("the hunter flies into a corner", Body(width - 1, height - 1, 1, 1), Body(0, 0, 0, 0)),
        ("the prey runs into a corner", Body(width // 2, height // 2, 1, -1), Body(width - 1, 0, 1, -1)),
        ("both move along an edge", Body(0, height // 2, -1, 1), Body(width - 1, height // 3, 1, 0)),
    ):
        if abs(hunter.x - prey.x) + abs(hunter.y - prey.y) > 2 * reach:
            yield EDGE, about, start._replace(hunter=hunter, prey=prey, step=_some_steps(settings))
    x, y = width // 2, height // 2
    if width > 4 * reach + 12:
        near = Body(x + reach + 2, y, -1, 0)
        yield (
            DECISIVE,
            "the hunter is about to catch the prey",
            start._replace(hunter=Body(x, y, 1, 1), prey=near, step=_some_steps(settings)),
        )
        yield (
            STUCK,
            "walls leave the prey a single cell",
            _boxed(start, near.x, near.y)._replace(hunter=Body(1, 1, 1, 1), prey=near._replace(dx=0), step=_some_steps(settings)),
        )
        yield (
            STUCK,
            "walls leave the hunter a single cell",
            _boxed(start, x, y)._replace(hunter=Body(x, y, 1, 1), prey=Body(1, 1, 0, 0), step=_some_steps(settings)),
        )


def _other_settings(settings: Settings) -> Iterable[tuple[str, str, State]]:
    """A long state, and the first positions of matches with other settings."""
    crowded = GAME.start(settings._replace(max_walls=_MOST_WALLS))
    yield LONG, f"{_MOST_WALLS:,} walls", _with_walls(crowded, _MOST_WALLS)._replace(step=_some_steps(settings))
    changed: list[tuple[str, dict[str, Json]]] = [
        ("a small board of 40 x 30", {"width": 40, "height": 30, "hunter": (0, 0, 1, 1), "prey": (30, 20)}),
        ("a board of 700 x 150", {"width": 700, "height": 150, "hunter": (3, 2, 1, 1), "prey": (600, 100)}),
        ("no walls allowed", {"max_walls": 0}),
        ("a wall in each step", {"cooldown": 0, "max_walls": 50}),
    ]
    for about, values in changed:
        yield SETTINGS, about, GAME.start(settings._replace(**values))


def _some_steps(settings: Settings) -> int:
    """A step inside the match, after a few walls could have been built."""
    return min(500, max(0, settings.max_steps // 2))


def _level(number: int, x1: int, x2: int, y: int) -> Wall:
    return Wall(number, HORIZONTAL, x1, y, x2, y)


def _with_walls(state: State, count: int) -> State:
    """Return the position with this number of short walls, none near a player; with fewer if the board has no room for them."""
    width, height = state.settings.width, state.settings.height
    players = (state.hunter, state.prey)
    walls: list[Wall] = []
    for y in range(2, height - 2, _ROWS):
        for x in range(2, width - _LENGTH - 2, _COLUMNS):
            if len(walls) == count:
                break
            if all(abs(body.y - y) > 2 or not x - 2 <= body.x <= x + _LENGTH + 1 for body in players):
                walls.append(_level(len(walls), x, x + _LENGTH - 1, y))
    return state._replace(walls=Walls(width, height, walls), next_id=len(walls))


def _boxed(state: State, x: int, y: int) -> State:
    """Return the position with four walls around a cell."""
    walls = [
        _level(0, x - 1, x + 1, y - 1),
        _level(1, x - 1, x + 1, y + 1),
        Wall(2, VERTICAL, x - 1, y, x - 1, y),
        Wall(3, VERTICAL, x + 1, y, x + 1, y),
    ]
    return state._replace(walls=Walls(state.settings.width, state.settings.height, walls), next_id=len(walls))


SAMPLES = Samples(positions, move, frozenset({"wall-refused", "unknown-wall", "invalid-command"}))
