"""A position as a picture made of few kinds of shapes, which can be drawn in any form: SVG, PNG, GIF.

Units are cells; x grows to the right and y downwards from the upper left corner of the board. Colours are ``#rrggbb``; those used by
games are Okabe and Ito's, which people with any kind of colour vision can tell apart.
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


class Line(NamedTuple):
    """A line through points; ``dash`` are the lengths of strokes and gaps. ``width`` and ``dash`` are in hundredths of the picture's width."""

    points: tuple[Point, ...]
    color: str
    width: float
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


class Shape(NamedTuple):
    """A filled polygon with an edge; its size is in hundredths of the picture's width, around a middle in cells."""

    middle: Point
    points: tuple[Point, ...]
    color: str


class Disc(NamedTuple):
    """A filled disc with an edge, or where ``is_ring`` a circle; its radius in cells, but at least so many hundredths of the width."""

    middle: Point
    radius: float
    least: float
    color: str
    is_ring: bool = False


class Picture(NamedTuple):
    """A board of ``width`` x ``height`` cells with what is on it, from back to front, and a line of text below."""

    width: int
    height: int
    parts: tuple[Box | Line | Shape | Disc, ...]
    caption: str
