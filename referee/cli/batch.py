"""play --games: many games of the same players, with a summary; with --live, spectators see them one after another at the same address."""

from __future__ import annotations

import contextlib
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from referee.cli.app import put, put_json, say, told_anyway
from referee.cli.run import linger, run_match
from referee.cli.terminal import StatusLine
from referee.errors import PlayerError
from referee.league.summary import summarize, summary_lines
from referee.match.seeds import new_seed
from referee.players.spec import HUMAN
from referee.support.packages import need_web
from referee.support.words import counted, program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from referee.api.shown_match import Show
    from referee.cli.request import Request
    from referee.league.many import ManyGame
    from referee.web.live import PageAddress, Pages


def play_games(wanted: Request, players: Mapping[str, str], games: int, slots: int | None, *, is_quiet: bool, as_json: bool) -> None:
    """Play many games and print their summary."""
    from referee.league.many import many, new_folder

    match = wanted.match
    if match.seed is None:
        match = match._replace(seed=new_seed())
    folder = new_folder(match, list(players.values()))
    match = match._replace(out=str(folder))
    as_json |= wanted.as_json
    ended: list[ManyGame] = []
    begun = time.monotonic()
    line = StatusLine(is_quiet=is_quiet or wanted.quiet)

    def tell(game: ManyGame) -> None:
        ended.append(game)
        left = (time.monotonic() - begun) / len(ended) * (games - len(ended))
        line.show(f"{len(ended):,} of {counted(games, 'game')}, {left:,.0f} s left")

    with (
        told_of_games(match.seed, players, ended, games, folder, as_json=as_json),
        contextlib.closing(line),
        contextlib.closing(many(match, players, games, slots, tell)) as played,
    ):
        for _ in played:
            pass
    report(match.seed, players, ended, folder, as_json=as_json)


def told_of_games(
    seed: int | None, players: Mapping[str, str], ended: Sequence[ManyGame], games: int, folder: Path, *, as_json: bool
) -> AbstractContextManager[None]:
    """Return a context that tells of the games that have ended if something ends the others. ``folder`` has the replays."""
    return told_anyway(
        lambda: {"planned": games, **_facts(seed, ended)},
        lambda: report(seed, players, ended, folder, as_json=False, of=games),
        lambda: bool(ended),
        as_json=as_json,
    )


def _facts(seed: int | None, ended: Sequence[ManyGame]) -> dict[str, Any]:
    """The summary as JSON data, with the games in the order of the schedule."""
    return {"seed": seed, **(summarize(ended) if ended else {"games": 0}), "results": [game.to_json() for game in sorted(ended)]}


def report(
    seed: int | None, players: Mapping[str, str], ended: Sequence[ManyGame], folder: Path, *, as_json: bool, of: int | None = None
) -> None:
    """Print the summary of many games. ``of`` is the number that was asked for, if others have not ended."""
    if as_json:
        put_json(_facts(seed, ended))
        return
    count = f"{counted(len(ended), 'game')}" if of is None else f"{len(ended):,} of {counted(of, 'game')}"
    put(f"{count} of {' and '.join(players.values())}")
    if ended:
        put(*summary_lines(sorted(ended)))
    put(f"  seed     {seed}")
    put(f"  replays  {folder}/{'' if ended else ' has none yet'}")
    if ended:
        put(f"Next:  {program()} show {min(ended).replay}")


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
        with told_of_games(match.seed, lineup, found, games, folder, as_json=as_json):
            for number, (start, seed) in enumerate(schedule):
                one = one_of_many(match, Path(folder), number, games, start, seed)
                is_last = number + 1 == games
                won = {seat: sum(game.winner == seat for game in found) for seat in lineup}
                shown = show._replace(series=Series(number + 1, games, won), stays=show.stays or not is_last)
                if not is_quiet:
                    say(f"Game {number + 1:,} of {games:,}")
                played, pages = run_match(one, lineup, quiet=is_quiet, show=shown, place=place)
                assert pages is not None
                place = None
                found.append(game_of(number, start, seed, Result(played), played.replay))
                if not is_quiet:
                    say(found[-1].text)
                if not played.result.started:
                    raise typer.Exit(3)
                if not is_last:
                    select.select([], [], [], _RESULT_SECONDS)
                    place = pages.make_room()
        report(match.seed, lineup, found, folder, as_json=as_json)
        sys.stdout.flush()
        assert pages is not None
        linger(pages, show)
    finally:
        if pages is not None and place is None:
            pages.close()
