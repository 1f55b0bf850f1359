"""A position of Maze as a picture: walls, the exit, both players and their paths. This module is the game's ``PictureView``."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

from referee.games.maze.layouts import WALL
from referee.games.picture import INK, Area, Box, Letter, Line, Picture, Shape, Strokes, trail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.maze.state import State

    Point = tuple[float, float]
    Points = tuple[Point, ...]

THIEF_COLOR, POLICEMAN_COLOR, EXIT_COLOR = "#d55e00", "#0072b2", "#009e73"
THIEF_TRAIL, POLICEMAN_TRAIL = "#c04f00", "#0072b2"
WALL_COLOR, WALL_FACE, WALL_EDGE = "#64727f", "#20303a", "#45525d"
SKIN, DARK, LEAF, CAP, BADGE = "#f5dcc3", "#000000", "#003d2c", "#00324f", "#ffd75e"
#: The least size of a figure, in percent of the board's width.
LEAST = 2.8
#: How many steps the fading of a trail takes.
_FADING_STEPS = 80
#: How far the two trails lie from the middles of squares.
_ASIDE = 0.08


def _ellipse(x: float, y: float, wide: float, high: float, first: float = 0.0, last: float = 2.0) -> Points:
    """Return an arc of an ellipse around (x, y), from one angle to another in half turns, clockwise from the right."""
    return tuple(
        (x + wide * cos(pi * (first + (last - first) * at / 20)), y + high * sin(pi * (first + (last - first) * at / 20)))
        for at in range(21)
    )


def _bend(start: Point, first: Point, second: Point, end: Point) -> Points:
    """Return a cubic Bezier curve without its start."""
    weights = (((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in (at / 8 for at in range(1, 9)))
    return tuple(
        (
            sum(w * p[0] for w, p in zip(each, (start, first, second, end), strict=True)),
            sum(w * p[1] for w, p in zip(each, (start, first, second, end), strict=True)),
        )
        for each in weights
    )


def _stripe(top: float) -> Points:
    """Return a stripe across the shirt: as wide as the body there."""
    low = top + 0.055
    return ((-_half(top), top), (_half(top), top), (_half(low), low), (-_half(low), low))


def _half(y: float) -> float:
    """Return half of the body's width at a height below the neck."""
    right = [point for point in _BODY if point[0] > 0 and point[1] > 0]
    return min(right, key=lambda point: abs(point[1] - y))[0]


#: The middle of the head and its radius, in squares from the middle of the figure's square.
_HEAD_Y, _HEAD = -0.17, 0.18
#: A head on shoulders: from the left shoulder over the neck and the head to the right shoulder.
_BODY: Points = (
    (-0.3, 0.4), *_bend((-0.3, 0.4), (-0.3, 0.05), (-0.16, 0.0), (-0.1, -0.02)), *_ellipse(0, _HEAD_Y, _HEAD, _HEAD, 0.68, 2.32),
    *_bend((0.1, -0.02), (0.16, 0.0), (0.3, 0.05), (0.3, 0.4)),
)  # fmt: skip
_FACE = _ellipse(0, _HEAD_Y, _HEAD, _HEAD)
_MASK: Points = ((-0.166, -0.24), (0.166, -0.24), (0.174, -0.13), (-0.174, -0.13))
#: The cap: the upper part of the head, and its peak.
_CROWN = _ellipse(0, _HEAD_Y, _HEAD, _HEAD, 1.0, 2.0)
_PEAK: Points = ((-0.23, -0.225), (-0.215, -0.25), (0.215, -0.25), (0.23, -0.225), (0.215, -0.195), (-0.215, -0.195))
_BADGE: Points = tuple(
    (0.11 + far * cos(pi * at / 5 - pi / 2), 0.18 + far * sin(pi * at / 5 - pi / 2))
    for at in range(10)
    for far in (0.034 if at % 2 else 0.075,)
)


def _eyes(y: float) -> tuple[Points, Points]:
    return _ellipse(-0.07, y, 0.028, 0.028), _ellipse(0.07, y, 0.028, 0.028)


