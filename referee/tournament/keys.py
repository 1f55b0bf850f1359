"""The key of a task: a hash of everything that decides the result of its match. A task with a known key need not be played again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from referee.support.canonical import canonical
from referee.tournament.values import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import AnyGame, Json, Seat
    from referee.handins.values import Entry
    from referee.match.options import MatchOptions

_DIGITS = 32


def terms_hash(game: AnyGame, rules: str, options: MatchOptions) -> str:
    """Return the hash of what all tasks of a plan have in common: the game, its version and rules, and the options of the matches."""
    return _hash([game.info.name, game.info.version, rules, options.to_json()])


def new_task(
    terms: str, seats: Mapping[Seat, Entry], settings: Mapping[str, Json], seed: int, *, repeat: int = 0, blamed: tuple[str, ...] = ()
) -> Task:
    """Return a task with its key. ``terms`` is the ``terms_hash``; ``settings`` are all settings as JSON, including those of its start.

    The names of the entries count, because two entries may have equal files. A plan that repeats a match gives another ``seed``
    or ``repeat``: no two tasks of a plan have the same key.
    """
    parts = {
        "terms": terms,
        "seats": {seat: [entry.name, entry.hash] for seat, entry in seats.items()},
        "settings": dict(settings),
        "seed": seed,
        "repeat": repeat,
        "blamed": list(blamed),
    }
    return Task(_hash(parts), seats, settings, seed, blamed)


def _hash(value: Json) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:_DIGITS]
