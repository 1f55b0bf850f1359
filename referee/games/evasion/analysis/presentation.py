"""The analysis of a position for display: the verdict, the safe cells, the hunter's trajectory, the best wall."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion import variants
from referee.games.evasion.analysis.arena import BUDGET, Budget, BudgetSpent
from referee.games.evasion.analysis.trajectory import Trajectory
from referee.games.evasion.analysis.verdict import CAPTURE, EVADE, safe_cells
from referee.games.evasion.analysis.verdict import verdict as decide
from referee.games.evasion.board.regions import corners, reachable
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Blocked, Wall
from referee.games.evasion.board.walls import trace
from referee.games.evasion.rules.stepwise import can_build
from referee.games.evasion.state import HUNTER, PREY, AddWall, Build, HunterMove, PreyMove

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.evasion.board.regions import Region
    from referee.games.evasion.board.wall import Kind, Span
    from referee.games.evasion.codec.turnwise import Move
    from referee.games.evasion.state import State
    from referee.games.game import Json


#: The name of a suggestion.
suggestion_name = "best wall"
#: The number of moves of the hunter's trajectory in an overlay.
_SHOWN_MOVES = 600
#: Distances from the prey at which a wall of ``gameserver`` is tried, in cells.
_TRIED = (2, 4, 7, 11)


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


def suggestion(state: State) -> Mapping[str, Json]:
    """The best wall that the hunter could build now; empty if it can build none."""
    best = best_wall(state)
    if best is None:
        return {}
    certain = verdict_text({"verdict": best.verdict, "within": best.within, "separated": False})
    wall = best.wall
    first = f"wall {best.remove[0]} taken down, " if best.remove else ""
    text = f"{first}a {wall.kind} wall from ({wall.x1}, {wall.y1}) to ({wall.x2}, {wall.y2}): {certain}"
    if best.verdict != CAPTURE:
        text += f", {best.safe:,} safe cells left"
    return {**best.to_json(), "text": text}


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


class Suggestion(NamedTuple):
    """A wall that the hunter could build: the verdict after it, and the number of the prey's safe cells within its reach.

    ``remove`` are the ids of walls to remove first, if the maximum number of walls stand.
    """

    wall: Wall
    verdict: str
    within: int | None
    safe: int
    remove: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the suggestion as JSON data."""
        record = {"wall": self.wall.to_json(), "verdict": self.verdict, "within": self.within, "safe": self.safe}
        return {**record, "remove": list(self.remove)} if self.remove else record


def best_wall(state: State) -> Suggestion | None:
    """Return the wall that leads to the soonest certain capture, else the wall that leaves the fewest safe cells; None if none can be built.

    The candidates are the longest walls of each kind and their two halves from the hunter. In ``gameserver``, where a wall may stand
    anywhere, they are long rows and columns near the prey. If the maximum number of walls stand, one of them is removed first.
    """
    is_turnwise = variants.RULE_SETS[state.settings.rules].is_turnwise
    if len(state.walls) < state.settings.max_walls or is_turnwise:
        suggestions = [_judged(state, wall, ()) for wall in walls_to_try(state)]
    else:
        suggestions = [
            _judged(state, wall, (old.id,))
            for old in state.walls
            for wall in walls_to_try(state._replace(walls=state.walls.without(frozenset((old.id,)))), halves=False)
        ]
    possible = (suggestion for suggestion in suggestions if suggestion is not None)
    return min(
        possible,
        key=lambda suggestion: (0, suggestion.within or 0) if suggestion.verdict == CAPTURE else (1, suggestion.safe),
        default=None,
    )


def walls_to_try(state: State, *, halves: bool = True) -> Iterator[Wall]:
    """Yield the walls that are tried and that the rules allow now: the longest of each kind, with ``halves`` also its halves."""
    rules = variants.RULE_SETS[state.settings.rules]
    if state.ended or len(state.walls) >= state.settings.max_walls or state.wall_timer:
        return
    x, y, dx, dy = state.hunter
    if rules.is_turnwise:
        if state.step % 2 == 0:
            yield from _lines_near_the_prey(state)
        return
    moved = rules.bounce(state.walls, x, y, dx, dy)
    for kind in rules.kinds:
        for span in _spans(state, kind) if halves else (None,):
            build, prey = Build(kind, span), state.prey[:2]
            wall = can_build(state.walls, rules.kinds, build, 0, state.settings, (x, y), moved[:2], prey, state.next_id)
            if isinstance(wall, Wall):
                yield wall


def _spans(state: State, kind: Kind) -> Iterator[Span | None]:
    """Yield the spans of the longest wall of a kind and of its two halves from the hunter; a thick wall has no halves."""
    x, y, _, _ = state.hunter
    longest = trace(state.walls, kind, x, y, None, state.next_id)
    if isinstance(longest, Blocked):
        return
    yield None
    if not longest.first:
        low, high, here = (longest.y1, longest.y2, y) if longest.x1 == longest.x2 else (longest.x1, longest.x2, x)
        yield low, here
        yield here, high


def _lines_near_the_prey(state: State) -> Iterator[Wall]:
    x, y = state.prey[:2]
    for far in _TRIED:
        places = (HORIZONTAL, x, y - far), (HORIZONTAL, x, y + far), (VERTICAL, x - far, y), (VERTICAL, x + far, y)
        for kind, at_x, at_y in places:
            wall = trace(state.walls, kind, at_x, at_y, None, state.next_id) if state.walls.is_free(at_x, at_y) else None
            if isinstance(wall, Wall) and not wall.covers(*state.hunter[:2]):
                yield wall


def _judged(state: State, wall: Wall, remove: tuple[int, ...]) -> Suggestion | None:
    """Return the suggestion of one wall, with the prey not moving in this step; None if the wall is refused."""
    is_turnwise = variants.RULE_SETS[state.settings.rules].is_turnwise
    move: Move = AddWall(wall.id, wall.x1, wall.y1, wall.x2, wall.y2) if is_turnwise else HunterMove(_build(wall), remove)
    after, _ = variants.step(state, {HUNTER: move} if is_turnwise else {HUNTER: move, PREY: PreyMove((0, 0))})
    if wall.id not in {standing.id for standing in after.walls}:
        return None
    if after.ended == "trapped":
        return Suggestion(wall, EVADE, None, len(reachable(after.walls, after.prey[:2])), remove)
    if after.ended:
        return Suggestion(wall, CAPTURE, 0, 0, remove)
    decision = decide(after)
    if decision.kind == CAPTURE:
        return Suggestion(wall, CAPTURE, (decision.steps or 0) + 1, 0, remove)
    return Suggestion(wall, decision.kind, None, safe_area(after), remove)


def _build(wall: Wall) -> Build:
    if wall.first:
        return Build(wall.kind)
    return Build(wall.kind, (wall.y1, wall.y2) if wall.kind == "vertical" else (wall.x1, wall.x2))


def safe_area(state: State) -> int:
    """Return the number of cells within the prey's reach from which it can stay free forever. Undecided cells count too."""
    reach = reachable(state.walls, state.prey[:2])
    safe = safe_cells(state)
    return (reach.bits & (safe.cells.bits | safe.unknown.bits)).bit_count()
