"""The key of a match: a hash of everything that decides its result. A match with a known key need not be played again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from referee.support.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import AnyGame, Json, Seat
    from referee.tournament.values import Team

_DIGITS = 32


def match_key(game: AnyGame, rules: str, seats: Mapping[Seat, Team], settings: Mapping[str, Json], seed: int, repeat: int = 0) -> str:
    """Return 32 hexadecimal digits. ``settings`` are all settings of the match as JSON, those of its start included.

    The names of the teams count: two teams may have equal files.
    """
    parts = {
        "game": [game.info.name, game.info.version, rules],
        "seats": {seat: [team.name, team.hash] for seat, team in seats.items()},
        "settings": dict(settings),
        "seed": seed,
        "repeat": repeat,
    }
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:_DIGITS]
