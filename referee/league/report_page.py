"""The report of a league: one page from plain values.

The crosstable, the endings and the time used are computed from the duels themselves, so that these can't disagree with the list of
matches. The standings and the ratings are computed elsewhere and shown as they are.
"""

from __future__ import annotations

import json
import math
from os.path import commonpath
from typing import TYPE_CHECKING, NamedTuple

from referee.games.outcome import Outcome
from referee.league.config import ELIMINATION
from referee.league.report import RUNNING
from referee.league.standings import FIXTURE_RULE
from referee.league.tallies import crosstable, endings, tallies
from referee.replay.names import FAILED, result_sentence
from referee.replay.paths import SUFFIX
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.league.league import Standing
    from referee.league.report import DuelLine, MatchLine, ReportData
    from referee.league.schedule import BracketLine
    from referee.league.tallies import TeamTally
    from referee.tournament.ratings import Rating

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
    """Return the report as one page that asks no server.

    ``pages`` are the replays that ``viewer.html`` beside the report can show (``report_folder.write``); the page draws small boards of them,
    from their scripts. For all others the page has the command that shows them.
    """
    from referee.pages import render

    has_boards = any(match.record.replay in pages for duel in data.duels for match in duel.matches)
    teams = [render.well_formed(place.row.team) for place in data.standings]
    config = {"live": data.progress.state == RUNNING, "teams": teams, "boards": has_boards}
    return render.single("league", config, pack(data, data.duels, pages), **_shown(data)._asdict())


class TeamLines(NamedTuple):
    """A team with the tally of its matches, and the class and text of each cell of its line in the crosstable."""

    place: Standing
    tally: TeamTally
    cells: list[tuple[str, str]]


class Columns(NamedTuple):
    """The columns of the standings that only some leagues have."""

    stage: bool
    share: bool
    buchholz: bool
    forfeits: bool
    places: bool


class Page(NamedTuple):
    """What the template of the report shows."""

    league: ReportData
    about: str
    sections: Sequence[tuple[str, str]]
    names: list[str]
    teams: list[TeamLines]
    scale: _Scale
    has: Columns
    bracket: list[tuple[str, list[BracketLine], int]]
    fixture_rule: str
    endings: list[tuple[Seat, list[str]]]
    time: str
    most_time: float
    settings: list[tuple[str, str]]
    variants: list[list[tuple[str, str]]]


def _shown(data: ReportData) -> Page:
    """Return what the template of the report shows."""
    rows = [place.row for place in data.standings]
    names = [row.team for row in rows]
    team_tallies = tallies(names, data.duels)
    cross = crosstable(names, data.duels)
    is_elimination = data.format == ELIMINATION
    about = [f"{data.game} {data.rules}".strip(), data.format, counted(len(rows), "team"), "" if data.seed is None else f"seed {data.seed}"]
    return Page(
        data,
        " · ".join(text for text in about if text),
        _SECTIONS,
        names,
        [
            TeamLines(place, team_tallies[team], [_cell(cross, team, other) for other in names])
            for place, team in zip(data.standings, names, strict=True)
        ],
        _Scale([place.rating for place in data.standings]),
        Columns(
            stage=is_elimination,
            share=data.is_live and not is_elimination,
            buchholz=any(row.buchholz is not None for row in rows),
            forfeits=any(row.forfeits for row in rows),
            # As long as each team can still have each place, the column says nothing.
            places=any((place.rating.best_rank, place.rating.worst_rank) != (1, len(rows)) for place in data.standings),
        ),
        list(_bracket(data)),
        FIXTURE_RULE,
        endings(team_tallies.values(), data.duels),
        _time(data),
        max([1e-9, *(tally.mean for tally in team_tallies.values())]),
        _facts(data.settings),
        [_facts(settings) for settings in data.variants] if len(data.variants) > 1 else [],
    )


def _time(data: ReportData) -> str:
    """Return the heading of the bots' time: matches bill either wall-clock time or processor time."""
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

    def __init__(self, ratings: Iterable[Rating]) -> None:
        bounds = [value for rating in ratings for value in (rating.low, rating.high)]
        low, high = min(-50.0, *bounds, 0), max(50.0, *bounds, 0)
        margin = (high - low) * 0.03
        self._low, self._width = low - margin, high - low + 2 * margin

    def share(self, elo: float) -> float:
        """Return where a rating is, from 0 to 1."""
        return (elo - self._low) / self._width

    def ticks(self) -> list[float]:
        """Return about five round ratings that have room on an axis."""
        from referee.pages import render

        return [value for value in render.ticks(self._low, self._width) if abs(self.share(value) - 0.5) < 0.44]


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
            index(_sentence(match)),
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


def _sentence(match: MatchLine) -> str:
    """Return how a match ended, with the teams' names."""
    record = match.record
    outcome = Outcome(record.reason, record.winner, record.scores, record.text)
    teams = {seat: {"team": team} for seat, team in match.seats.items()}
    failed = {seat: FAILED[kind] for seat, kind in record.fault_kinds.items() if seat in record.fault_steps}
    return result_sentence(outcome, teams, failed, record.fault_steps)
