"""Shapes for spectators, collected during one turn."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Point = tuple[float, float]


class Drawing:
    """The shapes that a bot draws over the board in this turn, in board coordinates. Colours are names or ``#rrggbb``."""

    def __init__(self) -> None:
        self._shapes: list[dict[str, Any]] = []

    def line(self, start: Point, end: Point, color: str | None = None) -> None:
        """A straight line between two points."""
        self._add({"shape": "line", "start": _point(start), "end": _point(end)}, color)

    def rect(self, start: Point, end: Point, color: str | None = None) -> None:
        """A rectangle between two opposite corners."""
        self._add({"shape": "rect", "start": _point(start), "end": _point(end)}, color)

    def text(self, at: Point, text: str, color: str | None = None) -> None:
        """A text at a point."""
        self._add({"shape": "text", "at": _point(at), "text": _clean(text)[:100]}, color)

    def cells(self, cells: Iterable[tuple[int, int]], color: str | None = None) -> None:
        """Single cells, marked."""
        self._add({"shape": "cells", "cells": [[int(x), int(y)] for x, y in cells]}, color)

    def _add(self, shape: dict[str, Any], color: str | None) -> None:
        if color is not None:
            shape["color"] = _clean(color)
        self._shapes.append(shape)

    def take(self) -> list[dict[str, Any]]:
        """Return the shapes so far and clear the drawing."""
        shapes, self._shapes = self._shapes, []
        return shapes


def _point(point: Point) -> list[float]:
    x, y = point
    return [float(x), float(y)]


def _clean(text: object) -> str:
    """A text that JSON can carry: without lone surrogates."""
    return str(text).encode("utf-8", "replace").decode()
