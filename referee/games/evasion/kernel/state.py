"""The state of many games as two arrays of whole numbers, and the settings that all of them share.

``games`` (int32) has a row for each of the B games and a column for each of ``FIELDS``. ``walls`` (int32) has the shape (B, 12, M + 1):
for each game a row for each of ``WALL_FIELDS``, and a column for each of its walls in building order; columns from ``COUNT`` on mean
nothing.
Compiled functions get these two arrays and the number ``g`` of a game. With one array for each field, the calls would cost more than
the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from referee.games.evasion import variants

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from referee.games.evasion.state import Settings

    Ints: TypeAlias = NDArray[np.int32]

FIELDS = (
    *("step", "timer", "next_id", "changed", "ended", "count"),
    *("hunter_x", "hunter_y", "hunter_dx", "hunter_dy", "prey_x", "prey_y", "prey_dx", "prey_dy"),
    *("notices", "refused"),
)
STEP, TIMER, NEXT_ID, CHANGED, ENDED, COUNT, HUNTER, _HY, _HDX, _HDY, PREY, _PY, _PDX, _PDY, NOTICED, REFUSAL = range(len(FIELDS))
#: Rows of a wall: its ends, kind, id and first axis; its line, its first and last measure there and on its side line (empty if thin).
WALL_FIELDS = ("x1", "y1", "x2", "y2", "kind", "id", "first", "line", "low", "high", "side_low", "side_high")
X1, Y1, X2, Y2, OF_KIND, ID, FIRST_AXIS, LINE, LOW, HIGH, SIDE_LOW, SIDE_HIGH = range(len(WALL_FIELDS))

#: Kinds of walls by their index in ``board.walls.KINDS``.
HORIZONTAL, VERTICAL, DIAGONAL, COUNTER_DIAGONAL = range(4)
#: The axis of the first step of a thick wall (``Wall.first``), by its index.
AXES = ("", "x", "y")
NO_AXIS, X_FIRST, Y_FIRST = range(3)
#: Reasons of ends, by their index in the column ``ended``.
ENDS = ("", "caught", "evaded")
GOING_ON, CAUGHT, EVADED = range(3)
#: Codes of notices; each has a bit in the column ``notices``.
NOTICES = ("wall-removed", "unknown-wall", "hunter-bounced", "wall-refused", "wall-built", "prey-bounced", "captured")
REMOVED, UNKNOWN, HUNTER_BOUNCED, REFUSED, BUILT, PREY_BOUNCED, CAPTURED = (1 << bit for bit in range(7))
#: Reasons of refused walls, by their index in the column ``refused``.
REASONS = ("", "cooldown", "max-walls", "kind", "occupied", "span", "off-board", "hunter", "prey")
ALLOWED, BY_COOLDOWN, BY_MAX_WALLS, BY_KIND, OCCUPIED, BY_SPAN, OFF_BOARD, ON_HUNTER, ON_PREY = range(len(REASONS))


class Rules(NamedTuple):
    """The settings of a batch, as plain numbers for the compiled code. ``kinds`` is the number of kinds of walls.

    Each rule set has a type of its own. numba compiles a function once for each type of its arguments, so the machine code of a rule set
    holds nothing of the other (``by_rule_set``).
    """

    width: int
    height: int
    cooldown: int
    max_walls: int
    radius_squared: int
    prey_period: int
    max_steps: int
    kinds: int


class Classic(Rules):
    """The settings of games of ``classic``."""

    __slots__ = ()


class Diagonal(Rules):
    """The settings of games of ``diagonal``."""

    __slots__ = ()


#: The type of the settings of each rule set that the kernel has.
RULE_SETS: dict[str, type[Rules]] = {"classic": Classic, "diagonal": Diagonal}


def rules_of(settings: Settings) -> Rules:
    """The settings of a game as numbers. Raises ValueError for a rule set that the kernel doesn't have."""
    if settings.rules not in RULE_SETS:
        raise ValueError(f"there is no batch of games of the rule set {settings.rules}; there are {' and '.join(RULE_SETS)}")
    return RULE_SETS[settings.rules](
        settings.width,
        settings.height,
        settings.cooldown,
        settings.max_walls,
        settings.capture_radius**2,
        settings.prey_period,
        settings.max_steps,
        len(variants.RULE_SETS[settings.rules].kinds),
    )


def allocated(count: int, max_walls: int) -> tuple[Ints, Ints]:
    """Return ``games`` and ``walls`` for a number of games, all zero."""
    return np.zeros((count, len(FIELDS)), np.int32), np.zeros((count, len(WALL_FIELDS), max_walls + 1), np.int32)
