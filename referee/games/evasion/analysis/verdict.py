"""The verdict: whether the hunter can catch the prey if the walls never change again.

Source: rules of Evasion, section "Is it impossible for H to find P?".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion.analysis.arena import BUDGET, Budget, BudgetSpent
from referee.games.evasion.analysis.pursuit import Pursuit
from referee.games.evasion.board.regions import Region, free_cells

if TYPE_CHECKING:
    from typing import Literal

    from referee.games.evasion.analysis.arena import Arena
    from referee.games.evasion.state import State

CAPTURE: Literal["capture"] = "capture"
EVADE: Literal["evade"] = "evade"
UNDECIDED: Literal["undecided"] = "undecided"


class Verdict(NamedTuple):
    """The verdict on a position whose walls never change again.

    ``kind`` is "capture" (certain within ``steps`` steps, or turns of ``gameserver``), "evade" (the prey can evade forever) or
    "undecided" (within the budget). ``is_separated``: no path joins the two players. ``how`` names what decided: "separated", the size of a
    window such as "49 x 49", "ground", "budget" or "over". ``cost`` is in units of the budget.
    """

    kind: Literal["capture", "evade", "undecided"]
    steps: int | None
    is_separated: bool
    how: str
    cost: int


def verdict(state: State, budget: int = BUDGET) -> Verdict:
    """The verdict on a position. Deterministic: the budget counts work, not time."""
    if state.ended:
        is_caught = state.ended == "caught"
        return Verdict(CAPTURE if is_caught else EVADE, 0 if is_caught else None, False, "over", 0)
    shared = Budget(budget)
    separated = False
    try:
        pursuit = Pursuit(state, shared)
        separated = pursuit.is_separated
        if separated:
            return Verdict(EVADE, None, True, "separated", shared.spent)
        proof = pursuit.search()
    except BudgetSpent:
        return Verdict(UNDECIDED, None, separated, "budget", shared.spent)
    arena = proof.arena
    how = "ground" if arena.box == pursuit.box else f"{arena.width} x {arena.height}"
    return Verdict(EVADE if proof.steps is None else CAPTURE, proof.steps, False, how, shared.spent)


class SafeCells(NamedTuple):
    """The ``cells`` from which a prey could evade forever, and the cells for which this is ``unknown`` within the budget."""

    cells: Region
    unknown: Region


def safe_cells(state: State, budget: int = BUDGET) -> SafeCells:
    """Return the cells from which the prey can evade forever if walls never change again."""
    try:
        pursuit = Pursuit(state, Budget(budget))
    except BudgetSpent:
        free = free_cells(state.walls)
        return SafeCells(Region(0, free.stride), free)
    ground, free = pursuit.ground, pursuit.free
    apart = free.bits & ~ground.bits
    try:
        safe, unknown, arena = pursuit.safe()
    except BudgetSpent:
        return SafeCells(Region(apart, free.stride), ground)
    return SafeCells(
        Region(apart | _on_board(safe, arena, free), free.stride),
        Region(_on_board(unknown, arena, free), free.stride),
    )


def _on_board(cells: int, arena: Arena, like: Region) -> int:
    """A set of an arena as a bit board."""
    left, bottom, _, _ = arena.box
    size = like.stride // 8
    rows = [(row << left).to_bytes(size, "little") for row in arena.rows_of(cells)]
    return int.from_bytes(b"".join(rows), "little") << bottom * like.stride
