"""The table of games: those of this package, and those of other packages. A new game needs a folder here and a line in ``_GAMES``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.outcome import SettingsError
from referee.support.near_names import nearest_or_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint
    from typing import Any

    from referee.games.game import Game, GameInfo


#: Each is a folder with the modules ``game`` and ``options``. The first one is the default of all commands.
_GAMES = ("evasion", "rectangle", "maze")


def names() -> tuple[str, ...]:
    """Return the names of this package's games."""
    return _GAMES


def all_names() -> tuple[str, ...]:
    """Return the names of this package's games, then of the games of other packages."""
    return tuple(dict.fromkeys((*_GAMES, *_entry_points())))


def _entry_points() -> dict[str, EntryPoint]:
    """Return the entry points of other packages in the group ``referee.games``, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="referee.games")}


def get(name: str) -> Game:
    """Return a game of this package, or of another package by its entry point.

    SettingsError names the games that exist, or the package whose game can't be loaded.
    """
    if name in _GAMES:
        game: Game = _module(name, "game").GAME
        return game
    others = _entry_points()
    if name not in others:
        raise SettingsError(f"there is no game {name!r}; {nearest_or_all(name, [*_GAMES, *others])}")
    return _loaded(others[name])


def _module(game: str, name: str) -> Any:
    from importlib import import_module

    return import_module(f"referee.games.{game}.{name}")


def _loaded(point: EntryPoint) -> Game:
    package = f"the package {point.dist.name!r}" if point.dist is not None else f"the module {point.module!r}"
    from inspect import getattr_static

    from referee.games.capabilities import CAPABILITIES

    try:
        game: Game = point.load()
        name = game.info.name
        # A game names only the capabilities that it has.
        for capability in CAPABILITIES:
            if getattr_static(game, capability, capability) is capability:
                setattr(game, capability, None)
    except Exception as error:
        raise SettingsError(f"the game {point.name!r} of {package} can't be loaded: {type(error).__name__}: {error}.") from error
    if name != point.name:
        raise SettingsError(f"the game {point.name!r} of {package} calls itself {name!r}; its entry point needs the same name.")
    return game


def info(name: str) -> GameInfo:
    """Return the name, rule sets and settings of a game. Does not load the rules of a game of this package. Raises like ``get``."""
    if name in _GAMES:
        about: GameInfo = _module(name, "options").INFO
        return about
    return get(name).info


def loadable(on_broken: Callable[[SettingsError], object] = lambda _: None) -> list[Game]:
    """Return all games that can be loaded, those of this package first; ``on_broken`` is called with the reason for each other one."""
    games = []
    for name in all_names():
        try:
            games.append(get(name))
        except SettingsError as error:  # noqa: PERF203 - one broken package must not hide the others
            on_broken(error)
    return games


def folder(game: Game) -> str:
    """Return the folder with a game's files that aren't Python: drawing code, templates of starters. Empty for a game that isn't in a file."""
    import sys

    file = getattr(sys.modules.get(type(game).__module__), "__file__", None)
    return file.rpartition("/")[0] if file else ""
