"""All matches of a league or an arena as rows, for CSV and JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from referee.support.csv_text import as_csv, with_mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Json, Seat
    from referee.tournament.duels import PlannedDuel
    from referee.tournament.values import Record, Task

#: The status of a match: it will be played, it was played, or it will never be.
PLANNED, DONE, STOPPED = "planned", "done", "stopped"


def match_row(duel: PlannedDuel, game_number: int, variant: str, task: Task, status: str, record: Record | None) -> dict[str, Json]:
    """Return a match as a flat JSON object, without a result if there is no record."""
    names = task.names
    facts: dict[str, Json] = {
        "match": task.key,
        "duel": duel.number,
        "round": duel.round,
        "start": duel.start,
        "variant": variant or duel.variant,
        "repeat": duel.repeat,
        "game_number": game_number,
        "seats": dict(names),
        "status": status,
        "seed": task.seed,
    }
    if record is not None:
        facts |= {
            "winner": record.winner and names[record.winner],
            "reason": record.reason,
            "steps": record.steps,
            "scores": {names[seat]: score for seat, score in record.scores.items()},
            "faults": {names[seat]: text for seat, text in record.faults.items()},
            "seconds": {names[seat]: used for seat, used in record.seconds.items()},
            "replay": record.replay,
            "replay_sha256": record.replay_hash,
            "host": record.host,
        }
    return facts


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

#: The beginnings of the files of ``league export`` and ``arena export``.
MARK = re.compile(
    rb"(\xef\xbb\xbf)?%s,"
    rb'|\{\n "(league|arena)": "[^\n]*",\n "game": "[^\n]*",\n "(matches|teams)": \[' % ",".join(_CSV).encode()
)


def as_csv_text(rows: Sequence[Mapping[str, Json]], seats: Sequence[Seat], about: Mapping[str, Mapping[str, Json]]) -> str:
    """The matches as CSV: one column a seat for the team, its score, its fault and its time, and for each fact ``about`` teams."""
    of_seat = ("", "_score", "_fault", "_seconds", *(f"_{fact}" for fact in about))
    lines: list[list[object]] = [[*_CSV, *(f"{seat}{what}" for seat in seats for what in of_seat)]]
    for row in rows:
        cells: list[object] = [row.get(name) for name in _CSV]
        for seat in seats:
            team = row["seats"].get(seat)
            cells += [team, *(row.get(what, {}).get(team) for what in ("scores", "faults", "seconds"))]
            cells += [by_team.get(team) for by_team in about.values()]
        lines.append(cells)
    return with_mark(as_csv(lines))


def csv_text(rows: Sequence[Mapping[str, Json]]) -> str:
    """Return flat objects with the same keys as CSV; the keys are the headings."""
    return with_mark(as_csv([list(rows[0]), *(list(row.values()) for row in rows)] if rows else []))


def store_files(folder: Path) -> list[Path]:
    """Return the files and folders of a league or an arena from which its results are read."""
    return [
        *folder.glob("*.sqlite*"),
        *(folder / name for name in ("arena.toml", "database.url", "league.id", "replays", "handed-in", "versions")),
    ]
