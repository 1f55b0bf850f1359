"""The store of an arena: that of a league, and the versions of all teams with their ratings over time. Only this module has SQL of arenas.

A version that is accepted is a team of the league's tables; its row there and its row here are written in one transaction.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Column, Float, Integer, MetaData, Table, Text, UniqueConstraint, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from referee.errors import UsageError
from referee.league import database, rows
from referee.league.store import Store
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.engine import Connection

    from referee.games.game import Json
    from referee.league.values import Team

#: The status of a version. Only an accepted one plays.
ACCEPTED, REFUSED = "accepted", "refused"

_meta = MetaData()
_versions = Table(
    "versions",
    _meta,
    Column("name", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("submitted", Float, nullable=False),
    Column("first_duel", Integer, nullable=False),
    Column("is_reference", Integer, nullable=False),
    Column("is_active", Integer, nullable=False),
    UniqueConstraint("team", "hash"),
)
_ratings = Table(
    "ratings",
    _meta,
    Column("name", Text, primary_key=True),
    Column("duels", Integer, primary_key=True, autoincrement=False),
    Column("time", Float, nullable=False),
    Column("elo", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
)


class Version(NamedTuple):
    """A version of a team. ``name`` is its name in matches: the team's, and the number, which counts from 1.

    ``report`` says what its check found. ``submitted`` is in seconds since the epoch. ``first_duel`` is the number of duels that the arena had then.
    """

    name: str
    team: str
    number: int
    hash: str
    status: str
    note: str = ""
    report: Mapping[str, Json] = {}
    submitted: float = 0.0
    first_duel: int = 0
    is_reference: bool = False
    is_active: bool = False


class RatingPoint(NamedTuple):
    """The rating of a version after so many duels of the whole arena, with its interval. ``time`` is in seconds since the epoch."""

    name: str
    duels: int
    time: float
    elo: float
    low: float
    high: float


class ArenaStore(Store):
    """An open store of an arena."""

    file = "arena.sqlite"

    def _check(self, *, create: bool) -> None:
        super()._check(create=create)
        if create:
            _meta.create_all(self._engine)

    def versions(self) -> list[Version]:
        """All versions of all teams, in the order in which they were handed in."""
        with self._read() as connection:
            return [_version(row) for row in connection.execute(select(_versions).order_by(_versions.c.submitted, _versions.c.name))]

    def put_version(self, version: Version, team: Team | None) -> Version:
        """Store a version with its number, which is counted here, and its time; return it as it is stored.

        ``team`` is its program, None for a version that is refused; else it becomes the active version of its team. A version that was
        refused before keeps its number.
        """
        with self._write() as connection:
            _lock(connection)
            mine = _versions.c.team == version.team
            known = connection.execute(select(_versions).where(mine, _versions.c.hash == version.hash)).first()
            last = connection.execute(select(func.max(_versions.c.number)).where(mine)).scalar() or 0
            number = last + 1 if known is None else known.number
            duels = connection.execute(select(func.count()).select_from(database.duels)).scalar_one()
            stored = version._replace(number=number, name=version_name(version.team, number), submitted=time.time(), first_duel=duels)
            connection.execute(_versions.delete().where(_versions.c.name == stored.name))
            facts = {**stored._asdict(), "report": json.dumps(stored.report), "note": rows.kept(stored.note)}
            facts |= {"is_reference": int(stored.is_reference), "is_active": 0}
            connection.execute(insert(_versions).values(**facts))
            if team is not None:
                count = connection.execute(select(func.count()).select_from(database.teams)).scalar_one()
                named = team._replace(name=stored.name)
                connection.execute(insert(database.teams).values(**rows.team_row(named), position=count))
                _activate(connection, stored)
        return stored._replace(is_active=team is not None)

    def activate(self, version: Version) -> None:
        """Make an accepted version the active one of its team."""
        with self._write() as connection:
            _activate(connection, version)

    def retire(self, team: str) -> None:
        """Leave a team without an active version."""
        with self._write() as connection:
            connection.execute(update(_versions).where(_versions.c.team == team).values(is_active=0))

    def put_ratings(self, points: Sequence[RatingPoint]) -> None:
        """Store ratings. Those that are there already stay as they are."""
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        with self._write() as connection:
            if points:
                connection.execute(dialect.insert(_ratings).on_conflict_do_nothing(), [point._asdict() for point in points])

    def ratings(self, names: Sequence[str]) -> list[RatingPoint]:
        """The ratings of some versions over time."""
        query = select(_ratings).where(_ratings.c.name.in_(names)).order_by(_ratings.c.duels, _ratings.c.name)
        with self._read() as connection:
            return [RatingPoint(*row) for row in connection.execute(query)]


def version_name(team: str, number: int) -> str:
    """Return the name of a team's version in matches."""
    return f"{team} v{number}"


def named(versions: Sequence[Version], team: str) -> list[Version]:
    """Return the versions of a team. UsageError if there is no such team."""
    found = [version for version in versions if version.team == team]
    if not found:
        teams = ", ".join(dict.fromkeys(escape(version.team, 60) for version in versions))
        raise UsageError(f"The arena has no team {escape(team, 60)}; there {f'are {teams}' if teams else 'is none yet'}.")
    return found


def _lock(connection: Connection) -> None:
    """Let no other process write versions until the end of the transaction."""
    connection.execute(update(database.facts).where(database.facts.c.name == "version").values(value=database.facts.c.value))


def _activate(connection: Connection, version: Version) -> None:
    connection.execute(update(_versions).where(_versions.c.team == version.team).values(is_active=0))
    connection.execute(update(_versions).where(_versions.c.name == version.name).values(is_active=1))


def _version(row: Any) -> Version:
    facts = row._asdict()
    report, is_reference, is_active = json.loads(facts.pop("report")), bool(facts.pop("is_reference")), bool(facts.pop("is_active"))
    return Version(**facts, report=report, is_reference=is_reference, is_active=is_active)
