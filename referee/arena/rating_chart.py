"""The chart of a team's ratings over the duels of the arena, in the units of its drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.pages.render import ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.ratings import RatingPoint

#: The size of the drawing, its margins for the numbers at the left, the names at the right and the duels below, and the height of a name.
WIDE, HIGH = 640, 220
_LEFT, _RIGHT, _TOP, _BELOW = 50, 56, 12, 34
_NAME = 14


class VersionLine(NamedTuple):
    """The line of a version: its corners, and where its name stands, which is at the end of the line."""

    number: int
    corners: str
    x: float
    y: float


class RatingChart(NamedTuple):
    """Lines of versions; the ratings on the axis at the left with their places; and the first and the last number of duels."""

    lines: list[VersionLine]
    ratings: list[tuple[float, float]]
    duels: tuple[int, int]


def chart(points: Sequence[tuple[int, RatingPoint]]) -> RatingChart:
    """Return the chart of ratings, each with the number of its version. It has no lines for fewer than two points."""
    if len(points) < 2:
        return RatingChart([], [], (0, 0))
    first, last = min(point.duels for _, point in points), max(point.duels for _, point in points)
    low, high = min(point.elo for _, point in points), max(point.elo for _, point in points)
    wide = max(high - low, 20.0) * 1.1
    low = (low + high - wide) / 2

    def y(elo: float) -> float:
        return round(HIGH - _BELOW - (HIGH - _TOP - _BELOW) * (elo - low) / wide, 1)

    corners: dict[int, list[tuple[float, float]]] = {}
    for number, point in points:
        x = _LEFT + (WIDE - _LEFT - _RIGHT) * (point.duels - first) / (last - first or 1)
        corners.setdefault(number, []).append((round(x, 1), y(point.elo)))
    lines, below = [], 0.0
    # Names that would lie on each other stand below each other.
    for number, places in sorted(corners.items(), key=lambda item: item[1][-1][1]):
        below = max(places[-1][1], below + _NAME)
        lines.append(VersionLine(number, " ".join(f"{x},{y}" for x, y in places), places[-1][0] + 5, below + 4))
    return RatingChart(sorted(lines), [(value, y(value)) for value in ticks(low, wide)], (first, last))
