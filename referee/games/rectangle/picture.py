"""A position of Rectangle as a picture: paint, claimed cells, robots. This module is the game's ``PictureView``."""

from __future__ import annotations

import re
from itertools import groupby
from math import cos, pi, sin
from typing import TYPE_CHECKING

from referee.games.picture import INK, PAPER, Area, Disc, Letter, Picture, Strokes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from referee.games.rectangle.state import State

#: Okabe and Ito's colours first, then further ones that stay apart by lightness.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#8c6d31", "#4d4d4d", "#2f4b7c")


_UNPAINTED, _SPENT, _FIRST_CLAIMED, _FIRST_PAINTED = ord("."), ord("#"), ord("A"), ord("a")
#: How strong the colours of paint and of claims are.
_PAINT, _CLAIM = 0.42, 0.9
#: The directions of the hatches, as lines across a cell: from and to.
_HATCHES = ((0, 1, 1, 0), (0, 0, 1, 1), (0, 0.5, 1, 0.5), (0.5, 0, 0.5, 1))
#: The sides of a cell: the neighbour, and the ends of the side.
_SIDES = ((0, -1, 0, 0, 1, 0), (0, 1, 0, 1, 1, 1), (-1, 0, 0, 0, 0, 1), (1, 0, 1, 0, 1, 1))
_SPENT_COLOR = "#707c78"


def _color_of(player: int) -> str:
    """Return a player's colour. Players that share a colour differ by their letters."""
    return COLORS[player % len(COLORS)]


def draw(states: Sequence[State]) -> Picture:
    """The last position: paint in light colours, claims in full ones with a hatch and an outline, robots as discs with their letters."""
    state = states[-1]
    n = state.settings.n
    parts: list[Area | Strokes | Disc | Letter] = [*_ground(state)]
    if len(states) > 1:
        parts += _new_rings(states[-2], state)
    parts += _robots(state)
    marks = tuple((column + 0.5, row + 0.5) for cells in state.robots for row, column in cells)
    return Picture(n, n, tuple(parts), f"turn {state.turn:,}" if state.turn >= 0 else "before the set-up", marks=marks)


def standings(state: State) -> dict[str, str]:
    """Return the score of each player, in words."""
    return {seat: f"{score:,}" for seat, score in zip(state.seats, state.scores, strict=True)}


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a sentence about the end of the game with names in place of the letters of the players."""
    first = re.match(r"((?:[a-z], )*(?:[a-z] and )?[a-z])(?= wins with | share the )", text)
    if first is None:
        return text
    return re.sub(r"\b[a-z]\b", lambda letter: names.get(letter[0], letter[0]), first[0]) + text[first.end() :]


def _ground(state: State) -> Iterator[Area | Strokes]:
    """Yield paint, claims, their hatches and their outlines."""
    n, cells = state.settings.n, state.cells
    boxes: dict[int, list[tuple[int, int, int, int]]] = {}
    for row in range(n):
        for first, last, code in _runs(cells[row * n : (row + 1) * n]):
            boxes.setdefault(code, []).append((first, row, last - first + 1, 1))
    for code, found in boxes.items():
        yield Area(tuple(found), _owners(code), _PAINT if code >= _FIRST_PAINTED else _CLAIM)
    for code, found in boxes.items():
        if code < _FIRST_PAINTED:
            x, y, to_x, to_y = _HATCHES[max(0, code - _FIRST_CLAIMED) % len(_HATCHES)]
            lines = [((at + x, row + y), (at + to_x, row + to_y)) for left, row, wide, _ in found for at in range(left, left + wide)]
            yield Strokes(tuple(lines), "#ffffff", 0.11, 0.08, 0.6)
    for code in boxes:
        if code < _FIRST_PAINTED:
            outline = _border({at for at, each in enumerate(cells) if each == code}, n)
            yield Strokes(outline, INK, 0.22, 0.12)
            yield Strokes(outline, _owners(code), 0.11, 0.06)


def _new_rings(before: State, state: State) -> Iterator[Strokes]:
    """Yield the rings that the last step closed, around the cells that were claimed in it."""
    n = state.settings.n
    areas: dict[int, set[int]] = {}
    for at, (was, code) in enumerate(zip(before.cells, state.cells, strict=True)):
        if code not in (was, _UNPAINTED) and code < _FIRST_PAINTED:
            row, column = divmod(at, n)
            around = {y * n + x for y in range(max(0, row - 1), min(n, row + 2)) for x in range(max(0, column - 1), min(n, column + 2))}
            areas.setdefault(code, set()).update(around)
    for code, area in areas.items():
        outline = _border(area, n)
        yield Strokes(outline, INK, 0.7, opacity=0.75)
        yield Strokes(outline, _owners(code), 0.45, opacity=0.75)


def _border(area: set[int], n: int) -> tuple[tuple[tuple[float, float], tuple[float, float]], ...]:
    """Return the sides of cells between an area and the rest, those in one line joined."""
    ends: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for at in area:
        y, x = divmod(at, n)
        for dx, dy, from_x, from_y, to_x, to_y in _SIDES:
            to = (y + dy) * n + x + dx
            if 0 <= x + dx < n and 0 <= y + dy < n and to in area:
                continue
            key = (0, y + from_y, dy) if dy else (1, x + from_x, dx)
            ends.setdefault(key, []).append((x + from_x, x + to_x) if dy else (y + from_y, y + to_y))
    found = []
    for (is_upright, line, _), spans in ends.items():
        joined: list[list[int]] = []
        for low, high in sorted(spans):
            if joined and joined[-1][1] == low:
                joined[-1][1] = high
            else:
                joined.append([low, high])
        found += [((line, low), (line, high)) if is_upright else ((low, line), (high, line)) for low, high in joined]
    return tuple(found)


def _owners(code: int) -> str:
    """Return the colour of a painted or claimed cell."""
    if code == _SPENT:
        return _SPENT_COLOR
    return _color_of(code - (_FIRST_PAINTED if code >= _FIRST_PAINTED else _FIRST_CLAIMED))


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


def _robots(state: State) -> Iterator[Disc | Letter]:
    """Yield discs with letters. Players that share a cell stand around its middle; a number counts the robots of one player on a cell."""
    size = max(0.34, min(0.44, 0.0055 * state.settings.n))
    owners: dict[tuple[int, int], dict[int, int]] = {}
    for player, cells in enumerate(state.robots):
        for cell in cells:
            there = owners.setdefault(cell, {})
            there[player] = there.get(player, 0) + 1
    for (row, column), counts in owners.items():
        share, apart = (1.0, 0.0) if len(counts) == 1 else (0.62, 0.26)
        for index, (player, count) in enumerate(counts.items()):
            turned = 2 * pi * index / len(counts)
            middle = (column + 0.5 + apart * cos(turned), row + 0.5 + apart * sin(turned))
            text = state.seats[player] + (str(count) if count > 1 else "")
            yield Disc(middle, share * size + 0.06, 0.8 * share, PAPER, rim="")
            yield Disc(middle, share * size, 0.6 * share, _color_of(player), rim=INK)
            yield Letter(middle, text, (0.42 if count > 1 else 0.6) * share, _ink_on(_color_of(player)))


def _ink_on(color: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    red, green, blue = ((int(color[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5))
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def _runs(cells: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of equal cells in a row, without unpainted ones: first cell, last cell, code."""
    first = 0
    for code, run in groupby(cells):
        end = first + len(list(run))
        if code != _UNPAINTED:
            yield first, end - 1, code
        first = end
