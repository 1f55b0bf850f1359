"""Drawn starts of Evasion: the hunter's cell and heading and the prey's cell, uniformly from all fair starts.

In a fair start the prey is at least a third of the board's diagonal away, so that no game is over in a few steps, and more than three
capture radii: the prey moves half as fast as the hunter, and from there it can just leave the hunter's straight path in time.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from hashlib import sha512
from math import hypot, isqrt, sqrt
from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.game import SettingsError
from referee.games.values import is_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.evasion.state import Settings
    from referee.games.game import Json

#: The least distance: this part of the diagonal, and more than this number of capture radii.
_DIAGONAL_PART = 3
_RADII = 3

_HEADINGS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def settings(rules: str | None, overrides: Mapping[str, Json]) -> Settings:
    """Return checked settings. Without ``hunter`` and ``prey``, any board large enough is allowed. Raises SettingsError."""
    try:
        return variants.settings(rules, overrides)
    except SettingsError:
        if rules not in (None, *variants.NAMES) or {"hunter", "prey"} & overrides.keys():
            raise
    standard = variants.RULE_SETS[rules or "classic"].defaults
    width, height = overrides.get("width", standard.width), overrides.get("height", standard.height)
    corners = {"hunter": [0, 0, 1, 1], "prey": [width - 1, height - 1]} if is_whole(width) and is_whole(height) else {}
    return variants.settings(rules, {**overrides, **corners})


def draw(settings: Settings, secret: bytes) -> Mapping[str, Json]:
    """Return the settings ``hunter`` and ``prey`` of a fair start. SettingsError if the board has none."""
    width, height, radius = settings.width, settings.height, settings.capture_radius
    diagonal_squared = (width - 1) ** 2 + (height - 1) ** 2
    # The least squared distance, a whole number.
    least = max(-(-diagonal_squared // _DIAGONAL_PART**2), (_RADII * radius) ** 2 + 1)
    sums = _sums(width, height, least)
    if not sums[-1]:
        raise SettingsError(
            f"no fair start can be drawn on the {width} x {height} board: hunter and prey must start at least {sqrt(least):.1f} cells apart "
            f"(with a capture radius of {radius}), but its corners are {hypot(width - 1, height - 1):.1f} apart; "
            "take a larger board or a smaller capture_radius, or name the starts of hunter and prey."
        )
    # The number has 512 bits, so that its remainders are as good as uniform.
    number = int.from_bytes(sha512(secret + b"/start").digest(), "big")
    number, turn = divmod(number, len(_HEADINGS))
    number %= sums[-1]
    apart = bisect_right(sums, number)
    number -= sums[apart - 1] if apart else 0
    rows, columns = divmod(number, _column_pairs(width, apart))
    hunter_x, prey_x = _columns(apart, columns)
    hunter_y, prey_y = _rows(height, _least_rows(least, apart), rows)
    return {"hunter": [hunter_x, hunter_y, *_HEADINGS[turn]], "prey": [prey_x, prey_y]}


@lru_cache(maxsize=8)
def _sums(width: int, height: int, least: int) -> tuple[int, ...]:
    """Return, for each number of columns between the players, how many pairs of cells are at most so many columns apart and far enough."""
    total = 0
    sums = []
    for apart in range(width):
        total += _column_pairs(width, apart) * _row_pairs(height, _least_rows(least, apart))
        sums.append(total)
    return tuple(sums)


def _least_rows(least: int, apart: int) -> int:
    """Return the least number of rows between cells that are a number of columns apart."""
    rest = least - apart * apart
    return isqrt(rest - 1) + 1 if rest > 0 else 0


def _column_pairs(width: int, apart: int) -> int:
    return 2 * (width - apart) if apart else width


def _row_pairs(height: int, least: int) -> int:
    """Return the number of ordered pairs of rows that are at least so far apart."""
    return height * height if least == 0 else max(0, height - least) * (height - least + 1)


def _columns(apart: int, number: int) -> tuple[int, int]:
    """Return a pair of columns by its number."""
    if not apart:
        return number, number
    low, is_swapped = divmod(number, 2)
    return (low + apart, low) if is_swapped else (low, low + apart)


def _rows(height: int, least: int, number: int) -> tuple[int, int]:
    """Return a pair of rows by its number: all pairs if ``least`` is 0, else those that are at least so far apart."""
    if least == 0:
        return divmod(number, height)
    number, is_swapped = divmod(number, 2)
    # The pairs form a triangle: the longer row of it has one more pair.
    longer = (isqrt(8 * number + 1) - 1) // 2
    low, high = number - longer * (longer + 1) // 2, longer + least
    return (high, low) if is_swapped else (low, high)
