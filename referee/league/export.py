"""All matches of a league as rows, for CSV and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.tournament.export import match_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.game import Json
    from referee.league.folder import LeagueView
    from referee.league.league_schedule import Schedule


def export_rows(view: LeagueView, schedule: Schedule) -> Iterator[dict[str, Json]]:
    """Yield every match as a flat JSON object; results are missing where there are none yet."""
    duels = {duel.number: duel for duel in view.duels()}
    for stored in view.matches():
        duel = duels.get(stored.task.duel)
        # The round of another one was planned after the duels were read.
        if duel is not None:
            variant = schedule.league.variants[duel.variant].name
            yield match_row(duel, stored.task.game_number, variant, stored.task, stored.status, stored.record)
