"""The report of a league: one page from plain values.

The crosstable, the endings and the time used are computed from the duels themselves, so that these can't disagree with the list of
matches. The standings and the ratings are computed elsewhere and shown as they are.
"""

from __future__ import annotations

import json
import math
from os.path import commonpath
from typing import TYPE_CHECKING

from referee.league.config import ELIMINATION
from referee.league.report import RUNNING
from referee.league.standings import FIXTURE_RULE
from referee.league.tallies import crosstable, endings, tallies
from referee.replay.paths import SUFFIX
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from referee.games.game import Json
    from referee.league.league import Standing
    from referee.league.report import DuelLine, MatchLine, ReportData
    from referee.league.schedule import BracketLine

#: The sections of the page, with their names in its navigation.
_SECTIONS = (
    ("standings", "Standings"),
    ("bracket", "Bracket"),
    ("crosstable", "Crosstable"),
    ("endings", "Endings"),
    ("time", "Time"),
    ("duels", "Duels"),
    ("settings", "Settings"),
)
_ROUNDS = {1: "Final", 2: "Semifinals", 4: "Quarterfinals"}


def html(data: ReportData, pages: Container[str] = ()) -> str:
    """Return the report as one page that makes no requests.

    ``pages`` are the replays that ``viewer.html`` beside the report can show (``report_folder.write``). For all others the page tells the
    command that shows them.
    """
    from referee.pages import render

    return render.single("league", _config(data), pack(data, data.duels, pages), **_shown(data))


def _config(data: ReportData) -> dict[str, Json]:
    from referee.pages import render

    return {"live": data.progress.state == RUNNING, "teams": [render.well_formed(place.row.team) for place in data.standings]}


def _shown(data: ReportData) -> dict[str, Json]:
    """Return what the template of the report shows."""
    rows = [_row(place) for place in data.standings]
    names = [place.row.team for place in data.standings]
    team_tallies = tallies(names, data.duels)
    cross = crosstable(names, data.duels)
    is_elimination = data.format == ELIMINATION
    teams = [(row, team_tallies[team], [_cell(cross, team, other) for other in names]) for row, team in zip(rows, names, strict=True)]
    about = [f"{data.game} {data.rules}".strip(), data.format, counted(len(rows), "team"), "" if data.seed is None else f"seed {data.seed}"]
    return {
        "league": data,
        "progress": data.progress,
        "about": " · ".join(text for text in about if text),
        "sections": _SECTIONS,
        "rows": rows,
        "names": names,
        "teams": teams,
        "scale": _Scale(rows),
        "has": {
            "stage": is_elimination,
            "share": data.is_live and not is_elimination,
            "buchholz": any(row["buchholz"] is not None for row in rows),
            "forfeits": any(row["forfeits"] for row in rows),
        },
        "bracket": list(_bracket(data)),
        "fixture_rule": FIXTURE_RULE,
        "endings": endings(team_tallies.values(), data.duels),
        "time": _time(data),
        "most_time": max([1e-9, *(tally.mean for tally in team_tallies.values())]),
        "settings": _facts(data.settings),
        "variants": [_facts(settings) for settings in data.variants] if len(data.variants) > 1 else [],
    }


def _row(place: Standing) -> dict[str, Json]:
    """Return what a template shows of a team: the fields of its row and of its rating, with None for a rating that is not known."""
    values = {**place.row._asdict(), **place.rating._asdict()}
    return {**{name: _finite(value) for name, value in values.items()}, "shown_place": place.row.shown_place, "decided": place.is_decided}


def _time(data: ReportData) -> str:
    """Return what the time of the bots is called: matches bill either the clock's time or the processor's."""
    return "CPU time" if data.clock == "cpu" else "time"


def _facts(settings: Mapping[str, Json]) -> list[tuple[str, str]]:
    return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in settings.items()]


def _cell(cross: Mapping[tuple[str, str], float], team: str, other: str) -> tuple[str, str]:
    """Return the class of a cell of the crosstable and its text: ahead and behind have four shades."""
    from referee.pages import render

    points = cross.get((team, other))
    if points is None:
        return ("self", "") if team == other else ("none", "·")
    share = points / max(1e-9, points + cross.get((other, team), 0.0))
    shade = math.ceil(abs(2 * share - 1) * 4 - 1e-9)
    return f"a{shade}" if share > 0.5 else f"b{shade}" if share < 0.5 else "level", render.points(points)


