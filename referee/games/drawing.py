"""Drawings of positions: a text with one line for each row of a board, for tests and examples.

A game offers them with its capability ``drawing``, whose function ``position`` takes a drawing and returns a state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Square = tuple[int, int]


class DrawingError(ValueError):
    """A drawing that shows no position of the game; the text names the line and the column of the mistake, both counted from 1."""


def rows_of(drawing: str, signs: Mapping[str, str]) -> list[str]:
    """Return the lines of a drawing, without indentation and without blank lines before and after it.

    ``signs`` are the characters that it may contain, with their meanings. Raises DrawingError for other characters and for lines of
    different lengths.
    """
    if not isinstance(drawing, str):
        raise DrawingError(f"a drawing is {drawing!r:.60}, but must be a text with a line for each row of the board")
    rows = [line.strip() for line in drawing.strip().splitlines()]
    if not rows:
        raise DrawingError("the drawing is empty; draw at least one row of the board")
    for line, row in enumerate(rows):
        for column, sign in enumerate(row):
            if sign not in signs:
                known = ", ".join(f"{good} ({meaning})" for good, meaning in signs.items())
                raise mistake((line, column), f"{sign!r} means nothing here; there are {known}")
        if len(row) != len(rows[0]):
            raise DrawingError(f"line {line + 1} of the drawing has {len(row)} characters, but line 1 has {len(rows[0])}")
    return rows


def places(rows: list[str], sign: str) -> list[Square]:
    """Return where a character stands, as (line, column) from 0, line by line."""
    return [(line, column) for line, row in enumerate(rows) for column, found in enumerate(row) if found == sign]


def only_place(rows: list[str], signs: str, name: str) -> Square:
    """Return the place of the only character out of ``signs``. Raises DrawingError if there are none or several; ``name`` is its meaning."""
    found = sorted(place for sign in signs for place in places(rows, sign))
    if not found:
        raise DrawingError(f"the drawing has no {name}; draw one as {' or '.join(signs)}")
    if len(found) > 1:
        raise mistake(found[1], f"a second {name}; the first one is in {said(found[0])}")
    return found[0]


def said(place: Square) -> str:
    """Return a place for a sentence."""
    return f"line {place[0] + 1}, column {place[1] + 1}"


def mistake(place: Square, text: str) -> DrawingError:
    """Return the error for a mistake at a place."""
    return DrawingError(f"drawing, {said(place)}: {text}")
