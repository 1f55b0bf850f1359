"""The table of games. A new game is a folder here and one line in ``_ROOMS``."""

from __future__ import annotations

from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from referee.dialects.dialect import Dialect
    from referee.games.game import Game, GameInfo

_ROOMS = {
    "evasion": "referee.games.evasion",
    "rectangle": "referee.games.rectangle",
    "maze": "referee.games.maze",
}


def names() -> tuple[str, ...]:
    """The games of this package, by name."""
    return tuple(_ROOMS)


def room(name: str) -> str:
    """The package in which a game of ours lives."""
    return _ROOMS[name]


def get(name: str) -> Game[Any, Any]:
    """A game by its name, from here or from another package's entry point in the group ``referee.games``.

    Raises SettingsError with the names that there are.
    """
    module = _ROOMS.get(name)
    if module is not None:
        from importlib import import_module

        game: Game[Any, Any] = import_module(module).GAME
        return game
    from importlib.metadata import entry_points

    elsewhere = {point.name: point for point in entry_points(group="referee.games")}
    if name in elsewhere:
        found: Game[Any, Any] = elsewhere[name].load()
        return found
    raise SettingsError(f"there is no game {name!r}; there are {', '.join([*_ROOMS, *elsewhere])}.")


def info(name: str) -> GameInfo:
    """What a game is called and what can be set, without loading its rules where it is one of ours. Raises SettingsError as ``get`` does."""
    if name not in _ROOMS:
        return get(name).info
    from importlib import import_module

    found: GameInfo = import_module(f"{_ROOMS[name]}.options").INFO
    return found


def dialects_of(name: str) -> Mapping[str, Dialect]:
    """The dialects of a game beside the native protocol, by name; none for games from elsewhere."""
    from importlib import import_module
    from importlib.util import find_spec

    module = f"{_ROOMS[name]}.dialects" if name in _ROOMS else ""
    if not module or find_spec(module) is None:
        return {}
    found: Mapping[str, Dialect] = import_module(module).DIALECTS
    return found


def conformance_of(name: str) -> Any:
    """The module with which a game of this package plays its recorded games, None if there are none."""
    from importlib import import_module
    from importlib.util import find_spec

    module = f"{_ROOMS[name]}.conformance"
    return None if find_spec(module) is None else import_module(module)
