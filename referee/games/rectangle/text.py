"""Rectangle as plain text. This module is the game's ``TextView``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json
    from referee.games.rectangle.state import State


def status_fields(state: State) -> Mapping[str, Json]:
    """Turn, scores, and turns without a gain."""
    return {"turn": state.turn, **dict(zip(state.seats, state.scores, strict=True)), "stagnation": state.stagnation}


def board_lines(state: State, columns: int, rows: int) -> list[str]:
    """The board as text, cut to what fits; robots as capital letters."""
    board = [list(text) for text in state.row_texts()]
    for seat, cells in zip(state.seats, state.robots, strict=False):
        for row, column in cells:
            board[row][column] = seat.upper()
    return ["".join(row[:columns]) for row in board[:rows]]
