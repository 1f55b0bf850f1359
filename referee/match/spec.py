"""The specification of a match."""

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

    Players that failed before the start have no entry. ``times`` are the players' own time controls, where they differ from that of the match.
    With ``wait`` the clocks bill and show what is left, but ``wait`` limits the answers. ``replay`` is the file of the replay, with the players'
    logs beside it; None: no replay and no logs. The match owns the file: it removes one to which nothing was written.
    """

    game: Game[S, M]
    settings: Any
    players: Mapping[Seat, Player]
    start: Start[S]
    options: MatchOptions = field(default_factory=MatchOptions)
    replay: Path | None = None
    times: Mapping[Seat, TimeControl] = field(default_factory=dict)
    wait: LongWait | None = None
