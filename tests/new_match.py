"""Matches for tests: of some players, under a seed or from a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.match.loop import Match, Options
from referee.match.start import Start
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game
    from referee.isolation.supervision import SupervisionReserve
    from referee.match.loop import Entrant, Result
    from referee.replay.events import Listener


def match_between(
    game: Game[Any, Any],
    settings: Any,
    players: Mapping[str, Entrant],
    options: Options | None = None,
    *,
    seed: int | None = None,
    start: Start[Any] | None = None,
    listeners: Sequence[Listener] = (),
    logs: Mapping[str, Path] | None = None,
    reserve: SupervisionReserve | None = None,
) -> Match:
    """A match that hasn't begun."""
    start = start or Start.of(game, settings, new_seed() if seed is None else seed)
    return Match(game, settings, players, options, start=start, listeners=listeners, logs=logs, reserve=reserve)


def play_out(game: Game[Any, Any], settings: Any, players: Mapping[str, Entrant], *options: Any, **more: Any) -> Result:
    """The result of such a match."""
    return match_between(game, settings, players, *options, **more).run()
