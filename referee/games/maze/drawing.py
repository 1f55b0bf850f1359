"""Positions of Maze from drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.drawing import DrawingError, only_place, rows_of
from referee.games.maze import variants
from referee.games.maze.layouts import EXIT, FREE
from referee.games.maze.state import POLICEMAN, SEATS, THIEF, State
from referee.games.values import is_whole, said

if TYPE_CHECKING:
    from referee.games.maze.state import Settings

    Square = tuple[int, int]

_SIGNS = {".": "free", "#": "wall", "E": "the exit", "T": "the thief", "P": "the policeman", "p": "the policeman on the exit"}
_GROUND = str.maketrans({"T": FREE, "P": FREE, "p": EXIT})


def position(
    drawing: str,
    *,
    seat: str = THIEF,
    step: int | None = None,
    thief_from: Square | None = None,
    policeman_from: Square | None = None,
    rules: str | None = None,
    **settings: object,
) -> State:
    """Return the position of a drawing in which ``seat`` is to move.

    ``T`` is the thief, ``P`` the policeman (``p`` if it stands on the exit), ``E`` the exit, ``#`` wall and ``.`` a free square. Squares
    are (row, column) from 1; ``thief_from`` and ``policeman_from`` are the previous ones. ``step`` is even if it is the thief's turn.
    ``settings`` are the game's other ones. Raises DrawingError or SettingsError for an impossible position.
    """
    rows = rows_of(drawing, _SIGNS)
    thief, policeman = (only_place(rows, signs, name) for signs, name in (("T", THIEF), ("Pp", POLICEMAN)))
    squares = {"thief": (thief[0] + 1, thief[1] + 1), "policeman": (policeman[0] + 1, policeman[1] + 1)}
    checked = variants.settings(rules, {**settings, "layout": [row.translate(_GROUND) for row in rows], **squares})
    if seat not in SEATS:
        raise DrawingError(f"seat is {said(seat)}, but must be {' or '.join(SEATS)}")
    turn = SEATS.index(seat)
    step = turn if step is None else step
    if not is_whole(step) or step < 0 or step % 2 != turn:
        parity = "an odd" if turn else "an even"
        raise DrawingError(f"step is {said(step)}, but the {seat} moves in {parity} step")
    most = 2 * checked.max_moves
    if most and step >= most:
        raise DrawingError(f"step is {step}, but with {checked.max_moves} moves of the thief the game ends after step {most - 1}")
    index = checked.layout.index
    before = _before(checked, "thief_from", thief_from), _before(checked, "policeman_from", policeman_from)
    return State(checked, step, index[squares["thief"]], index[squares["policeman"]], *before)


def _before(settings: Settings, name: str, square: Square | None) -> int:
    if square is None:
        return -1
    place = settings.layout.index.get(square) if isinstance(square, tuple) else None
    if place is None:
        raise DrawingError(f"{name} is {said(square)}, but must be a free square (row, column), from 1")
    return place
