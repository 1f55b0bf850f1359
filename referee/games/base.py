"""The base class of this package's games. Each game is a folder with its rules in ``game`` and its capabilities in other modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from referee.games import capabilities
    from referee.games.dialect import Dialect


S = TypeVar("S")
M = TypeVar("M")
G = TypeVar("G")


class _Imported:
    """A capability in a module of its own. ``where`` is that module below the game's folder; the name of the object may follow a colon."""

    def __init__(self, where: str) -> None:
        self._module, _, self._name = where.partition(":")

    def __get__(self, game: object, kind: type) -> Any:
        from importlib import import_module

        module = import_module(f"{kind.__module__.rpartition('.')[0]}.{self._module}")
        return getattr(module, self._name) if self._name else module


def imported(where: str) -> Any:
    """Return a capability that is imported at its first use: a module, as in "starts", or an object, as in "marking:MARKING"."""
    return _Imported(where)


class BaseGame(Generic[S, M, G]):
    """Base class of the games here. A capability that a game lacks is None."""

    analysis: capabilities.Analysis[S] | None = None
    appraisal: capabilities.Appraisal[S, M, G] | None = None
    adjudication: capabilities.Adjudication[S, G] | None = None
    pairing: capabilities.Pairing[G] | None = None
    starts: capabilities.Starts[G] | None = None
    human_play: capabilities.HumanPlay | None = None
    text: capabilities.TextView[S] | None = None
    metrics: capabilities.Metrics[S] | None = None
    dialects: Mapping[str, Dialect] | None = None
    marking: capabilities.Marking | None = None
    samples: capabilities.Samples | None = None
    starters: capabilities.Starters | None = None
    codes: str | None = None
