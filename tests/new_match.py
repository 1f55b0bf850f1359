"""Matches for tests: of some players, under a seed or from a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.match.loop import Match, Options
from referee.match.start import Start
from referee.players.clock import Clock
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game
    from referee.isolation.supervision import SupervisionReserve
    from referee.match.loop import Result
    from referee.players.clock import TimeControl
    from referee.players.player import Player
    from referee.replay.events import Listener


def match_between(
    game: Game[Any, Any],
    settings: Any,
    players: Mapping[str, Player],
    options: Options | None = None,
    *,
    seed: int | None = None,
    start: Start[Any] | None = None,
    listeners: Sequence[Listener] = (),
    logs: Mapping[str, Path] | None = None,
    reserve: SupervisionReserve | None = None,
    times: Mapping[str, TimeControl] | None = None,
) -> Match:
    """A match that hasn't begun. ``times`` gives some seats a time control of their own."""
    start = start or Start.of(game, settings, new_seed() if seed is None else seed)
    match = Match(game, settings, players, options, start=start, listeners=listeners, logs=logs, reserve=reserve)
    is_strict = match.options.isolation.is_strict
    match.clocks |= {seat: Clock(control.settled(is_strict=is_strict)) for seat, control in (times or {}).items()}
    return match


def play_out(game: Game[Any, Any], settings: Any, players: Mapping[str, Player], *options: Any, **more: Any) -> Result:
    """The result of such a match."""
    return match_between(game, settings, players, *options, **more).run()
