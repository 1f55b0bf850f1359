"""The analysis of a position for display: the verdict, the safe cells and the hunter's trajectory."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.evasion.analysis.arena import BUDGET, Budget, BudgetSpent
from referee.games.evasion.analysis.trajectory import Trajectory
from referee.games.evasion.analysis.verdict import CAPTURE, EVADE, safe_cells
from referee.games.evasion.analysis.verdict import verdict as decide
from referee.games.evasion.board.regions import corners, reachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.evasion.board.regions import Region
    from referee.games.evasion.state import State
    from referee.games.game import Json


#: The number of moves of the hunter's trajectory in an overlay.
_SHOWN_MOVES = 600


def invalidates_verdict(before: State, after: State) -> bool:
    """True if walls have changed: without a change a certain capture stays certain."""
    return before.walls is not after.walls and before.walls != after.walls


def verdict(state: State) -> Mapping[str, Json]:
    """Return the verdict as JSON data; empty if the game has ended in any way except capture.

    ``verdict`` is "capture", "evade" or "undecided", ``within`` a number of steps; ``separated``: no path joins the two players.
    """
    if state.ended not in ("", "caught"):
        return {}
    decision = decide(state)
    return {"verdict": decision.kind, "within": decision.steps, "separated": decision.is_separated}


def verdict_text(verdict: Mapping[str, Json]) -> str:
    """The verdict in words."""
    if verdict["verdict"] == CAPTURE:
        count = verdict["within"]
        return f"capture is certain within {count:,} step{'s' * (count != 1)}" if count else "the prey is caught"
    if verdict["verdict"] == EVADE:
        return "the prey can evade forever" + (": no path joins the two players" if verdict["separated"] else "")
    return "not decided within the budget"


def cause(before: State, after: State) -> str:
    """Return "walls" if walls have changed, else "the prey's way"."""
    return "walls" if invalidates_verdict(before, after) else "the prey's way"


def overlay(state: State) -> Mapping[str, Json]:
    """Return the overlay: sets of cells as base64 bit rows, and the hunter's trajectory as a list of corners.

    A row has ``stride`` bytes; its bit x is column x.
    """
    safe = safe_cells(state)
    free = reachable(state.walls, state.prey[:2])
    return {
        "stride": safe.cells.stride // 8,
        "safe": _packed(safe.cells, state),
        "unknown": _packed(safe.unknown, state) if len(safe.unknown) else "",
        "reach": _packed(free, state),
        "safe_cells": len(safe.cells),
        "trajectory": [list(place) for place in _corners(state, _SHOWN_MOVES)],
        "prey_is_safe": state.prey[:2] in safe.cells,
        **verdict(state),
    }


def _packed(cells: Region, state: State) -> str:
    return base64.b64encode(cells.bits.to_bytes(cells.stride // 8 * state.settings.height, "little")).decode()


def _corners(state: State, moves: int) -> list[tuple[float, float]]:
    """Return the corners of the hunter's trajectory, from its cell on."""
    rules = variants.RULE_SETS[state.settings.rules]
    trajectory = Trajectory(state.walls, rules.bounce, state.hunter, Budget(BUDGET), stops=rules.is_turnwise)
    board = (0, 0, state.settings.width - 1, state.settings.height - 1)
    try:
        places = [state.hunter[:2], *((x, y) for _, x, y in trajectory.moves_in(board, 0, moves))]
    except BudgetSpent:
        return [state.hunter[:2]]
    return corners(places)
