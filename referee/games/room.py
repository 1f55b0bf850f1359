"""What the games of this package share: each is a folder with its rules in the module ``game`` and its capabilities in further modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from referee.games.capabilities import (
        Adjudication,
        Analysis,
        Appraisal,
        HumanPlay,
        Marking,
        Metrics,
        Pairing,
        Samples,
        Starters,
        Starts,
        TextView,
    )
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
    """Return a capability that is imported when it is asked for: a module, as in "starts", or an object, as in "marking:MARKING"."""
    return _Imported(where)


class GameRoom(Generic[S, M, G]):
    """The base of the games here. A capability that a game doesn't have is None."""

    analysis: Analysis[S] | None = None
    appraisal: Appraisal[S, M, G] | None = None
    adjudication: Adjudication[S, G] | None = None
    pairing: Pairing[G] | None = None
    starts: Starts[G] | None = None
    human_play: HumanPlay | None = None
    text: TextView[S] | None = None
    metrics: Metrics[S] | None = None
    dialects: Mapping[str, Dialect] | None = None
    marking: Marking | None = None
    samples: Samples | None = None
    starters: Starters | None = None
    codes: str | None = None
