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
    for match in view.matches():
        variant = schedule.league.variants[match.duel.variant].name
        yield match_row(match.duel, match.number, variant, match.task, match.status, match.record)
