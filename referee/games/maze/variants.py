"""The settings of Maze, and the squares from which a game may start.

Source: rules of Maze, "Start".
"""

from __future__ import annotations

from referee.game import SettingsError
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.state import Settings
from referee.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

RULES = "standard"
PARITIES = ("even", "any")
_NAMES = ("layout", "parity", "exit_start", "apart", "max_moves", "thief", "policeman")


def settings(rules: str | None, given: Mapping[str, object]) -> Settings:
    """The default settings with some of them changed. Raises SettingsError, naming the setting and what is allowed."""
    if rules not in (None, RULES):
        raise SettingsError(f"Maze has no rule set {rules!r:.60}; there is {RULES}.")
    for name in given:
        if name not in _NAMES:
            from difflib import get_close_matches

            near = get_close_matches(str(name), _NAMES, n=1)
            raise SettingsError(
                f"Maze has no setting {name!r:.60}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_NAMES)}.")
            )
    layout = given.get("layout", STANDARD)
    parity = given.get("parity", PARITIES[0])
    if parity not in PARITIES:
        raise SettingsError(f"parity is {parity!r:.60}, but must be even or any.")
    exit_start = given.get("exit_start", parity == "any")
    if not isinstance(exit_start, bool):
        raise SettingsError(f"exit_start is {exit_start!r:.60}, but must be true or false.")
    found = Settings(
        RULES,
        layout if isinstance(layout, Layout) else Layout(layout),  # type: ignore[arg-type]
        str(parity),
        exit_start,
        _number(given, "apart", 16, 0, 200),
        _number(given, "max_moves", 200, 0, 100_000),
    )
    return _placed(found, given)


def _number(given: Mapping[str, object], name: str, usual: int, least: int, most: int) -> int:
    value = given.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SettingsError(f"{name} is {_said(value)}, but must be a whole number from {least} to {most:,}.")
    return value


def _placed(found: Settings, given: Mapping[str, object]) -> Settings:
    """With the squares that are given, checked; both or none."""
    squares: dict[str, Any] = {}
    for name in ("thief", "policeman"):
        value = given.get(name)
        if value is None:
            continue
        if (
            not isinstance(value, (list, tuple))
            or len(value) != 2
            or not all(isinstance(part, int) and not isinstance(part, bool) for part in value)
        ):
            raise SettingsError(f"{name} is {_said(value)}, but must be two whole numbers: row and column, from 1.")
        squares[name] = tuple(value)
        if squares[name] not in found.layout.index:
            raise SettingsError(f"{name} can't start on line {_short(value[0])}, column {_short(value[1])}: there is no free square.")
    if len(squares) == 1:
        (name,) = squares
        raise SettingsError(f"{name} has a square to start on, but the other one has none; give both or neither.")
    found = found._replace(**squares)
    if squares:
        if found.layout.index[squares["thief"]] == found.layout.exit:
            raise SettingsError("thief can't start on the exit: it would have won.")
        if squares["thief"] == squares["policeman"]:
            raise SettingsError("thief and policeman can't start on one square.")
    elif next(starts(found), None) is None:
        raise SettingsError(
            f"apart is {found.apart}, but no two free squares of this layout are so far from each other with the thief's so far from the exit; "
            "give a smaller one."
        )
    return found


def starts(found: Settings) -> Iterator[tuple[int, int]]:
    """Every pair of places, thief and policeman, from which a game may start, in order."""
    layout = found.layout
    out_row, out_column = layout.squares[layout.exit]
    for thief, (row, column) in enumerate(layout.squares):
        if thief == layout.exit or abs(row - out_row) + abs(column - out_column) < found.apart:
            continue
        for policeman, (at_row, at_column) in enumerate(layout.squares):
            apart = abs(row - at_row) + abs(column - at_column)
            if apart < max(1, found.apart) or (found.parity == "even" and apart % 2):
                continue
            if found.exit_start or policeman != layout.exit:
                yield thief, policeman


def _said(value: object) -> str:
    """A wrong value for a sentence; a number may have thousands of digits."""
    try:
        return f"{value!r:.60}"
    except (ValueError, RecursionError):
        return "a huge value"


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**9 else "a huge number"
