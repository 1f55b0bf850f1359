"""The number of states that a hunter's search reaches in a given time: with the forward model, and with the engine's plain states."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from referee.games.evasion import GAME
from referee.games.evasion.board.walls import HORIZONTAL, VERTICAL, Kind, Wall, Walls, trace
from referee.games.evasion.forward import Forward, Room
from sdk.evasion import Build, State

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = (HORIZONTAL, VERTICAL)
_SECONDS = 0.05


def position() -> State:
    """The middle of a game: some walls, a room of a third of the board, and the hunter in it."""
    settings = GAME.codec.settings("classic", {})
    start = GAME.start(settings)
    plan: tuple[tuple[Kind, int, int], ...] = ((VERTICAL, 90, 5), (HORIZONTAL, 120, 60), (VERTICAL, 280, 100))
    walls = Walls(settings.width, settings.height)
    for number, (kind, x, y) in enumerate(plan):
        wall = trace(walls, kind, x, y, None, number)
        assert isinstance(wall, Wall)
        walls = walls.adding(wall)
    made: State = tuple.__new__(State, start._replace(walls=walls, hunter=start.hunter._replace(x=95, y=110), next_id=3))
    return made


def with_forward(state: State, until: Callable[[], bool]) -> tuple[int, int]:
    """As ``searcher`` looks ahead; the steps it gets through and the walls that it judges."""
    forward = Forward(state)
    room = Room(forward)
    judged = 0
    while not until() and not forward.ended:
        for kind in _KINDS:
            room.left_by(forward, kind)
            judged += 1
        forward.step()
    return forward.looked_at, judged


def with_states(state: State, until: Callable[[], bool]) -> tuple[int, int]:
    """The same by what the SDK has for everybody: ``can_build``, ``after`` and ``reach``."""
    steps = judged = 0
    while not until() and not state.is_over:
        for kind in _KINDS:
            if state.can_build(kind):
                len(state.after(Build(kind)).reach("prey"))
            judged += 1
        state = state.after()
        steps += 1
    return steps, judged


def looked_at(search: Callable[[State, Callable[[], bool]], tuple[int, int]]) -> float:
    """The states, those after a step and those with a wall, that a search looks at in a twentieth of a second."""
    state = position()
    deadline = time.perf_counter() + _SECONDS
    return float(sum(search(state, lambda: time.perf_counter() > deadline)))
