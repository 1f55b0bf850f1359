"""The report of a league: one self-contained page from plain values.

The page computes the crosstable, the endings and the time used from the duels themselves, so that these can't disagree with the list of
matches. The standings and the ratings are computed by the engine and shown as they are.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from functools import cache
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.league.standings import FIXTURE_RULE
from referee.replay.paths import SUFFIX
from referee.version import __version__
from referee.web import page

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.league.schedule import BracketLine

FOLDER = "league/page"
_PAGE = Path(__file__).parent / "page"
#: Values of ``Progress.state``.
RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"


class TeamRow(NamedTuple):
    """One row of the standings.

    ``places`` is the interval of places that the results allow at 95 %; ``decided`` is True if it has one place only. ``total`` is what
    breaks ties of points. ``elo`` is the rating with its interval from ``low`` to ``high``; None if nothing was rated yet. ``forfeits``
    is the number of duels that the team lost because it could not start. ``byes`` are fixtures won without a match, ``stage`` the rounds
    that the team survived in an elimination, and ``buchholz`` is for a Swiss league; the last two are None in other formats.
    """

    team: str
    place: int
    places: tuple[int, int]
    decided: bool
    points: float
    played: int
    won: int
    tied: int
    lost: int
    total: float | None = None
    elo: float | None = None
    low: float | None = None
    high: float | None = None
    forfeits: int = 0
    byes: int = 0
    stage: int | None = None
    buchholz: float | None = None


class MatchLine(NamedTuple):
    """One match of a duel. ``seats`` names the team of each seat; times are in seconds; ``replay`` is relative to the league's folder."""

    game_number: int
    seats: Mapping[Seat, str]
    reason: str
    text: str
    steps: int
    winner: Seat | None = None
    seconds: Mapping[Seat, float] = {}
    slowest: Mapping[Seat, float] = {}
    faults: Mapping[Seat, str] = {}
    replay: str = ""


class DuelLine(NamedTuple):
    """One scored duel or table, with its matches. ``note`` is a remark about it, such as results that were not reproduced."""

    number: int
    round: int
    teams: tuple[str, ...]
    points: Mapping[str, float]
    matches: tuple[MatchLine, ...]
    start: int = 0
    variant: int = 0
    note: str = ""


class LeagueProgress(NamedTuple):
    """The progress of a league, in matches. ``matches_a_minute`` and ``seconds_left`` are None while they are unknown."""

    state: str
    done: int
    total: int
    matches_a_minute: float | None = None
    seconds_left: float | None = None


class ReportData(NamedTuple):
    """The content of the report. ``standings`` are in order of place; ``seed`` is None if it isn't public.

    ``variants`` has the settings of each variant that differ from ``settings``. ``total_name`` is the heading of the totals, such as
    "steps". ``notes`` are sentences about the whole league, such as pairs that were stopped. ``written`` is the time of the report.
    ``order`` is the sentence about the order of the teams; ``is_live`` is True if it is by points a duel. ``clock`` is the time that
    matches billed, "wall" or "cpu". ``bracket`` has the fixtures of an elimination.
    """

    name: str
    game: str
    rules: str
    format: str
    settings: Mapping[str, Json]
    progress: LeagueProgress
    standings: Sequence[TeamRow]
    duels: Sequence[DuelLine]
    seed: int | None = None
    variants: Sequence[Mapping[str, Json]] = ()
    notes: Sequence[str] = ()
    total_name: str = "steps"
    written: str = ""
    order: str = ""
    is_live: bool = False
    clock: str = "wall"
    bracket: Sequence[BracketLine] = ()


def html(data: ReportData, pages: Container[str] = ()) -> str:
    """Return the report as one page that makes no requests.

    ``pages`` are the replays that ``viewer.html`` beside the report can show (``report_folder.write``). For all others the page tells the
    command that shows them.
    """
    text = (_PAGE / "index.html").read_text(encoding="utf-8")
    packed = gzip.compress(_json(pack(data.duels, pages)), 6, mtime=0)
    text = page.inlined(text, (_PAGE / "style.css").read_text(encoding="utf-8"), page.bundle(f"{FOLDER}/main.js", asset))
    text = text.replace("<!--bulk-->", f'<script type="text/plain" id="bulk">{base64.b64encode(packed).decode()}</script>')
    return page.configured(text, {"live": False, **summary(data)})


