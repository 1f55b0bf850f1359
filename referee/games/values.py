"""Checks of settings that all games share: names, whole numbers, choices; and wrong values in sentences."""

from __future__ import annotations

from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeGuard

    from referee.games.game import Option


def checked(options: Iterable[Option], given: Mapping[str, object]) -> dict[str, Any]:
    """The given values of the options, checked each by itself; SettingsError names the setting and what is allowed.

    Options of kind "lines" are left to the game.
    """
    found: dict[str, Any] = {}
    for option in options:
        if option.name not in given:
            continue
        value = given[option.name]
        if option.kind == "integer":
            found[option.name] = whole(option, value)
        elif option.kind == "integers":
            found[option.name] = wholes(option, value)
        elif option.kind == "boolean":
            if not isinstance(value, bool):
                raise SettingsError(f"{option.name} is {said(value)}, but must be true or false.")
            found[option.name] = value
        elif option.kind == "choice":
            if not isinstance(value, str) or value not in option.choices:
                good = " or ".join(f'"{choice}"' if choice.isdigit() else choice for choice in option.choices)
                raise SettingsError(f"{option.name} is {said(value)}, but must be {good}.")
            found[option.name] = value
    return found


def refuse_unknown(where: str, names: Iterable[str], given: Iterable[object], known: str = "") -> None:
    """SettingsError for a name that is no setting, with the nearest good one or the list of them.

    ``where`` begins the sentence ("Maze has"); ``known`` replaces the list of names.
    """
    good = tuple(names)
    for name in given:
        if name in good:
            continue
        from difflib import get_close_matches

        near = get_close_matches(str(name), good, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {known or ', '.join(good)}."
        raise SettingsError(f"{where} no setting {name!r:.60}; {hint}")


def is_whole(value: object) -> TypeGuard[int]:
    """True for a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def whole(option: Option, value: object) -> int:
    """A whole number within the option's bounds. Raises SettingsError."""
    if not is_whole(value) or not option.least <= value <= option.most:
        raise SettingsError(f"{option.name} is {said(value)}, but must be a whole number from {option.least} to {option.most:,}.")
    return value


def wholes(option: Option, value: object) -> tuple[int, ...]:
    """As many whole numbers as the option has parts. Raises SettingsError."""
    if not isinstance(value, (list, tuple)) or len(value) != len(option.parts) or not all(map(is_whole, value)):
        raise SettingsError(f"{option.name} is {said(value)}, but must be {len(option.parts)} whole numbers: {', '.join(option.parts)}.")
    return tuple(value)


def said(value: object) -> str:
    """A wrong value for a sentence; a number may have thousands of digits."""
    try:
        return f"{value!r:.60}"
    except (ValueError, RecursionError):
        return "a huge value"


def short(number: int) -> str:
    """A number for a sentence, unless it is a huge one."""
    return str(number) if abs(number) < 10**9 else "a huge number"


def shown(value: object) -> str:
    """A wrong part of an answer for a sentence: JSON's own words, cut to 40 characters."""
    if value is None or isinstance(value, bool):
        return {None: "missing", True: "true", False: "false"}[value]
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a huge value"
    return text if len(text) <= 40 else f"{text[:37]}..."
