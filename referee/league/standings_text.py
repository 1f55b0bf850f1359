"""The standings of a league as JSON data and as a table of text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from referee.support.escape import escape
from referee.support.words import signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json
    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague, Standing


def report(opened: OpenLeague, state: LeagueState, places: Sequence[Standing]) -> dict[str, Json]:
    """The league as ``--json`` prints it."""
    return {
        "league": opened.league.name,
        "folder": str(opened.folder),
        "game": opened.league.game,
        "rules": opened.league.rules,
        "format": opened.league.format.kind,
        "seed": opened.league.shown_seed,
        "complete": not state.is_live,
        "duels": len(state.results),
        "matches": {**state.counts._asdict(), "total": state.counts.total},
        "standings": [place_json(place) for place in places],
    }


def place_json(place: Standing) -> dict[str, Json]:
    """The place of a team as ``--json`` prints it."""
    row, rating = place.row, place.rating
    return {
        **row._asdict(),
        "elo": round(rating.elo, 2),
        "low": round(rating.low, 2),
        "high": round(rating.high, 2),
        "best_rank": rating.best_rank,
        "worst_rank": rating.worst_rank,
        "decided": place.is_decided,
        "forfeit": place.forfeit,
    }


#: The columns behind the team in the order of their weight: in a narrow terminal the last ones are left out.
_KEPT = (
    "points",
    "Elo",
    "rating",
    "duels",
    "rounds",
    "a duel",
    "possible places",
    "Buchholz",
    "total",
    "95 %",
    "possible ranks",
    "won",
    "lost",
    "tied",
)
#: The least width of the column of teams.
_TEAM = 12


def table(places: Sequence[Standing], width: int, *, is_live: bool = False, kind: str = "") -> list[str]:
    """The standings of a league of the format ``kind`` as lines of text; columns that don't fit into ``width`` are left out.

    ``is_live``: matches are missing, and the points a duel decide the order.
    """
    optional = {"rounds": kind == "elimination", "Buchholz": kind == "swiss", "a duel": is_live and kind != "elimination"}
    rows = []
    for place in places:
        name = place.row.team + ("" if place.forfeit is None else " (can't start)")
        cells = {heading: cell for heading, cell in _cells(place).items() if optional.get(heading, True)}
        rows.append({"place": place.row.shown_place, "team": name, **cells})
    return fitted(("place", "team"), rows, width)


def fitted(first: tuple[str, str], rows: Sequence[Mapping[str, str]], width: int) -> list[str]:
    """A table as lines of text; columns that don't fit into ``width`` are left out. The ``first`` two, a rank and a name, always stay."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rank, name = first
    least = max(len(name), min(_TEAM, max((len(row[name]) for row in rows), default=0)))
    headings = _fitting(rows, width - len(rank) - 2 - least)
    made = Table(box=None, pad_edge=False, header_style="")
    made.add_column(rank, justify="right", no_wrap=True)
    made.add_column(name, overflow="fold")
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(row[rank], Text(escape(row[name])), *(row[heading] for heading in headings))
    stream = io.StringIO()
    Console(file=stream, width=width).print(made)
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]


def _fitting(rows: Sequence[Mapping[str, str]], room: int) -> list[str]:
    """Return the headings of the columns that fit into so many characters, in order."""
    if not rows:
        return []
    fitting = set()
    for heading in (name for name in _KEPT if name in rows[0]):
        room -= max(len(heading), *(len(row[heading]) for row in rows)) + 2
        if room < 0:
            break
        fitting.add(heading)
    return [heading for heading in rows[0] if heading in fitting]


def _cells(place: Standing) -> dict[str, str]:
    """Return the cells of a team, by their headings in order."""
    row, rating = place.row, place.rating
    return {
        "rounds": f"{row.stage}",
        "points": f"{row.points:g}",
        "a duel": f"{row.points / row.played:.2f}" if row.played else "",
        "duels": f"{row.played}",
        "Buchholz": f"{row.buchholz or 0:g}",
        "won": f"{row.won}",
        "tied": f"{row.tied}",
        "lost": f"{row.lost}",
        "total": f"{row.total:,.0f}",
        "Elo": signed(rating.elo),
        "95 %": f"{signed(rating.low)} to {signed(rating.high)}",
        "possible places": f"{rating.best_rank}" if place.is_decided else f"{rating.best_rank}-{rating.worst_rank}",
    }
