"""The standings of a league for pages: few columns, computed without ratings, so that they can be asked for between matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.league.league import OpenLeague


def of_folder(folder: Path) -> Callable[[], dict[str, Any]]:
    """Return the function that reads the standings of a folder's league. UsageError if it can't be opened."""
    from referee.league.league import open_league

    opened = open_league(folder)
    return lambda: _read(opened)


def _read(opened: OpenLeague) -> dict[str, Any]:
    """Return the standings as JSON. ``teams`` maps the path of a replay in the league's folder to the team of each seat."""
    counts = opened.store.counts()
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
        for row in opened.rows(opened.state().results)
    ]
    teams = {
        escape(stored.record.replay): dict(stored.task.seats)
        for stored in opened.store.matches(done=True)
        if stored.record is not None and stored.record.replay
    }
    return {"name": opened.league.name, "done": counts.done, "total": counts.done + counts.planned, "rows": rows, "teams": teams}
