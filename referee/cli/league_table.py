"""The standings of a league as a table of text, and as JSON."""

from __future__ import annotations

import io
import math
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from referee.cli.app import put, put_json
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.league.engine import LeagueState
    from referee.league.league import OpenLeague, Place


def put_standings(opened: OpenLeague, *, as_json: bool) -> None:
    """Print the standings: a table for people, or one JSON object."""
    state = opened.state()
    places = opened.standings(state.results)
    if as_json:
        put_json(report(opened, state, places))
        return
    for line in table(places):
        put(line)
    decided = opened.store.fact("decided")
    if decided:
        put(decided["why"])
    for note in opened.notes():
        put(f"note: {note}")


def top(opened: OpenLeague, wide: int, high: int) -> list[str]:
    """The first lines of the standings while the league runs."""
    results = opened.state().results
    return table(opened.standings(results, resamples=100)[:high], wide) if results else []


def report(opened: OpenLeague, state: LeagueState, places: Sequence[Place]) -> dict[str, Any]:
    """The league as ``--json`` prints it."""
    decided = opened.store.fact("decided")
    return {
        "league": opened.league.name,
        "folder": str(opened.folder),
        "game": opened.league.game,
        "rules": opened.league.rules,
        "format": opened.league.format.kind,
        "seed": opened.league.seed,
        "complete": opened.store.counts().planned == 0,
        "decided": decided["why"] if decided else None,
        "duels": len(state.results),
        **counts(opened),
        "standings": [_place_json(place) for place in places],
    }


def counts(opened: OpenLeague) -> dict[str, Any]:
    """How many matches there are, as ``--json`` prints it."""
    found = opened.store.counts()
    return {"matches": {**found._asdict(), "total": found.total}}


def _place_json(place: Place) -> dict[str, Any]:
    row, rating = place.row, place.rating
    ends = {name: None if math.isinf(value) else round(value, 2) for name, value in (("low", rating.low), ("high", rating.high))}
    return {
        **row._asdict(),
        "elo": round(rating.elo, 2),
        **ends,
        "best_rank": rating.best_rank,
        "worst_rank": rating.worst_rank,
        "decided": place.is_decided,
        "forfeit": place.forfeit,
        "withdrawn": place.is_withdrawn,
    }


#: The width of a table where there is no terminal, and the widths below which its last columns are left out.
_WIDE, _MIDDLE, _NARROW = 100, 76, 56


def table(places: Iterable[Place], width: int | None = None) -> list[str]:
    """The standings as lines of text; columns that don't fit into ``width`` are left out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = width or (shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE)
    headings = ["points", "won", "tied", "lost", "total", "Elo", "95 %", "ranks"]
    shown = headings if width >= _MIDDLE else ["points", "total", "Elo", "ranks"] if width >= _NARROW else ["points", "Elo"]
    made = Table(box=None, pad_edge=False, header_style="")
    for heading in ("", "team"):
        made.add_column(heading, overflow="fold")
    for heading in shown:
        made.add_column(heading, justify="right", no_wrap=True)
    for place in places:
        row, rating = place.row, place.rating
        cells = {
            "points": f"{row.points:g}",
            "won": f"{row.won}",
            "tied": f"{row.tied}",
            "lost": f"{row.lost}",
            "total": f"{row.total:,.0f}",
            "Elo": f"{rating.elo:+.0f}",
            "95 %": "" if math.isinf(rating.low) else f"{rating.low:+.0f} to {rating.high:+.0f}",
            "ranks": f"{rating.best_rank}" if place.is_decided else f"{rating.best_rank}-{rating.worst_rank}",
        }
        name = escape(row.team, 40) + ("" if place.forfeit is None else " (withdrawn)" if place.is_withdrawn else " (can't start)")
        made.add_row(f"{row.place}{'=' if row.shared else ''}", Text(name), *(cells[heading] for heading in shown))
    stream = io.StringIO()
    Console(file=stream, width=width).print(made)
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]
