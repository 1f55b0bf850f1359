"""A position of Rectangle as a picture: paint, claimed cells, robots. This module is the game's ``PictureView``."""

from __future__ import annotations

from itertools import groupby

from referee.games.picture import Box, Disc, Line, Picture
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.rectangle.state import State

#: Okabe and Ito's colours first, then further ones that stay apart by lightness.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#8c6d31", "#4d4d4d", "#2f4b7c")


def _color_of(player: int) -> str:
    """Return a player's colour. Players that share a colour differ by their letters."""
    return COLORS[player % len(COLORS)]


def draw(states: Sequence[State]) -> Picture:
    """The last position: paint in light colours, claims in full ones with a line through, robots as discs."""
    state = states[-1]
    n = state.settings.n
    parts: list[Box | Line | Disc] = []
    for row in range(n):
        for first, last, code in _runs(state.cells[row * n : (row + 1) * n]):
            if code >= 97:
                parts.append(Box(first, row, last - first + 1, 1, _light(_color_of(code - 97))))
            else:
                claimed = 65 <= code <= 90
                parts.append(Box(first, row, last - first + 1, 1, _color_of(code - 65) if claimed else "#707c78"))
                parts.append(Line(((first, row + 0.5), (last + 1, row + 0.5)), "#ffffff", 0.25, (0.5, 0.5), 0.6))
    parts += _robots(state)
    scores = ", ".join(f"{seat} {score:,}" for seat, score in zip(state.seats, state.scores, strict=True))
    return Picture(n, n, tuple(parts), f"turn {max(0, state.turn):,}: {scores}")


def place(_state: State, x: float, y: float) -> tuple[float, float]:
    """Return the middle of a cell in the picture; y is its row."""
    return x + 0.5, y + 0.5


def anchor(state: State, seat: str) -> tuple[float, float] | None:
    """Return where a player's first robot stands in the picture; None before the robots are placed."""
    if seat not in state.seats or not state.robots:
        return None
    row, column = state.robots[state.seats.index(seat)][0]
    return place(state, column, row)


def color(seat: str) -> str:
    """Return the colour of a player."""
    return _color_of(max(0, ord(seat[:1] or "a") - ord("a")))


def _robots(state: State) -> Iterator[Disc]:
    """Discs; players that share a cell stand side by side in it."""
    owners: dict[tuple[int, int], list[int]] = {}
    for player, cells in enumerate(state.robots):
        for cell in dict.fromkeys(cells):
            owners.setdefault(cell, []).append(player)
    for (row, column), players in owners.items():
        radius, least = (0.32, 0.5) if len(players) == 1 else (0.2, 0.3)
        for index, player in enumerate(players):
            aside = (index + 0.5) / len(players) - 0.5
            yield Disc((column + 0.5 + 0.8 * aside, row + 0.5), radius, least, _color_of(player))


def _runs(cells: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of equal cells in a row, without unpainted ones: first cell, last cell, code."""
    first = 0
    for code, run in groupby(cells):
        end = first + len(list(run))
        if code != ord("."):
            yield first, end - 1, code
        first = end


def _light(color: str) -> str:
    """A colour mixed with as much white."""
    return "#" + "".join(f"{(int(color[at : at + 2], 16) + 255) // 2:02x}" for at in (1, 3, 5))
