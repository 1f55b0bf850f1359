"""Mazes: parsed from text and checked, with the facts about a maze that are computed before the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from referee.games.game import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Square = tuple[int, int]

Order = Literal["U", "D", "L", "R"]

WALL, FREE, EXIT = "#", ".", "E"
LEAST, MOST = 4, 64
#: The orders as steps (row, column), in the order in which a first legal one is looked for.
STEPS: dict[Order, tuple[int, int]] = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}

#: The assignment's own maze. Source: rules of Maze, "Board".
STANDARD = (
    "........#.......",
    "........#.......",
    "..#..........#..",
    "..#..........#..",
    "................",
    "......###.......",
    "......#.........",
    "...............E",
    "..........#.....",
    "...###....#.....",
    ".....#....#.....",
    "..........##....",
    "................",
    "................",
    "..###...........",
    "................",
)


class Layout:
    """A checked maze. Squares are (row, column), counted from 1. A frozen value.

    ``squares`` are the free ones in order, ``index`` the place of each among them, ``neighbours`` for each place
    the legal orders there with the places that they lead to, ``exit`` the place of the exit.
    """

    __slots__ = ("exit", "height", "index", "neighbours", "rows", "squares", "width")

    rows: tuple[str, ...]
    width: int
    height: int
    squares: tuple[Square, ...]
    index: dict[Square, int]
    neighbours: tuple[dict[Order, int], ...]
    exit: int

    def __init__(self, rows: Sequence[str]) -> None:
        put = object.__setattr__
        exit_square = _check(rows)
        put(self, "rows", tuple(rows))
        put(self, "height", len(rows))
        put(self, "width", len(rows[0]))
        squares = tuple((row, column) for row, text in enumerate(rows, 1) for column, sign in enumerate(text, 1) if sign != WALL)
        index = {square: place for place, square in enumerate(squares)}
        put(self, "squares", squares)
        put(self, "index", index)
        beside = (((order, (row + down, column + along)) for order, (down, along) in STEPS.items()) for row, column in squares)
        put(self, "neighbours", tuple({order: index[square] for order, square in ways if square in index} for ways in beside))
        put(self, "exit", index[exit_square])
        for (row, column), distance in zip(squares, self.distances(self.exit), strict=True):
            if distance < 0:
                raise _mistake(row, column, "no way leads from this square to the exit; every free square must be joined.")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Layout is frozen: {name} can't be set")

    def __reduce__(self) -> tuple[type[Layout], tuple[tuple[str, ...]]]:
        return Layout, (self.rows,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def distances(self, start: int) -> list[int]:
        """The length of the shortest path from a place to each other one."""
        distances = [-1] * len(self.squares)
        distances[start] = 0
        waiting = [start]
        for place in waiting:
            for other in self.neighbours[place].values():
                if distances[other] < 0:
                    distances[other] = distances[place] + 1
                    waiting.append(other)
        return distances


def _check(rows: Sequence[str]) -> Square:
    """Return the square of the exit. Raises SettingsError with the line and the column of the first mistake."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, str) for row in rows):
        raise SettingsError("layout must be a list of texts, one for each row.")
    if not LEAST <= len(rows) <= MOST:
        raise _mistake(min(len(rows), MOST) + 1, 1, f"a maze of {len(rows)} lines, but it must have from {LEAST} to {MOST}.")
    width = len(rows[0])
    if not LEAST <= width <= MOST:
        raise _mistake(1, min(width, MOST) + 1, f"a line has {width} signs, but must have from {LEAST} to {MOST}.")
    exits = [(line, column) for line, row in enumerate(rows, 1) for column, sign in enumerate(row, 1) if sign == EXIT]
    for line, row in enumerate(rows, 1):
        if len(row) != width:
            raise _mistake(line, min(len(row), width) + 1, f"the line has {len(row)} signs, but the first one has {width}.")
        for column, sign in enumerate(row, 1):
            if sign not in (WALL, FREE, EXIT):
                raise _mistake(line, column, f"{sign!r} is none of '#' (wall), '.' (free) and 'E' (exit).")
    if not exits:
        raise _mistake(len(rows), width, "there is no exit up to its end; write one E.")
    if len(exits) > 1:
        raise _mistake(*exits[1], f"a second exit, after that of line {exits[0][0]}, column {exits[0][1]}.")
    return exits[0]


def _mistake(line: int, column: int, text: str) -> SettingsError:
    return SettingsError(f"layout, line {line}, column {column}: {text}")
