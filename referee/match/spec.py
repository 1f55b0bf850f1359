"""What a match is, before it is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from referee.match.options import MatchOptions, TimeControl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Game, Seat
    from referee.match.start import Start
    from referee.players.clock import LongWait
    from referee.players.player import Player

S = TypeVar("S", default=Any)
M = TypeVar("M", default=Any)


@dataclass(frozen=True)
class MatchSpec(Generic[S, M]):
    """A match: ``players`` play ``game`` with ``settings`` from ``start`` on.

    Players that are out at the start have no entry. ``times`` are the time controls of players that have another one than the match. With
    ``wait`` the clocks bill and show what is left, but the referee waits for an answer as long as that says. ``replay`` is the file of the
    replay, beside which the players' logs are; None for neither of these. The match owns the file: it removes one to which nothing was
    written.
    """

    game: Game[S, M]
    settings: Any
    players: Mapping[Seat, Player]
    start: Start[S]
    options: MatchOptions = field(default_factory=MatchOptions)
    replay: Path | None = None
    times: Mapping[Seat, TimeControl] = field(default_factory=dict)
    wait: LongWait | None = None
