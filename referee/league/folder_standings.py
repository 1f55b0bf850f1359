"""The standings of a league for pages: few columns and no ratings, so that pages can show them between matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.games.game import Json
    from referee.league.league import OpenLeague


def of_folder(folder: Path) -> tuple[str, Callable[[], dict[str, Json]]]:
    """Return the name of a folder's league, and the function that reads its standings. UsageError if it can't be opened."""
    from referee.league.league import open_league

    opened = open_league(folder)
    return opened.league.name, lambda: _read(opened)


def _read(opened: OpenLeague) -> dict[str, Json]:
    """Return the standings as JSON."""
    state = opened.view.state()
    rows = [
        {
            "place": row.place,
            "team": row.team,
            "points": row.points,
            "played": row.played,
            "won": row.won,
            "tied": row.tied,
            "lost": row.lost,
        }
        for row in opened.rows(state)
    ]
    return {"name": opened.league.name, "done": state.counts.done, "total": state.counts.done + state.counts.planned, "rows": rows}
