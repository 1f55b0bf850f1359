"""All matches of a league as rows, for CSV and JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from referee.support.csv_text import marked, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from referee.games.game import Json
    from referee.league.league_schedule import Schedule
    from referee.league.store import StoredMatch
    from referee.tournament.values import PlannedDuel


class MatchRows(Protocol):
    """A store of duels and their matches."""

    def duels(self) -> Sequence[PlannedDuel]:
        """All duels that are known so far, in schedule order."""

    def matches(self) -> Iterator[StoredMatch]:
        """All matches in schedule order."""


def export_rows(rows: MatchRows, schedule: Schedule) -> Iterable[dict[str, Json]]:
    """Yield every match as a flat JSON object; results are missing where there are none yet."""
    duels = {duel.number: duel for duel in rows.duels()}
    variants = schedule.league.variants
    for stored in rows.matches():
        task, record = stored.task, stored.record
        duel = duels.get(task.duel)
        if duel is None:
            # Its round was planned after the duels were read.
            continue
        facts: dict[str, Json] = {
            "match": task.key,
            "duel": duel.number,
            "round": duel.round,
            "start": duel.start,
            "variant": variants[duel.variant].name or duel.variant,
            "repeat": duel.repeat,
            "game_number": task.game_number,
            "seats": dict(task.seats),
            "status": stored.status,
            "seed": task.seed,
        }
        if record is not None:
            facts |= {
                "winner": record.winner and task.seats[record.winner],
                "reason": record.reason,
                "steps": record.steps,
                "scores": {task.seats[seat]: score for seat, score in record.scores.items()},
                "faults": {task.seats[seat]: text for seat, text in record.faults.items()},
                "seconds": {task.seats[seat]: used for seat, used in record.seconds.items()},
                "replay": record.replay,
                "replay_sha256": record.replay_hash,
                "host": record.host,
            }
        yield facts


_CSV = (
    "match",
    "duel",
    "round",
    "start",
    "variant",
    "repeat",
    "game_number",
    "status",
    "seed",
    "winner",
    "reason",
    "steps",
    "replay",
    "replay_sha256",
    "host",
)

#: How the files begin that ``league export`` and ``arena export`` write.
MARK = re.compile(
    rb"(\xef\xbb\xbf)?%s,"
    rb'|\{\n "(league|arena)": "[^\n]*",\n "game": "[^\n]*",\n "(matches|teams)": \[' % ",".join(_CSV).encode()
)


def as_csv_text(rows: Sequence[Mapping[str, Json]], schedule: Schedule, about: Mapping[str, Mapping[str, Json]]) -> str:
    """The matches as CSV: one column a seat for the team, its score, its fault and its time, and for each fact ``about`` teams."""
    league = schedule.league
    seats = schedule.game.seats(schedule.game.codec.settings(league.rules, dict(league.variants[0].settings)))
    of_seat = ("", "_score", "_fault", "_seconds", *(f"_{fact}" for fact in about))
    lines: list[list[object]] = [[*_CSV, *(f"{seat}{what}" for seat in seats for what in of_seat)]]
    for row in rows:
        cells: list[object] = [row.get(name) for name in _CSV]
        for seat in seats:
            team = row["seats"].get(seat)
            cells += [team, *(row.get(what, {}).get(team) for what in ("scores", "faults", "seconds"))]
            cells += [by_team.get(team) for by_team in about.values()]
        lines.append(cells)
    return marked(written(lines))


def csv_text(rows: Sequence[Mapping[str, Json]]) -> str:
    """Return flat objects with the same keys as CSV; the keys are the headings."""
    return marked(written([list(rows[0]), *(list(row.values()) for row in rows)] if rows else []))
