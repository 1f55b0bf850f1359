"""Continues a league: no other process plays it, and the files of its teams are those with which it began."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.handins.entry import read as read_entry
from referee.handins.hashes import changed
from referee.league.league import OpenLeague, first, open_league
from referee.support.packages import need_league
from referee.support.words import counted, program
from referee.tournament import commitment

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[OpenLeague]:
    """Open a league that no other process plays meanwhile. UsageError if its teams can't play or their files have changed."""
    need_league("league")
    with contextlib.closing(open_league(folder)) as opened, opened.store.claim():
        # Another process may have played it before the claim.
        league = OpenLeague(opened.folder, opened.rows_store)
        check_files(league)
        commitment.write(league.league.commitment, folder)
        yield league


def check_files(opened: OpenLeague) -> None:
    """Raise UsageError if a team can't play any more, or if its files have changed since the league began."""
    game = opened.schedule.game
    settings = game.codec.settings(opened.league.rules, dict(opened.league.variants[0].settings))
    changes = {}
    for team in opened.schedule.teams.values():
        try:
            now = read_entry(team.name, team.players, game, settings, Path(team.home))
        except UsageError as error:
            raise UsageError(f"{error} Restore its files, and go on:  {again(opened)}") from None
        if now.hash != team.hash:
            changes[team.name] = changed(now, team)
    if changes:
        summary = "; ".join(f"{name}: {first(phrases)}" for name, phrases in list(changes.items())[:5])
        raise UsageError(
            f"The files of {counted(len(changes), 'team')} have changed since the league began ({summary}). Restore them, and go on:  "
            f"{again(opened)}   Or begin another league with the new files:  {program()} league run FILE --out DIR"
        )


def again(opened: OpenLeague) -> str:
    """Return the command that continues a league."""
    return f"{program()} league resume {shlex.quote(str(opened.folder))}"
