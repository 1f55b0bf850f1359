"""Mazes: parsed from text and checked, with the facts about a maze that are computed before the game."""

from __future__ import annotations

from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Square = tuple[int, int]
    Order = Literal["U", "D", "L", "R"]
else:
    # Bots import the name for their annotations; importing ``typing`` for it would slow every start.
    Order = str

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

    ``squares`` are the free ones in order, ``index`` the place of each among them, ``near`` for each place the orders that are
    possible there with the places that they lead to, ``exit`` the place of the exit.
    """

    __slots__ = ("exit", "height", "index", "near", "rows", "squares", "width")

    rows: tuple[str, ...]
    width: int
    height: int
    squares: tuple[Square, ...]
    index: dict[Square, int]
    near: tuple[dict[Order, int], ...]
    exit: int

    def __init__(self, rows: Sequence[str]) -> None:
        put = object.__setattr__
        put(self, "rows", _checked(rows))
        put(self, "height", len(self.rows))
        put(self, "width", len(self.rows[0]))
        squares = [(row, column) for row, text in enumerate(self.rows, 1) for column, sign in enumerate(text, 1) if sign != WALL]
        put(self, "squares", tuple(squares))
        put(self, "index", {square: place for place, square in enumerate(squares)})
        near = []
        for row, column in squares:
            ways = {order: (row + down, column + along) for order, (down, along) in STEPS.items()}
            near.append({order: self.index[square] for order, square in ways.items() if square in self.index})
        put(self, "near", tuple(near))
        put(self, "exit", next(place for place, (row, column) in enumerate(squares) if self.rows[row - 1][column - 1] == EXIT))
        self._check_joined()

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
        found = [-1] * len(self.squares)
        found[start] = 0
        waiting = [start]
        for place in waiting:
            for other in self.near[place].values():
                if found[other] < 0:
                    found[other] = found[place] + 1
                    waiting.append(other)
        return found

    def _check_joined(self) -> None:
        found = self.distances(self.exit)
        for place, distance in enumerate(found):
            if distance < 0:
                row, column = self.squares[place]
                raise SettingsError(
                    f"layout, line {row}, column {column}: no way leads from this square to the exit; every free square must be joined."
                )


def _checked(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows of a maze; SettingsError with the line and the column of what is wrong."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, str) for row in rows):
        raise SettingsError("layout must be a list of texts, one for each row.")
    if not LEAST <= len(rows) <= MOST:
        line = min(len(rows), MOST) + 1
        raise SettingsError(f"layout, line {line}, column 1: a maze of {len(rows)} lines, but it must have from {LEAST} to {MOST}.")
    width = len(rows[0])
    if not LEAST <= width <= MOST:
        raise SettingsError(
            f"layout, line 1, column {min(width, MOST) + 1}: a line has {width} signs, but must have from {LEAST} to {MOST}."
        )
    for line, row in enumerate(rows, 1):
        if len(row) != width:
            raise SettingsError(
                f"layout, line {line}, column {min(len(row), width) + 1}: the line has {len(row)} signs, but the first one has {width}."
            )
        for column, sign in enumerate(row, 1):
            if sign not in (WALL, FREE, EXIT):
                raise SettingsError(f"layout, line {line}, column {column}: {sign!r} is none of '#' (wall), '.' (free) and 'E' (exit).")
    exits = [(line, column) for line, row in enumerate(rows, 1) for column, sign in enumerate(row, 1) if sign == EXIT]
    if not exits:
        raise SettingsError(f"layout, line {len(rows)}, column {width}: there is no exit up to its end; write one E.")
    if len(exits) > 1:
        raise SettingsError(
            f"layout, line {exits[1][0]}, column {exits[1][1]}: a second exit, after that of line {exits[0][0]}, column {exits[0][1]}."
        )
    return tuple(rows)
