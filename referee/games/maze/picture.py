"""A position of Maze as a picture: walls, the exit, both players and their paths. This module is the game's ``PictureView``."""

from __future__ import annotations

from itertools import groupby

from referee.games.maze.layouts import WALL
from referee.games.picture import Box, Disc, Line, Picture, Shape
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.maze.state import State

THIEF_COLOR, POLICEMAN_COLOR, EXIT_COLOR, WALL_COLOR = "#d55e00", "#0072b2", "#009e73", "#5a6663"


def draw(states: Sequence[State]) -> Picture:
    """The last position of several, with the paths of both players through the earlier ones."""
    state = states[-1]
    layout = state.settings.layout
    parts: list[Box | Line | Shape | Disc] = [
        Box(column, row, 1, 1, WALL_COLOR) for row, text in enumerate(layout.rows) for column, sign in enumerate(text) if sign == WALL
    ]
    row, column = layout.squares[layout.exit]
    parts.append(Box(column - 1, row - 1, 1, 1, EXIT_COLOR))
    for color, places, dash in (
        (THIEF_COLOR, [one.thief for one in states], ()),
        (POLICEMAN_COLOR, [one.policeman for one in states], (1.0, 0.7)),
    ):
        points = [_middle(state, place) for place, _ in groupby(places)]
        if len(points) > 1:
            parts.append(Line(tuple(points), color, 0.5, dash, 0.75))
    parts.append(Disc(_middle(state, state.thief), 0.34, 0.9, THIEF_COLOR))
    square = tuple((1.6 * x, 1.6 * y) for x, y in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
    parts.append(Shape(_middle(state, state.policeman), square, POLICEMAN_COLOR))
    return Picture(layout.width, layout.height, tuple(parts), f"move {state.moves:,}")


def place(_state: State, x: float, y: float) -> tuple[float, float]:
    """Return the middle of a square in the picture; rows and columns count from 1."""
    return x - 0.5, y - 0.5


def anchor(state: State, seat: str) -> tuple[float, float] | None:
    """Return where a player stands in the picture."""
    where = {"thief": state.thief, "policeman": state.policeman}.get(seat)
    return None if where is None else _middle(state, where)


def color(seat: str) -> str:
    """Return the colour of a player."""
    return THIEF_COLOR if seat == "thief" else POLICEMAN_COLOR


def _middle(state: State, place: int) -> tuple[float, float]:
    row, column = state.settings.layout.squares[place]
    return column - 0.5, row - 0.5
