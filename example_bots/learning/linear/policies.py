"""Two linear policies, for a hunter and for a prey of ``classic``, over a few features of the observation "vector".

They see the other player as the hunter does: how far ahead along its heading, in parts of the board. So a policy has the same weights for all
four headings, and the hunter's the same for both kinds of walls. All functions take one observation or many: (..., columns).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import numpy as np
except ImportError:
    raise SystemExit(f"the linear policies need numpy; install it: {sys.executable} -m pip install numpy") from None

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

WEIGHTS = Path(__file__).with_name("weights.json")
#: Columns of the observation.
HEADING, APART, WALLS = slice(2, 4), slice(8, 10), 13
#: Where the intervals of features end, in parts of the board.
ENDS = np.array([-0.1, -0.03, 0.0, 0.01, 0.03, 0.07, 0.15, 0.3])
COUNT = len(ENDS) + 1
#: How many weights a policy has, by seat.
SIZES = {"hunter": 2 * COUNT, "prey": 9 * 2 * COUNT}


def place(values: Floats) -> NDArray[np.intp]:
    """The interval of each value."""
    return np.searchsorted(ENDS, values)


def hunter(weights: Floats, seen: Floats) -> NDArray[np.intp]:
    """Return the actions: 0 nothing, 1 and 2 build a horizontal or a vertical wall, 3 and 4 do so after the oldest wall is removed.

    The value of a wall is a weight for the interval of the prey's place across the wall, and one for that along it.
    """
    ahead = place(seen[..., APART] * seen[..., HEADING])
    x, y = ahead[..., 0], ahead[..., 1]
    across, along = weights[..., :COUNT], weights[..., COUNT:]
    values = np.stack([_pick(across, y) + _pick(along, x), _pick(across, x) + _pick(along, y)], axis=-1)
    kind = values.argmax(axis=-1)
    is_full = seen[..., WALLS] >= 1
    actions: NDArray[np.intp] = np.where(values.max(axis=-1) > 0, 1 + kind + 2 * is_full, 0)
    return actions


def prey(weights: Floats, seen: Floats) -> NDArray[np.intp]:
    """Return the actions: 3 (dx + 1) + dy + 1.

    The value of a direction, along the hunter's heading, is a weight for the interval of the distance from the hunter's diagonal, and one
    for that of the place along the diagonal.
    """
    heading = seen[..., HEADING]
    ahead = seen[..., APART] * heading
    aside, along = place(ahead[..., 0] - ahead[..., 1]), place(ahead[..., 0] + ahead[..., 1])
    table = weights.reshape(*weights.shape[:-1], 2 * COUNT, 9)
    best = (_pick(table, aside, 9) + _pick(table, COUNT + along, 9)).argmax(axis=-1)
    go = np.stack([best // 3 - 1, best % 3 - 1], axis=-1) * heading.astype(np.intp)
    actions: NDArray[np.intp] = 3 * (go[..., 0] + 1) + go[..., 1] + 1
    return actions


def _pick(weights: Floats, index: NDArray[np.intp], width: int = 0) -> Floats:
    """Return for each index its weight, or its row of ``width`` weights. Leading axes of both are those of the policies."""
    if weights.ndim == (2 if width else 1):
        return weights[index]
    rows = np.arange(len(weights)).reshape(-1, *[1] * (index.ndim - 1))
    return weights[rows, index]


POLICIES = {"hunter": hunter, "prey": prey}


def load(seat: str) -> Floats:
    """Return the trained weights of a seat."""
    return np.array(json.loads(WEIGHTS.read_text())[seat])
