"""The checks of settings that all games share, and texts of wrong values for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.game import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeGuard

    from referee.games.game import Json, Option


def checked(options: Iterable[Option], overrides: Mapping[str, object]) -> dict[str, Json]:
    """Return the given values of the options. SettingsError names a wrong setting and what is allowed.

    Options of kind "lines" are checked by the game.
    """
    return {
        option.name: _CHECKS[option.kind](option, overrides[option.name])
        for option in options
        if option.name in overrides and option.kind in _CHECKS
    }


def refuse_unknown(where: str, names: Iterable[str], settings: Iterable[object]) -> None:
    """Raise SettingsError for a name that isn't a setting, with the closest name or the list of names.

    ``where`` begins the sentence ("Maze has").
    """
    good = tuple(names)
    for name in settings:
        if name in good:
            continue
        from referee.support.near_names import nearest_or_all

        raise SettingsError(f"{where} no setting {name!r:.60}; {nearest_or_all(name, good)}")


def refuse_rules(whose: str, rules: object, names: Iterable[str]) -> None:
    """Raise SettingsError for a rule set that isn't one of the names. ``whose`` begins the sentence ("Maze has no rule set")."""
    good = tuple(names)
    if rules in good:
        return
    from referee.support.near_names import nearest_or_all

    raise SettingsError(f"{whose} {rules!r:.60}; {nearest_or_all(rules, good)}")


def is_whole(value: object) -> TypeGuard[int]:
    """True for a whole number. JSON's true and false are not numbers."""
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(option: Option, value: object) -> int:
    if not is_whole(value) or not option.least <= value <= option.most:
        raise SettingsError(f"{option.name} is {said(value)}, but must be a whole number from {option.least} to {option.most:,}.")
    return value


def _wholes(option: Option, value: object) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != len(option.parts) or not all(map(is_whole, value)):
        raise SettingsError(f"{option.name} is {said(value)}, but must be {len(option.parts)} whole numbers: {', '.join(option.parts)}.")
    return tuple(value)


def _boolean(option: Option, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{option.name} is {said(value)}, but must be true or false.")
    return value


def _choice(option: Option, value: object) -> str:
    if not isinstance(value, str) or value not in option.choices:
        good = " or ".join(f'"{choice}"' if choice.isdigit() else choice for choice in option.choices)
        raise SettingsError(f"{option.name} is {said(value)}, but must be {good}.")
    return value


_CHECKS: dict[str, Callable[[Option, object], Json]] = {"integer": _whole, "integers": _wholes, "boolean": _boolean, "choice": _choice}


def _repr(value: object) -> str:
    """The value as Python writes it. A number may have thousands of digits, and a list may be deep."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return "a huge value"


def said(value: object) -> str:
    """Return a wrong value of a setting for a sentence: its first 60 characters."""
    return _repr(value)[:60]


def short(number: int) -> str:
    """Return a number for a sentence: a bot's number may have thousands of digits."""
    return str(number) if abs(number) < 10**9 else "a huge number"


def shown(value: object) -> str:
    """Return a wrong part of an answer for a sentence: as JSON, at most 40 characters."""
    if value is None or isinstance(value, bool):
        return {None: "missing", True: "true", False: "false"}[value]
    text = _repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