class _Scale:
    """The scale of all ratings, as shares of the width of a bar."""

    def __init__(self, rows: Iterable[Mapping[str, Json]]) -> None:
        bounds: list[float] = [
            value for row in rows if row["elo"] is not None for value in (row["low"], row["high"], row["elo"]) if value is not None
        ]
        low, high = min(-50.0, *bounds, 0), max(50.0, *bounds, 0)
        margin = (high - low) * 0.03
        self._low, self._width = low - margin, high - low + 2 * margin

    def share(self, elo: float) -> float:
        """Return where a rating is, from 0 to 1."""
        return (elo - self._low) / self._width

    def ticks(self) -> list[float]:
        """Return about five round ratings that have room on an axis."""
        rough = self._width / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        first = math.ceil(self._low / step)
        values = [number * step for number in range(first, first + 12)]
        return [value for value in values if abs(self.share(value) - 0.5) < 0.44]


def _bracket(data: ReportData) -> Iterator[tuple[str, list[BracketLine], int]]:
    """Yield each round of an elimination: its name, its fixtures, and how many of them are not known yet."""
    count = max(1, math.ceil(math.log2(max(2, len(data.standings)))))
    for number in range(count):
        size = 2 ** (count - 1 - number)
        lines = [line for line in data.bracket if line.round == number]
        yield _ROUNDS.get(size, f"Round {number + 1}"), lines, max(0, size - len(lines))


def pack(data: ReportData, duels: Iterable[DuelLine], pages: Container[str] = ()) -> dict[str, Json]:
    """Return duels of a league as short rows. Names and texts are listed once; a row has their indices.

    A duel is ``[number, details, teams, points, best teams, matches, note]``. A match is ``[game
    number, seats, teams, winner, reason, text, facts, faults, replay, has page]``; the facts are a text of their own.
    """
    from referee.pages import render

    duels = list(duels)
    texts: dict[str, int] = {}
    replays = [match.record.replay for duel in duels for match in duel.matches if match.record.replay]
    folder = commonpath([replay.rpartition("/")[0] for replay in replays]) if replays else ""
    prefix = folder + "/" if folder else ""
    suffix = SUFFIX if all(replay.endswith(SUFFIX) for replay in replays) else ""
    has_starts = len({duel.start for duel in data.duels}) > 1
    time = _time(data)

    def index(text: str) -> int:
        return texts.setdefault(render.well_formed(text), len(texts))

    def match_row(match: MatchLine) -> list[Json]:
        seats, record = list(match.seats), match.record
        replay = record.replay.removeprefix(prefix).removesuffix(suffix) if record.replay else None
        facts = [counted(record.steps, "step")]
        for name, values in ((time, record.seconds), ("slowest", record.slowest)):
            if values:
                facts.append(f"{name} " + ", ".join(render.duration(values.get(seat)) for seat in seats))
        return [
            match.number,
            [index(seat) for seat in seats],
            [index(match.seats[seat]) for seat in seats],
            -1 if record.winner is None else seats.index(record.winner),
            index(record.reason),
            index(record.text),
            " · ".join(facts),
            [[seats.index(seat), index(text)] for seat, text in record.faults.items()],
            replay,
            int(record.replay in pages),
        ]

    def duel_row(duel: DuelLine) -> list[Json]:
        details = [f"round {duel.round + 1}"]
        details += [f"start {duel.start + 1}"] if has_starts else []
        details += [f"variant {duel.variant + 1}"] if len(data.variants) > 1 else []
        scores = [duel.points[team] for team in duel.teams if team in duel.points]
        best = [at for at, team in enumerate(duel.teams) if scores and duel.points.get(team) == max(scores) > min(scores)]
        return [
            duel.number,
            index(" · ".join(details)),
            [index(team) for team in duel.teams],
            [index(render.points(duel.points.get(team))) for team in duel.teams],
            best,
            [match_row(match) for match in duel.matches],
            index(duel.note),
        ]

    rows = [duel_row(duel) for duel in duels]
    return {"texts": list(texts), "replay": [prefix, suffix], "duels": rows}


def _finite(value: object) -> object:
    """Return the value; None in place of a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
