"""The table of games. A new game is a folder here and one line in ``_ROOMS``."""

from __future__ import annotations

from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint
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


def all_names() -> tuple[str, ...]:
    """The games of this package, then those that other packages offer."""
    return (*_ROOMS, *(name for name in _elsewhere() if name not in _ROOMS))


def folder(name: str) -> str | None:
    """The folder of a game's package, None for a game that is a single module."""
    from importlib.util import find_spec

    package = _ROOMS.get(name) or _elsewhere()[name].module
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    return None if not places else next(iter(places))


def _elsewhere() -> dict[str, EntryPoint]:
    """The entry points of other packages in the group ``referee.games``, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="referee.games")}


def get(name: str) -> Game[Any, Any]:
    """A game by its name, from here or from another package's entry point in the group ``referee.games``.

    Raises SettingsError with the names that there are.
    """
    module = _ROOMS.get(name)
    if module is not None:
        from importlib import import_module

        game: Game[Any, Any] = import_module(module).GAME
        return game
    elsewhere = _elsewhere()
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
    """The dialects of a game beside the native protocol, by name: ``DIALECTS`` of the module ``dialects`` in its package."""
    module = _part(name, "dialects")
    found: Mapping[str, Dialect] = {} if module is None else module.DIALECTS
    return found


def conformance_of(name: str) -> Any:
    """The module ``conformance`` in a game's package, which plays its recorded games; None if there is none."""
    return _part(name, "conformance")


def _part(name: str, part: str) -> Any:
    """A module of a game's package, None if there is none."""
    from importlib import import_module
    from importlib.util import find_spec

    package = _ROOMS.get(name) or (elsewhere[name].module if name in (elsewhere := _elsewhere()) else "")
    try:
        there = bool(package) and find_spec(f"{package}.{part}") is not None
    except ModuleNotFoundError:
        # The game is a module, not a package.
        there = False
    return import_module(f"{package}.{part}") if there else None
