"""Maze as text."""

from __future__ import annotations

from referee.games.maze.layouts import EXIT, WALL
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.maze.state import State


def rows(state: State, signs: str = "_W") -> list[str]:
    """The board, a sign a square: what is free, wall, ``E`` the exit, ``T`` and ``P``; a player on the exit hides its ``E``."""
    layout = state.settings.layout
    found = [[signs[1] if sign == WALL else "E" if sign == EXIT else signs[0] for sign in row] for row in layout.rows]
    for letter, place in (("T", state.thief), ("P", state.policeman)):
        row, column = layout.squares[place]
        found[row - 1][column - 1] = letter
    return ["".join(row) for row in found]


def lines(state: State, columns: int, most: int) -> list[str]:
    """The board as text, cut to what fits."""
    return [row[:columns] for row in rows(state, ".#")[:most]]
