"""The table of games: those of this package, and those of other packages. A new game is a folder here and a name in ``_GAMES``."""

from __future__ import annotations

from importlib import import_module

from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint
    from typing import Any

    from referee.dialects.dialect import Dialect
    from referee.games.capabilities import CodeText, Marking, Samples, Starters
    from referee.games.game import Game, GameInfo

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


def get(name: str) -> Game[Any, Any]:
    """Return a game of this package, or of another package by its entry point.

    SettingsError names the games that exist, or the package whose game can't be loaded.
    """
    found: Game[Any, Any]
    if name in _GAMES:
        found = import_module(f"{__package__}.{name}").GAME
    else:
        others = _entry_points()
        if name not in others:
            raise SettingsError(f"there is no game {name!r}; there are {', '.join([*_GAMES, *others])}.")
        found = _loaded(others[name])
    return found


def _loaded(point: EntryPoint) -> Game[Any, Any]:
    package = f"the package {point.dist.name!r}" if point.dist is not None else f"the module {point.module!r}"
    try:
        found: Game[Any, Any] = point.load()
        name = found.info.name
    except Exception as error:
        raise SettingsError(f"the game {point.name!r} of {package} can't be loaded: {type(error).__name__}: {error}.") from error
    if name != point.name:
        raise SettingsError(f"the game {point.name!r} of {package} calls itself {name!r}; its entry point needs the same name.")
    return found


def info(name: str) -> GameInfo:
    """Return the name, rule sets and settings of a game. For this package's games this doesn't load the rules. Raises like ``get``."""
    found: GameInfo = import_module(f"{__package__}.{name}.options").INFO if name in _GAMES else get(name).info
    return found


def dialects_of(name: str) -> Mapping[str, Dialect]:
    """Return the dialects of a game besides the native protocol, by name: ``DIALECTS`` of the module ``dialects`` in its package."""
    return getattr(_part(name, "dialects"), "DIALECTS", {})


def conformance_of(name: str) -> Any:
    """Return the module ``conformance`` of a game's package, which plays its recorded games; None if there is none."""
    return _part(name, "conformance")


def marking_of(name: str) -> Marking | None:
    """Return what a rubric can ask in a game: ``MARKING`` of the module ``marking`` in its package; None if there is none."""
    found: Marking | None = getattr(_part(name, "marking"), "MARKING", None)
    return found


def drawing_of(name: str) -> Any:
    """Return the module ``drawing`` of a game's package, which makes positions from drawings; None if there is none."""
    return _part(name, "drawing")


def samples_of(name: str) -> Samples | None:
    """Return the positions with which bots of a game are checked: ``SAMPLES`` of the module ``samples`` in its package; None if there is none."""
    found: Samples | None = getattr(_part(name, "samples"), "SAMPLES", None)
    return found


def starters_of(name: str) -> Starters | None:
    """Return the starters of a game: ``STARTERS`` of the package ``starters`` in its package; None if it has none."""
    found: Starters | None = getattr(_part(name, "starters"), "STARTERS", None)
    return found


def codes_of(name: str) -> tuple[CodeText, ...]:
    """Return the explanations of a game's own codes: ``CODES`` of the module ``codes`` in its package; empty if there is none."""
    found: tuple[CodeText, ...] = getattr(_part(name, "codes"), "CODES", ())
    return found


def _package(name: str) -> str:
    """Return the module that holds a game; empty if there is no such game."""
    if name in _GAMES:
        return f"{__package__}.{name}"
    point = _entry_points().get(name)
    return "" if point is None else point.module


def folder(name: str) -> str | None:
    """Return the folder of a game's package; None for a game that is a single module."""
    from importlib.util import find_spec

    try:
        spec = find_spec(_package(name))
    except Exception:  # noqa: BLE001 - the same
        spec = None
    places = spec.submodule_search_locations if spec is not None else None
    return None if not places else next(iter(places))


def _part(name: str, part: str) -> Any:
    """Return a module of a game's package; None if there is none."""
    from importlib.util import find_spec

    package = _package(name)
    try:
        there = bool(package) and find_spec(f"{package}.{part}") is not None
    except Exception:  # noqa: BLE001 - the same; or the game is a module, not a package
        there = False
    return import_module(f"{package}.{part}") if there else None
