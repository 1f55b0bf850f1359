"""The shapes of which games make a picture of a position. They can be drawn in any format: SVG, PNG, GIF.

Lengths are in cells; x grows to the right and y downwards from the upper left corner of the board. Colours are written ``#rrggbb``. The
games use Okabe and Ito's colours, which people with any kind of colour vision can distinguish. Percentages refer to the board's
width. In a small picture they are larger, so that marks stay legible.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Point = tuple[float, float]

#: The paper, the board, its grid, writing and lesser writing: the viewer's colours on a light page.
PAPER, BOARD, GRID, INK, FAINT = "#ffffff", "#fbfbf8", "#e4e4de", "#1d2329", "#5a636c"
#: How many parts of a trail fade.
_FADES = 8


class Box(NamedTuple):
    """A filled rectangle. It is at least ``least`` percent thick, and ``grow`` percent larger on each side."""

    x: float
    y: float
    width: float
    height: float
    color: str
    opacity: float = 1.0
    least: float = 0.5
    grow: float = 0.0


class Area(NamedTuple):
    """Many rectangles (x, y, width, height) that don't overlap, filled as one."""

    boxes: tuple[tuple[float, float, float, float], ...]
    color: str
    opacity: float = 1.0


class Line(NamedTuple):
    """A line through points. ``dash`` holds the lengths of strokes and gaps; ``width`` and ``dash`` are in percent."""

    points: tuple[Point, ...]
    color: str
    width: float
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


class Strokes(NamedTuple):
    """Many straight lines of one colour, from point to point. ``width`` is in percent, but at least ``least`` cells."""

    lines: tuple[tuple[Point, Point], ...]
    color: str
    width: float
    least: float = 0.0
    opacity: float = 1.0


class Shape(NamedTuple):
    """A polygon around a place. ``points`` are relative to ``middle``, in units of ``size`` cells, but at least of ``least`` percent.

    It is filled and has an outline of the colour ``rim`` ("" for none), ``rim_width`` percent wide. A hollow one is a thick line with a rim.
    """

    middle: Point
    points: tuple[Point, ...]
    color: str
    size: float = 0.0
    least: float = 1.0
    is_hollow: bool = False
    rim: str = PAPER
    rim_width: float = 0.25


class Disc(NamedTuple):
    """A filled disc with an outline of the colour ``rim``, or only a circle. The radius is at least ``least`` percent.

    ``is_ring``: a thin dashed circle. ``is_hollow``: a thick circle with a rim.
    """

    middle: Point
    radius: float
    least: float
    color: str
    is_ring: bool = False
    is_hollow: bool = False
    rim: str = PAPER


class Letter(NamedTuple):
    """A short text around its middle, ``size`` cells high. Where it would be too small to read it is left out."""

    middle: Point
    text: str
    size: float
    color: str


class Label(NamedTuple):
    """A text beside a place: in a box with an outline above the place, or else written in its colour from the place on.

    A box stays inside the picture and covers no player if there is room elsewhere. ``is_below``: it is below the place if there is room.
    """

    place: Point
    text: str
    color: str
    is_boxed: bool = True
    is_below: bool = False


class Picture(NamedTuple):
    """A board of ``width`` x ``height`` cells, its parts from back to front, and the texts below it.

    Below the board are the players: ``names`` are their colours, their names, which may be cut, and texts after the names, such as a score.
    Below them are ``caption`` and ``ending``: where and why the match ended. ``marks`` are places that no label should cover.
    """

    width: int
    height: int
    parts: tuple[Box | Area | Line | Strokes | Shape | Disc | Letter | Label, ...]
    caption: str
    names: tuple[tuple[str, str, str], ...] = ()
    ending: str = ""
    marks: tuple[Point, ...] = ()


def trail(
    places: Sequence[Point],
    color: str,
    dash: tuple[float, ...],
    steps: int,
    width: float,
    least: float,
    merged: Callable[[Sequence[Point]], Sequence[Point]] = lambda path: path,
) -> Iterator[Line]:
    """Yield the path of one player, fainter the older it is, to ``least``: this takes ``steps``. The newest part is twice as wide as ``width``.

    ``merged`` leaves out points of a part that aren't needed.
    """
    last = len(places) - 1
    fading = min(last, steps)
    for part in range(_FADES):
        start = last - fading + fading * part // _FADES if part else 0
        end = last - fading + fading * (part + 1) // _FADES
        points = tuple(merged([place for place, _ in groupby(places[start : end + 1])]))
        if len(points) > 1:
            share = (part + 1) / _FADES
            yield Line(points, color, width + width * share, dash, least + (0.9 - least) * share**1.6)
