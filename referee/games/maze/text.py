"""Maze as plain text. This module is the game's ``TextView``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.maze.layouts import EXIT, WALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json
    from referee.games.maze.state import State


def board_rows(state: State, signs: str = "_W") -> list[str]:
    """The rows of the board, one character a square: ``signs`` for a free square and for wall, ``E`` the exit, ``T`` and ``P`` the players."""
    layout = state.settings.layout
    rows = [[signs[1] if sign == WALL else "E" if sign == EXIT else signs[0] for sign in row] for row in layout.rows]
    for letter, place in (("T", state.thief), ("P", state.policeman)):
        row, column = layout.squares[place]
        rows[row - 1][column - 1] = letter
    return ["".join(row) for row in rows]


def status_fields(state: State) -> Mapping[str, Json]:
    """Step and distance."""
    squares = state.settings.layout.squares
    (row, column), (at_row, at_column) = squares[state.thief], squares[state.policeman]
    return {"step": state.step, "distance": abs(row - at_row) + abs(column - at_column)}


def board_lines(state: State, columns: int, rows: int) -> list[str]:
    """The board as text, cut to what fits."""
    return [row[:columns] for row in board_rows(state, ".#")[:rows]]
