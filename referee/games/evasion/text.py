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
    """The board with H and P; on a large board several cells share a character."""
    width, height = state.settings.width, state.settings.height
    # A character is about twice as high as it is wide.
    scale = max(1, -(-width // max(1, columns)), -(-height // max(1, 2 * rows)))
    wide, high = -(-width // scale), -(-height // (2 * scale))
    picture = [[" "] * wide for _ in range(high)]
    marks = dict(zip(KINDS, "-|/\\", strict=True))
    for wall in state.walls:
        for x, y in wall.cells():
            picture[y // (2 * scale)][x // scale] = marks[wall.kind]
    for name, body in (("P", state.prey), ("H", state.hunter)):
        picture[body.y // (2 * scale)][body.x // scale] = name
    edge = "+" + "-" * wide + "+"
    return [edge, *("|" + "".join(row) + "|" for row in (reversed(picture) if RULE_SETS[state.settings.rules].y_is_up else picture)), edge]
