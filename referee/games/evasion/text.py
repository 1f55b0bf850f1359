"""The board of Evasion as plain text. This module is the game's ``TextView``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.board.regions import distance
from referee.games.evasion.board.wall import KINDS
from referee.games.evasion.variants import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.evasion.state import State
    from referee.games.game import Json


def status_fields(state: State) -> Mapping[str, Json]:
    """Step, distance and walls."""
    apart = distance(state.hunter[:2], state.prey[:2])
    return {"step": state.step, "distance": round(apart, 1), "walls": len(state.walls)}


def board_lines(state: State, columns: int, rows: int) -> list[str]:
    """The board with H and P, or X where both share a character; on a large board several cells do. The lower edge says what they mean."""
    width, height = state.settings.width, state.settings.height
    # A character is about twice as high as it is wide.
    scale = max(1, -(-width // max(1, columns)), -(-height // max(1, 2 * rows)))
    wide, high = -(-width // scale), -(-height // (2 * scale))
    picture = [[" "] * wide for _ in range(high)]
    marks = dict(zip(KINDS, "─│╱╲", strict=True))  # noqa: RUF001 # diagonals, not slashes
    for wall in state.walls:
        for x, y in wall.cells():
            row, column = picture[y // (2 * scale)], x // scale
            row[column] = "┼" if {row[column], marks[wall.kind]} == {"─", "│"} else marks[wall.kind]
    places = [(body.y // (2 * scale), body.x // scale) for body in (state.hunter, state.prey)]
    for name, (row_number, column) in zip("HP" if places[0] != places[1] else "XX", places, strict=True):
        picture[row_number][column] = name
    legend = " H hunter, P prey " if places[0] != places[1] else " X hunter and prey "
    rows_down = reversed(picture) if RULE_SETS[state.settings.rules].y_is_up else picture
    edge = "─" * wide if len(legend) > wide else legend.center(wide, "─")
    return ["┌" + "─" * wide + "┐", *("│" + "".join(row) + "│" for row in rows_down), "└" + edge + "┘"]
