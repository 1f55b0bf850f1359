"""Matches for tests: of some players, under a seed or from a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.match.match import Match
from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game
    from referee.isolation.copies import Check
    from referee.players.player import Player
    from referee.replay.events import Listener


class Options(NamedTuple):
    """How a test's match is run, at a level of isolation that is there."""

    time: TimeControl = TimeControl()
    run: RunOptions = RunOptions()
    isolation: Level = Level()


class LevelLauncher(BotLauncher):
    """Runs bots at a level that the test chooses. ``serves_one``: nothing of it is left after a match."""

    def __init__(self, level: Level | None = None, check: Check | None = None, *, serves_one: bool = False) -> None:
        super().__init__(lambda _: level or Level(), check)
        self._serves_one = serves_one
        self.settle(())

    def at(self, level: Level) -> LevelLauncher:
        """Run the bots of the next match at another level."""
        self._find_level = lambda _: level
        self._levels.clear()
        return self

    def renew(self, *, is_sound: bool) -> None:
        """End the match."""
        super().renew(is_sound=is_sound and not self._serves_one)


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
    launcher: LevelLauncher | None = None,
    times: Mapping[str, TimeControl] | None = None,
) -> Match:
    """A match that hasn't begun. Its logs are beside its replay. ``times`` gives some seats a time control of their own."""
    time, run, level = options or Options()
    start = start or Start.of(game, settings, new_seed() if seed is None else seed)
    spec = MatchSpec(game, settings, players, start, MatchOptions(time=time, run=run), replay, times or {})
    launcher = LevelLauncher(level, serves_one=True) if launcher is None else launcher.at(level)
    return Match(spec, listeners, launcher)
