"""A position of Maze as a picture: walls, the exit, both players and their paths. This module is the game's ``PictureView``."""

from __future__ import annotations

from itertools import groupby
from math import cos, pi, sin

from referee.games.maze.layouts import WALL
from referee.games.picture import Box, Disc, Line, Picture, Shape
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.maze.state import State

    Points = tuple[tuple[float, float], ...]

THIEF_COLOR, POLICEMAN_COLOR, EXIT_COLOR, WALL_COLOR = "#d55e00", "#0072b2", "#009e73", "#5a6663"
SKIN, DARK, LEAF, CAP = "#f5dcc3", "#000000", "#003d2c", "#00324f"
#: The least size of a figure, in percent of the picture's width.
LEAST = 3.0
#: The middle of the head and its radius, in squares from the middle of the figure's square.
_HEAD_Y, _HEAD = -0.17, 0.18
#: A head on shoulders: the head from the left side of the neck over the top to the right one, then the shoulders.
_BODY: Points = (
    (-0.3, 0.4), (-0.28, 0.22), (-0.22, 0.08), (-0.14, 0.0),
    *((_HEAD * cos(pi * (0.68 + 0.082 * at)), _HEAD_Y + _HEAD * sin(pi * (0.68 + 0.082 * at))) for at in range(21)),
    (0.14, 0.0), (0.22, 0.08), (0.28, 0.22), (0.3, 0.4),
)  # fmt: skip
_MASK: Points = ((-0.18, -0.25), (0.18, -0.25), (0.18, -0.12), (-0.18, -0.12))
_STRIPE: Points = ((-0.21, 0.18), (0.21, 0.18), (0.23, 0.26), (-0.23, 0.26))
_PEAKED_CAP: Points = ((-0.17, -0.4), (0.17, -0.4), (0.2, -0.26), (0.24, -0.2), (-0.24, -0.2), (-0.2, -0.26))


def draw(states: Sequence[State]) -> Picture:
    """Return a picture of the last of several positions, with the paths of both players through the earlier ones."""
    state = states[-1]
    layout = state.settings.layout
    parts: list[Box | Line | Shape | Disc] = [
        Box(column, row, 1, 1, WALL_COLOR) for row, text in enumerate(layout.rows) for column, sign in enumerate(text) if sign == WALL
    ]
    parts += _door(state)
    for color, places, dash in (
        (THIEF_COLOR, [one.thief for one in states], ()),
        (POLICEMAN_COLOR, [one.policeman for one in states], (1.0, 0.7)),
    ):
        points = [_middle(state, place) for place, _ in groupby(places)]
        if len(points) > 1:
            parts.append(Line(tuple(points), color, 0.5, dash, 0.75))
    # Two on one square stand side by side.
    aside = 0.2 if state.thief == state.policeman else 0.0
    parts += _figure(state, state.policeman, aside, POLICEMAN_COLOR, ((_PEAKED_CAP, CAP),))
    parts += _figure(state, state.thief, -aside, THIEF_COLOR, ((_MASK, DARK), (_STRIPE, "#ffffff")))
    return Picture(layout.width, layout.height, tuple(parts), f"move {state.moves:,}")


def _door(state: State) -> Iterator[Box]:
    """Yield the exit: a door that stands open, or the doorway alone where the thief stands in it."""
    layout = state.settings.layout
    row, column = layout.squares[layout.exit]
    yield Box(column - 1, row - 1, 1, 1, EXIT_COLOR)
    if state.thief == layout.exit:
        yield Box(column - 0.84, row - 0.86, 0.7, 0.86, "#ffffff")
    else:
        yield Box(column - 0.7, row - 0.86, 0.4, 0.74, "#ffffff")
        yield Box(column - 0.7, row - 0.86, 0.24, 0.74, LEAF)


def _figure(state: State, place: int, aside: float, color: str, marks: tuple[tuple[Points, str], ...]) -> Iterator[Shape | Disc]:
    """Yield a figure on a square: body, face, and what tells one figure from the other. On a large board it is larger than its square."""
    width = state.settings.layout.width
    size = max(1.0, LEAST * width / 100)
    x, y = _middle(state, place)
    middle = (x + aside, y)
    percent = 100 * size / width

    def shape(points: Points, color: str) -> Shape:
        return Shape(middle, tuple((percent * x, percent * y) for x, y in points), color)

    yield shape(_BODY, color)
    yield Disc((middle[0], y + _HEAD_Y * size), 0.15 * size, 0.0, SKIN)
    for points, own in marks:
        yield shape(points, own)


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
