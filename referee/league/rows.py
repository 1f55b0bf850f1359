"""Rows of a league's store: values as the database keeps them, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from referee.league.database import PLANNED
from referee.tournament.transactions import WRONG, StoreError, quoted
from referee.tournament.values import MatchTask, Record, Team

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json


def result_text(record: Record) -> str:
    """A result as it is stored, without what differs from run to run on other machines."""
    facts = record._asdict()
    for name in ("key", "wall_seconds", "host", "void", "cause", "hit"):
        del facts[name]
    return json.dumps(facts, separators=(",", ":"), sort_keys=True)


_ESSENCE = ("winner", "reason", "scores", "steps", "fault_kinds", "position")


def essence(result: str) -> dict[str, Json]:
    """Return what of a stored result must be equal when its match is played twice."""
    facts = json.loads(result)
    return {name: facts.get(name) for name in _ESSENCE}


def record_of(key: str, result: str, seconds: float | None, host: str | None) -> Record:
    """Return the record of a match from its row. StoreError if the result can't be read."""
    try:
        facts = json.loads(result)
        if all(isinstance(facts[name], kind) for name, kind in _KINDS.items()):
            return Record(key=key, wall_seconds=seconds or 0.0, host=host or "", **facts)
    except WRONG:
        pass
    raise StoreError(f"The store's result of the match {quoted(key)} can't be read. Restore the file from a copy.")


#: The kinds of values that a result needs.
_KINDS: Mapping[str, Json] = {
    **dict.fromkeys(("reason", "text", "replay", "replay_hash", "position"), str),
    **dict.fromkeys(("scores", "faults", "fault_kinds", "seconds", "slowest"), dict),
    "winner": (str, type(None)),
    "steps": int,
    "started": bool,
    "ranks": (dict, type(None)),
}


def planned(task: MatchTask) -> dict[str, Json]:
    """Return the row of a match that is to be played."""
    return {
        "key": task.key,
        "duel": task.duel,
        "game_number": task.game_number,
        "seats": json.dumps(dict(task.seats)),
        "settings": json.dumps(dict(task.settings)),
        "seed": task.seed,
        "status": PLANNED,
    }


def task_of(row: Any) -> MatchTask:
    """Return the match of a row. Raises one of ``WRONG``."""
    seats = json.loads(row.seats)
    if not isinstance(seats, dict):
        raise TypeError("the seats of a match are wrong")
    return MatchTask(row.key, row.duel, row.game_number, seats, _settings(row.settings), row.seed)


@lru_cache(maxsize=4096)
def _settings(text: str) -> Mapping[str, Json]:
    """The settings of many matches are the same: they share one value, which nobody changes."""
    settings: dict[str, Json] = json.loads(text)
    return settings


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[str, ...]:
    """Return the names of a duel's teams. Raises one of ``WRONG``."""
    return tuple(json.loads(text))


def team_of(row: Any) -> Team:
    """Return the team of a row. Raises one of ``WRONG``."""
    return Team(row.name, json.loads(row.players), row.hash, json.loads(row.home), json.loads(row.files))


def team_row(team: Team) -> dict[str, Json]:
    """Return the row of a team, without its position and its forfeit."""
    # A folder's name may hold what is no UTF-8, which no database stores as text.
    return {**team._asdict(), "players": json.dumps(dict(team.players)), "home": json.dumps(team.home), "files": json.dumps(team.files)}