def served_page() -> bytes:
    """Return the report for a server: it fetches its data and updates itself."""
    return page.configured((_PAGE / "index.html").read_text(encoding="utf-8"), {"live": True}).encode()


def summary(data: ReportData) -> dict[str, Any]:
    """Return all but the duels, as JSON."""
    return {
        "version": __version__,
        "name": data.name,
        "game": data.game,
        "rules": data.rules,
        "format": data.format,
        "settings": dict(data.settings),
        "variants": [dict(settings) for settings in data.variants],
        "seed": data.seed if data.seed is None else str(data.seed),
        "notes": list(data.notes),
        "total_name": data.total_name,
        "written": data.written,
        "order": data.order,
        "is_live": data.is_live,
        "clock": data.clock,
        "bracket": [line._asdict() for line in data.bracket],
        "fixture_rule": FIXTURE_RULE,
        "progress": data.progress._asdict(),
        "standings": [{key: _finite(value) for key, value in row._asdict().items()} for row in data.standings],
    }


def pack(duels: Iterable[DuelLine], pages: Container[str] = ()) -> dict[str, Any]:
    """Return duels as short rows of numbers. Names and texts are listed once; a row has their indices.

    A duel is ``[number, round, start, variant, teams, points, matches, note]``. A match is ``[game number, seats, teams, winner, reason,
    text, steps, seconds, slowest, faults, replay, has page]``, with times in tenths of a millisecond.
    """
    duels = list(duels)
    texts: dict[str, int] = {}
    replays = [match.replay for duel in duels for match in duel.matches if match.replay]
    folder = commonpath([replay.rpartition("/")[0] for replay in replays]) if replays else ""
    prefix = folder + "/" if folder else ""
    suffix = SUFFIX if all(replay.endswith(SUFFIX) for replay in replays) else ""

    def index(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def match_row(match: MatchLine) -> list[Any]:
        seats = list(match.seats)
        replay = match.replay.removeprefix(prefix).removesuffix(suffix) if match.replay else None
        return [
            match.game_number,
            [index(seat) for seat in seats],
            [index(match.seats[seat]) for seat in seats],
            -1 if match.winner is None else seats.index(match.winner),
            index(match.reason),
            index(match.text),
            match.steps,
            [_tenths(match.seconds.get(seat)) for seat in seats],
            [_tenths(match.slowest.get(seat)) for seat in seats],
            [[seats.index(seat), index(text)] for seat, text in match.faults.items()],
            replay,
            int(match.replay in pages),
        ]

    rows = [
        [
            duel.number,
            duel.round,
            duel.start,
            duel.variant,
            [index(team) for team in duel.teams],
            [_finite(duel.points.get(team)) for team in duel.teams],
            [match_row(match) for match in duel.matches],
            index(duel.note) if duel.note else -1,
        ]
        for duel in duels
    ]
    return {"texts": list(texts), "replay": [prefix, suffix], "duels": rows}


@cache
def asset(path: str) -> page.Asset | None:
    """Return a file of the report or of the viewer by its address; None if it doesn't exist."""
    folder, _, name = path.rpartition("/")
    if folder != FOLDER:
        return page.asset(path)
    file = _PAGE / name
    media_type = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}.get(file.suffix)
    if media_type is None or file not in _PAGE.iterdir():
        return None
    return page.Asset(file.read_bytes(), media_type)


def script(name: str) -> str:
    """Return the text of a script of the report."""
    return (_PAGE / name).read_text(encoding="utf-8")


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """Return the value; None in place of a number that JSON doesn't have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tenths(seconds: float | None) -> int:
    """Return tenths of a millisecond, -1 for an unknown time."""
    return -1 if seconds is None or not math.isfinite(seconds) else round(seconds * 10_000)
