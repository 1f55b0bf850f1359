"""play --games: many games of the same players, with a summary."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import typer

from referee.cli.app import put, put_json, put_more, reporting_when_interrupted
from referee.cli.terminal import StatusLine
from referee.support.words import counted, program
from referee.tournament.summary import score, summarize, summary_lines
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.match.request import MatchRequest
    from referee.tournament.many import ManyGame


def play_games(request: MatchRequest, players: Mapping[str, str], games: int, slots: int | None) -> None:
    """Play many games and print their summary."""
    from referee.tournament.many import many, new_folder

    seed = new_seed() if request.seed is None else request.seed
    folder = new_folder(request, list(players.values()))
    request = request.replace(seed=seed, out=str(folder))
    ended: list[ManyGame] = []
    begun = time.monotonic()
    line = StatusLine()

    def show(game: ManyGame) -> None:
        ended.append(game)
        left = (time.monotonic() - begun) / len(ended) * (games - len(ended))
        line.show(f"{len(ended):,} of {counted(games, 'game')}, {left:,.0f} s left")

    with (
        reporting_when_interrupted(
            lambda: {"planned": games, **_facts(seed, ended)},
            lambda: _report(seed, players, ended, folder, as_json=False, of=games),
            lambda: bool(ended),
            as_json=request.as_json,
        ),
        contextlib.closing(line),
        contextlib.closing(many(request, players, games, slots, show)) as played,
    ):
        for _ in played:
            pass
    _report(seed, players, ended, folder, as_json=request.as_json)
    if not any(game.started for game in ended):
        raise typer.Exit(3)


def _facts(seed: int | None, ended: Sequence[ManyGame]) -> dict[str, Any]:
    """Return the summary as JSON data, with the games in the order of the schedule."""
    return {"seed": seed, **(summarize(ended) if ended else {"games": 0}), "results": [game.to_json() for game in sorted(ended)]}


def _report(
    seed: int | None, players: Mapping[str, str], ended: Sequence[ManyGame], folder: Path, *, as_json: bool, of: int | None = None
) -> None:
    """Print the summary of many games. ``of`` is the planned number if some have not ended."""
    if as_json:
        put_json(_facts(seed, ended))
        return
    count = f"{counted(len(ended), 'game')}" if of is None else f"{len(ended):,} of {counted(of, 'game')}"
    put(f"{count} of {' and '.join(players.values())}{f': {score(ended)}' if ended else ''}")
    if ended:
        put_more(*summary_lines(sorted(ended)))
    put_more(f"  seed     {seed}", f"  replays  {folder}/{'' if ended else ' has none yet'}")
    if ended:
        put_more(f"Next:  {program()} show {min(ended).replay}")
