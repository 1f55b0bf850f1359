"""The shapes of which games make a picture of a position. They can be drawn in any format: SVG, PNG, GIF.

Lengths are in cells; x grows to the right and y downwards from the upper left corner of the board. Colours are written ``#rrggbb``. The
games use Okabe and Ito's colours, which people with any kind of colour vision can distinguish.
"""

from __future__ import annotations

from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    Point = tuple[float, float]


class Box(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    color: str
    opacity: float = 1.0


class Line(NamedTuple):
    """A line through points. ``dash`` holds the lengths of strokes and gaps; ``width`` and ``dash`` are in percent of the picture's width."""

    points: tuple[Point, ...]
    color: str
    width: float
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


class Shape(NamedTuple):
    """A filled polygon with an outline. ``points`` are relative to ``middle``, in percent of the picture's width."""

    middle: Point
    points: tuple[Point, ...]
    color: str


class Disc(NamedTuple):
    """A filled disc with an outline, or only a circle (``is_ring``). The radius is at least ``least`` percent of the picture's width."""

    middle: Point
    radius: float
    least: float
    color: str
    is_ring: bool = False


class Label(NamedTuple):
    """A text beside a place: in a box with an outline above the place, or else written in its colour from the place on.

    A box stays inside the picture. ``is_below``: it stands below the place.
    """

    place: Point
    text: str
    color: str
    is_boxed: bool = True
    is_below: bool = False


class Picture(NamedTuple):
    """A board of ``width`` x ``height`` cells, its parts from back to front, and a line of text below."""

    width: int
    height: int
    parts: tuple[Box | Line | Shape | Disc | Label, ...]
    caption: str
