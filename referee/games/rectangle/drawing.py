"""Positions of Rectangle from drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.drawing import DrawingError, rows_of
from referee.games.rectangle import variants
from referee.games.rectangle.state import LETTERS, State
from referee.games.values import is_whole, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Cell = tuple[int, int]

_SIGNS = {
    ".": "unpainted",
    "#": "can't be painted any more",
    **{letter: f"painted by {letter}" for letter in LETTERS},
    **{letter.upper(): f"a robot of {letter} on its own colour" for letter in LETTERS},
}


def position(
    drawing: str,
    *,
    turn: int = 0,
    robots: Mapping[str, Iterable[Cell]] | None = None,
    scores: Mapping[str, int] | None = None,
    idle_turns: int = 0,
    rules: str | None = None,
    **settings: object,
) -> State:
    """Return the position of a drawing of a square board.

    A small letter is a cell painted by that player, a capital letter one of its robots on such a cell, ``.`` an unpainted cell and ``#``
    one that can't be painted any more. The number of players follows from the letters. ``robots`` are further robots by player, on any
    cells (row, column), row 0 in the north; all players have the same number. Robots are numbered line by line, those of ``robots`` after those drawn.

    ``scores`` are by player, 0 by default; ``idle_turns`` are the turns since the last gain. ``settings`` are the game's other ones.
    Raises DrawingError or SettingsError for an impossible position.
    """
    rows = rows_of(drawing, _SIGNS)
    n = len(rows)
    if len(rows[0]) != n:
        raise DrawingError(f"the drawing has {n} lines of {len(rows[0])} characters, but the board is square")
    standing = _robots(rows, robots or {})
    letters = {sign.lower() for row in rows for sign in row if sign.isalpha()} | standing.keys()
    players = max([2, *(LETTERS.index(letter) + 1 for letter in letters)])
    seats = LETTERS[:players]
    for seat in seats:
        if len(standing.get(seat, ())) != len(standing.get("a", ())) or seat not in standing:
            counts = ", ".join(f"{each} has {len(standing.get(each, ()))}" for each in seats)
            raise DrawingError(f"all players have the same number of robots, at least one, but here {counts}")
    checked = variants.settings(rules, {**settings, "n": n, "players": players, "robots": len(standing["a"])})
    if scores is not None and not scores.keys() <= set(seats):
        raise DrawingError(f"scores is for {', '.join(sorted(scores.keys() - set(seats)))!r:.40}, but there are {', '.join(seats)}")
    points = tuple((scores or {}).get(seat, 0) for seat in seats)
    if not all(is_whole(value) and value >= 0 for value in points):
        raise DrawingError(f"scores is {said(scores)}, but must have whole numbers from 0")
    _check_number("turn", turn, checked.cap - 1 if checked.cap else 10**6)
    _check_number("idle_turns", idle_turns, checked.stagnation - 1)
    painted = [row.lower() for row in rows]
    return State(
        checked,
        turn + 1,
        "".join(painted).encode(),
        tuple(tuple(_bits(row, seat) for row in painted) for seat in seats),
        tuple(tuple(_bits(column, seat) for column in _columns(painted)) for seat in seats),
        tuple(_bits(row, "#") for row in painted),
        tuple(tuple(standing[seat]) for seat in seats),
        points,
        (0,) * players,
        idle_turns,
        ("-" * checked.robots if turn else "",) * players,
    )


def _robots(rows: list[str], further: Mapping[str, Iterable[Cell]]) -> dict[str, list[Cell]]:
    """Return the robots of each player that has any."""
    found: dict[str, list[Cell]] = {}
    for line, row in enumerate(rows):
        for column, sign in enumerate(row):
            if sign.isupper():
                found.setdefault(sign.lower(), []).append((line, column))
    for seat, cells in further.items():
        if seat not in LETTERS or len(seat) != 1:
            raise DrawingError(f"robots has {said(seat)}, but a player is one small letter")
        for cell in cells:
            if not isinstance(cell, tuple) or len(cell) != 2 or not all(is_whole(at) and 0 <= at < len(rows) for at in cell):
                raise DrawingError(f"a robot of {seat} is at {said(cell)}, but must be at (row, column), each from 0 to {len(rows) - 1}")
            found.setdefault(seat, []).append(cell)
    return found


def _check_number(name: str, value: object, most: int) -> None:
    if not is_whole(value) or not 0 <= value <= most:
        raise DrawingError(f"{name} is {said(value)}, but must be a whole number from 0 to {most:,}")


def _columns(rows: list[str]) -> list[str]:
    return ["".join(column) for column in zip(*rows, strict=True)]


def _bits(line: str, sign: str) -> int:
    return sum(1 << at for at, found in enumerate(line) if found == sign)