def draw(states: Sequence[State]) -> Picture:
    """Return a picture of the last of several positions, with the paths of both players through the earlier ones."""
    state = states[-1]
    layout = state.settings.layout
    parts: list[Area | Box | Line | Strokes | Shape | Letter] = [*_walls(state), *_door(state)]
    for places, color, dash, aside in (
        ([one.thief for one in states], THIEF_TRAIL, (), -_ASIDE),
        ([one.policeman for one in states], POLICEMAN_TRAIL, (0.55, 0.45), _ASIDE),
    ):
        path = [(x + aside, y + aside) for x, y in (_middle(state, place) for place in places)]
        parts += trail(path, color, dash, _FADING_STEPS, 0.17, 0.15)
    # Two on one square stand side by side.
    aside = 0.2 if state.thief == state.policeman else 0.0
    eyes, dark_eyes = _eyes(-0.185), _eyes(-0.13)
    shirt = tuple((_stripe(top), "#ffffff") for top in (0.1, 0.22, 0.34))
    mask = ((_FACE, SKIN), (_MASK, DARK), *((eye, "#ffffff") for eye in eyes))
    cap = ((_FACE, SKIN), *((eye, DARK) for eye in dark_eyes), (_CROWN, CAP), (_PEAK, CAP), (_BADGE, BADGE))
    policeman, thief = _middle(state, state.policeman), _middle(state, state.thief)
    parts += _figure((policeman[0] + aside, policeman[1]), POLICEMAN_COLOR, cap)
    parts += _figure((thief[0] - aside, thief[1]), THIEF_COLOR, (*shirt, *mask))
    return Picture(layout.width, layout.height, tuple(parts), f"move {state.moves:,}", marks=(policeman, thief))


def ending(state: State) -> str:
    """Return where the game ended; empty while it is running."""
    if not state.ended:
        return ""
    squares = state.settings.layout.squares
    thief, policeman = ("row {}, column {}".format(*squares[place]) for place in (state.thief, state.policeman))
    if state.ended == "caught":
        return f"Caught at {thief}."
    if state.ended == "escaped":
        return f"Out through the exit at {thief}; the policeman is at {policeman}."
    return f"The thief is at {thief}; the policeman is at {policeman}."


def _walls(state: State) -> Iterator[Area | Strokes]:
    """Yield the walls: blocks with a darker face below."""
    blocks = [(column, row) for row, text in enumerate(state.settings.layout.rows) for column, sign in enumerate(text) if sign == WALL]
    if not blocks:
        return
    yield Area(tuple((x, y + 0.12, 1, 1) for x, y in blocks), WALL_FACE)
    yield Area(tuple((x, y, 1, 1) for x, y in blocks), WALL_COLOR)
    sides = {
        side
        for x, y in blocks
        for side in (((x, y), (x + 1, y)), ((x, y + 1), (x + 1, y + 1)), ((x, y), (x, y + 1)), ((x + 1, y), (x + 1, y + 1)))
    }
    yield Strokes(tuple(sorted(sides)), WALL_EDGE, 0.1, 0.03)


def _door(state: State) -> Iterator[Box | Letter]:
    """Yield the exit: a door that stands open, or the doorway alone where the thief stands in it."""
    layout = state.settings.layout
    row, column = layout.squares[layout.exit]
    x, y = column - 1, row - 1
    yield Box(x, y, 1, 1, INK)
    yield Box(x + 0.05, y + 0.05, 0.9, 0.9, EXIT_COLOR)
    if state.thief == layout.exit:
        yield Box(x + 0.2, y + 0.14, 0.66, 0.81, "#ffffff")
        yield Box(x + 0.11, y + 0.17, 0.09, 0.78, LEAF)
    else:
        yield Box(x + 0.32, y + 0.1, 0.36, 0.52, "#ffffff")
        yield Box(x + 0.32, y + 0.1, 0.21, 0.55, LEAF)
        yield Letter((x + 0.5, y + 0.8), "EXIT", 0.27, "#000000")


def _figure(middle: Point, color: str, marks: tuple[tuple[Points, str], ...]) -> Iterator[Shape]:
    """Yield a figure around a place: a rim that keeps it apart from what lies below, the body, and what tells one figure from the other."""
    yield Shape(middle, _BODY, INK, 1.0, LEAST, rim_width=0.9)
    yield Shape(middle, _BODY, color, 1.0, LEAST, rim=INK, rim_width=0.25)
    for points, own in marks:
        yield Shape(middle, points, own, 1.0, LEAST, rim="")


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
