"""play --live --games: several games of the same players, which spectators see one after another at the same address."""

from __future__ import annotations

import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from referee.cli.app import say
from referee.cli.many import report, told_of_games
from referee.cli.run import linger, run_match
from referee.errors import PlayerError
from referee.match.seeds import new_seed
from referee.players.spec import HUMAN
from referee.support.packages import need_web
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.cli.pages import Show
    from referee.cli.request import Request
    from referee.league.many import ManyGame
    from referee.web.live import PageAddress, Pages

#: Steps a second without --pace: nobody can follow a game at full speed.
_PACE = 30.0
#: How long spectators see the result of a game before the next one begins, in seconds.
_RESULT_SECONDS = 5.0


def play_series(wanted: Request, lineup: Mapping[str, str], games: int, show: Show, *, is_quiet: bool, as_json: bool) -> None:
    """Play games one after another, with pages that continue with the next game by themselves, and print a summary."""
    need_web("--live")
    from referee.api.matches import Result
    from referee.league.many import checked_games, drawn_games, game_of, new_folder, one_of_many
    from referee.web.live import Series

    if HUMAN in lineup.values():
        raise PlayerError("A person plays one game at a time: referee play human runner")
    checked_games(games)
    match = wanted.match
    if match.seed is None:
        match = match._replace(seed=new_seed())
    schedule = drawn_games(match, games)
    folder = new_folder(match, list(lineup.values()))
    show = show._replace(bots_pace=show.bots_pace or _PACE)
    found: list[ManyGame] = []
    pages: Pages | None = None
    place: PageAddress | None = None
    try:
        with told_of_games(match.seed, lineup, found, games, as_json=as_json):
            for number, (start, seed) in enumerate(schedule):
                one = one_of_many(match, Path(folder), number, games, start, seed)
                is_last = number + 1 == games
                won = {seat: sum(game.winner == seat for game in found) for seat in lineup}
                shown = show._replace(series=Series(number + 1, games, won), stays=show.stays or not is_last)
                if not is_quiet:
                    say(f"Game {number + 1:,} of {games:,}")
                played, pages = run_match(wanted._replace(match=one), lineup, quiet=is_quiet, show=shown, place=place)
                assert pages is not None
                place = None
                found.append(game_of(number, start, seed, Result(played)))
                if not is_quiet:
                    say(escape(found[-1].text, 300))
                if not played.result.started:
                    raise typer.Exit(3)
                if not is_last:
                    select.select([], [], [], _RESULT_SECONDS)
                    place = pages.make_room()
        report(match.seed, lineup, found, as_json=as_json)
        sys.stdout.flush()
        assert pages is not None
        linger(pages, show)
    finally:
        if pages is not None and place is None:
            pages.close()
