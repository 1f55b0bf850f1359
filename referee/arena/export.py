"""All matches of an arena as rows, for CSV and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.arena.plan import ArenaMatches
from referee.tournament.export import DONE, PLANNED, STOPPED, match_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.arena.arena import OpenArena
    from referee.games.game import Json


def export_rows(arena: OpenArena) -> Iterator[dict[str, Json]]:
    """Yield every match as a flat JSON object; results are missing where there are none yet."""
    matches = ArenaMatches(arena.config, arena.entries)
    for duel, played in arena.store.duels.all_matches():
        variant, records = arena.config.variants[duel.variant], {match.game_number: match.record for match in played}
        left = PLANNED if duel.points is None else STOPPED
        for number, task in enumerate(matches.tasks(duel.planned, duel.blamed)):
            yield match_row(duel.planned, number, variant, task, DONE if number in records else left, records.get(number))
