"""The settings of Maze, and the squares from which a game may start.

Source: rules of Maze, "Start".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from referee.games import values
from referee.games.game import SettingsError
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.options import OPTIONS
from referee.games.maze.state import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    from referee.games.game import Json

RULES: Literal["standard"] = "standard"
#: The options of the starts. Their squares are counted from 1 and checked with the layout.
_SQUARES = tuple(option for option in OPTIONS if option.kind == "integers")


def settings(rules: str | None, overrides: Mapping[str, object]) -> Settings:
    """The default settings with some of them changed. Raises SettingsError, naming the setting and what is allowed."""
    values.refuse_rules("Maze has no rule set", RULES if rules is None else rules, (RULES,))
    values.refuse_unknown("Maze has", (option.name for option in OPTIONS), overrides)
    fields: dict[str, Json] = {option.name: option.default for option in OPTIONS if option.default is not None}
    fields |= values.checked((option for option in OPTIONS if option not in _SQUARES), overrides)
    fields.setdefault("exit_start", fields["parity"] == "any")
    layout: Json = overrides.get("layout", STANDARD)
    return _placed(Settings(RULES, layout if isinstance(layout, Layout) else Layout(layout), **fields), overrides)


def _placed(settings: Settings, overrides: Mapping[str, object]) -> Settings:
    """Return the settings with the given squares, after a check. Both squares are given, or neither is."""
    squares: dict[str, Json] = {option.name: overrides[option.name] for option in _SQUARES if overrides.get(option.name) is not None}
    for name, value in squares.items():
        if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(values.is_whole, value)):
            raise SettingsError(f"{name} is {values.said(value)}, but must be two whole numbers: row and column, from 1.")
        squares[name] = square = tuple(value)
        if square not in settings.layout.index:
            line, column = map(values.short, square)
            raise SettingsError(f"{name} can't start on line {line}, column {column}: there is no free square.")
    if len(squares) == 1:
        ((name, square),) = squares.items()
        other = "policeman" if name == "thief" else "thief"
        raise SettingsError(f"{name} starts on {_place(square)}, but {other} has no square; give both or neither.")
    settings = settings._replace(**squares)
    if squares:
        if settings.layout.index[squares["thief"]] == settings.layout.exit:
            raise SettingsError(f"thief can't start on {_place(squares['thief'])}: that is the exit, it would have won.")
        if squares["thief"] == squares["policeman"]:
            raise SettingsError(f"thief and policeman can't both start on {_place(squares['thief'])}.")
    elif next(starts(settings), None) is None:
        raise _no_start(settings)
    return settings


def _no_start(settings: Settings) -> SettingsError:
    """Return why no start is possible with these settings, with the line and column of the layout that shows it."""
    layout = settings.layout
    first = _place(layout.squares[0])
    if len(layout.squares) == 1:
        return SettingsError(f"layout, {first}: this is the only free square, so nobody can start; a maze needs more.")
    close = settings._replace(apart=0)
    if next(starts(close), None) is None:
        ways = {
            "parity any": close._replace(parity="any"),
            "exit_start true": close._replace(exit_start=True),
            "parity any and exit_start true": close._replace(parity="any", exit_start=True),
        }
        help_ = next(text for text, changed in ways.items() if next(starts(changed), None) is not None)
        return SettingsError(
            f"parity is {settings.parity} and exit_start {str(settings.exit_start).lower()}, but then no two of the {len(layout.squares)} free squares, "
            f"the first on {first} of the layout, are for a thief and a policeman to start on; give {help_}."
        )

    def far(square: tuple[int, int], other: tuple[int, int]) -> int:
        return abs(square[0] - other[0]) + abs(square[1] - other[1])

    out = layout.squares[layout.exit]
    farthest = max(layout.squares, key=lambda square: far(square, out))
    if far(farthest, out) < settings.apart:
        return SettingsError(
            f"apart is {settings.apart}, but the free square farthest from the exit, on {_place(farthest)} of the layout, is only "
            f"{far(farthest, out)} from it; give a smaller one."
        )
    return SettingsError(
        f"apart is {settings.apart}, but for a thief that starts so far from the exit, as on {_place(farthest)} of the layout, "
        f"there is no square so far away where the policeman could start; give a smaller one."
    )


def _place(square: tuple[int, int]) -> str:
    return f"line {square[0]}, column {square[1]}"


def starts(settings: Settings) -> Iterator[tuple[int, int]]:
    """Every pair of places, thief and policeman, from which a game may start, in order."""
    for thief, policemen in _allowed(settings):
        for place in range(len(settings.layout.squares)):
            if policemen >> place & 1:
                yield thief, place


def start(settings: Settings, number: int) -> tuple[int, int]:
    """Return the pair of ``starts`` with this number, modulo the number of pairs."""
    allowed = list(_allowed(settings))
    number %= sum(policemen.bit_count() for _, policemen in allowed)
    index = 0
    while number >= allowed[index][1].bit_count():
        number -= allowed[index][1].bit_count()
        index += 1
    thief, policemen = allowed[index]
    for _ in range(number):
        policemen &= policemen - 1
    return thief, (policemen & -policemen).bit_length() - 1


def _allowed(settings: Settings) -> Iterator[tuple[int, int]]:
    """For each place of the thief the places where the policeman may start, as bits."""
    layout = settings.layout
    # For each row its first place and the columns of its places; as bits, the places at an even and at an odd distance from (0, 0).
    first_of: dict[int, int] = {}
    columns: dict[int, list[int]] = {}
    alike = [0, 0]
    for place, (row, column) in enumerate(layout.squares):
        first_of.setdefault(row, place)
        columns.setdefault(row, []).append(column)
        alike[(row + column) % 2] |= 1 << place
    out_row, out_column = layout.squares[layout.exit]
    everywhere = alike[0] | alike[1]
    least = max(1, settings.apart)
    for thief, (row, column) in enumerate(layout.squares):
        if thief == layout.exit or abs(row - out_row) + abs(column - out_column) < settings.apart:
            continue
        policemen = alike[(row + column) % 2] if settings.parity == "even" else everywhere
        if not settings.exit_start:
            policemen &= ~(1 << layout.exit)
        for other, first in first_of.items():
            wide = least - 1 - abs(other - row)
            if wide >= 0:
                low, high = bisect_left(columns[other], column - wide), bisect_right(columns[other], column + wide)
                policemen &= ~((1 << high - low) - 1 << first + low)
        if policemen:
            yield thief, policemen
