"""Matches for tests: of some players, under a seed or from a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.isolation.level import Isolation
from referee.match.match import Match
from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.clock import Clock
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game
    from referee.isolation.launcher import Launcher
    from referee.players.player import Player
    from referee.replay.events import Listener


class Options(NamedTuple):
    """How a test's match is run, at a level of isolation that is there."""

    time: TimeControl = TimeControl()
    run: RunOptions = RunOptions()
    isolation: Isolation = Isolation()


def match_between(
    game: Game,
    settings: Any,
    players: Mapping[str, Player],
    options: Options | None = None,
    *,
    seed: int | None = None,
    start: Start | None = None,
    replay: Path | None = None,
    listeners: Sequence[Listener] = (),
    launcher: Launcher | None = None,
    times: Mapping[str, TimeControl] | None = None,
) -> Match:
    """A match that hasn't begun. Its logs are beside its replay. ``times`` gives some seats a time control of their own."""
    time, run, isolation = options or Options()
    start = start or Start.of(game, settings, new_seed() if seed is None else seed)
    spec = MatchSpec(game, settings, players, start, MatchOptions(time=time, run=run), replay)

    def clock_of(seat: str, control: TimeControl) -> Clock:
        return Clock((times or {}).get(seat, control).settled(is_strict=isolation.is_strict))

    return Match(spec, listeners, isolation=isolation, launcher=launcher, clock_of=clock_of)
