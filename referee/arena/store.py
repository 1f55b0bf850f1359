"""The store of an arena: that of a league, and the versions of all teams with their ratings over time. Only this module has SQL of arenas.

A version that is accepted is a team of the league's tables; its row there and its row here are written in one transaction.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json
from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text, UniqueConstraint, cast, func, insert, select, update
from sqlalchemy.exc import OperationalError

from referee.errors import UsageError
from referee.league import database, rows
from referee.league.store import Store, duel_of, put_fact, stored_match
from referee.support.words import listed
from referee.tournament.database import required
from referee.tournament.transactions import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection

    from referee.games.game import Json
    from referee.league.store import StoredMatch
    from referee.tournament.claim import Claim
    from referee.tournament.values import MatchTask, PlannedDuel, Record, Team

#: The fact with what is being played: {"time", "host", "slots", "matches"}; a match has {"key", "seats", "since"}. Times are in seconds since
#: the epoch. It is stored again every half second.
PLAYING = "playing"
#: The fact that says why nothing is played now, as a sentence for the staff; empty while matches are played.
PAUSED = "paused"
#: The fact with the teams that are disqualified, each with the reason; and the one that differs after every change of a version.
DISQUALIFIED, _CHANGED = "disqualified", "versions"
#: How the reason begins why a disqualified team's version plays no more.
_NO_PLAY = "The team is disqualified: "
#: The status of a version. Only an accepted one plays.
ACCEPTED, REFUSED = "accepted", "refused"

_meta = MetaData()
_versions = Table(
    "versions",
    _meta,
    Column("name", Text, primary_key=True),
    *required(Text, "team"),
    *required(Integer, "number"),
    *required(Text, "hash", "status", "note", "report"),
    *required(Float, "submitted"),
    *required(Integer, "first_duel", "is_reference", "is_active"),
    UniqueConstraint("team", "hash"),
)
_ratings = Table(
    "ratings",
    _meta,
    Column("name", Text, primary_key=True),
    Column("duels", Integer, primary_key=True, autoincrement=False),
    *required(Float, "time", "elo", "low", "high"),
    Index("ratings_by_duels", "duels"),
)
#: The results of duels, from the first one on without a gap, so that nobody has to read all matches again. ``a`` and ``b`` are the positions of
#: the versions in the league's table of teams. ``points`` are twice those of ``a``, and -1 if the duel counts for nobody. ``absent`` says who
#: could not start: 1 for ``a``, 2 for ``b``, 3 for both.
_outcomes = Table(
    "outcomes",
    _meta,
    Column("duel", Integer, primary_key=True, autoincrement=False),
    *required(Integer, "a", "b", "start", "variant", "points", "absent"),
)
#: How long the process that plays waits for a database that doesn't answer, and how long between two tries, in seconds.
_PATIENCE, _PAUSE = 600.0, 0.2
#: So many results are read at once, whose rows are short; and so many duels without a result: a batch has fewer.
_ROWS, _OPEN = 10_000, 1_000


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


class OpenDuel(NamedTuple):
    """A duel whose result is not in the table of results, with its matches. ``is_stopped``: not all of them will be played."""

    duel: PlannedDuel
    is_stopped: bool
    matches: list[tuple[MatchTask, Record | None]]


class ArenaStore(Store):
    """An open store of an arena."""

    file = "arena.sqlite"
    metas = (*Store.metas, _meta)

    #: The claim of the process that plays.
    _claim: Claim | None = None

    def claim(self) -> Claim:
        """Claim the arena for this process, which then waits for a database whose server is restarted. UsageError if another process plays it."""
        self._claim = super().claim()
        return self._claim

    def keep_claim(self) -> None:
        """Claim the arena again after a restart of the database's server. UsageError if another process was faster."""
        if self._claim is not None:
            self._connected().close()
            self._claim.renew(self._engine, self.where)

    def _connected(self) -> Connection:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return super()._connected()
            except OperationalError:
                if self._claim is None or self._engine.dialect.name == "sqlite" or time.monotonic() > until:
                    raise
            sleep(_PAUSE)

    def disqualified(self) -> dict[str, str]:
        """Return the teams that are disqualified, each with the reason."""
        return dict(self.fact(DISQUALIFIED) or {})

    def check_admitted(self, team: str) -> None:
        """Raise UsageError if a team is disqualified."""
        with self._read() as connection:
            _check_admitted(connection, team)

    def disqualify(self, team: str, why: str) -> None:
        """Let no version of a team play any more."""
        with self._write() as connection:
            _change(connection)
            put_fact(connection, DISQUALIFIED, {**_disqualified(connection), team: why})
            _set_forfeits(connection, team, None, f"{_NO_PLAY}{why}")
            _activate(connection, team)

    def outcomes(self, first: int) -> Iterator[Sequence[Sequence[int]]]:
        """Yield the results of duels in their order, many at once, from the duel ``first`` on."""
        return self._batches(select(_outcomes).where(_outcomes.c.duel >= first).order_by(_outcomes.c.duel), tuple, _ROWS)

    def put_outcomes(self, outcomes: Sequence[Sequence[int]]) -> None:
        """Store results of duels, each a row of the table of results. Those that are there already stay as they are."""
        self._put_new({_outcomes: [dict(zip(_outcomes.columns.keys(), outcome, strict=True)) for outcome in outcomes]})

    def open_duels(self, first: int) -> list[OpenDuel]:
        """The duels from ``first`` on with their matches, in their order, but not more than a thousand."""
        duels, matches = database.duels, database.matches
        with self._read() as connection:
            rows = connection.execute(select(duels).where(duels.c.number >= first).order_by(duels.c.number).limit(_OPEN)).all()
            if not rows:
                return []
            mine = select(matches).where(matches.c.duel.between(first, rows[-1].number)).order_by(matches.c.duel, matches.c.game_number)
            by_number = {row.number: OpenDuel(duel_of(row), row.note is not None, []) for row in rows}
            for row in connection.execute(mine):
                stored = stored_match(row)
                if stored.task.duel in by_number:
                    by_number[stored.task.duel].matches.append((stored.task, stored.record))
        return list(by_number.values())

    def matches_of(self, duels: Sequence[int]) -> list[tuple[StoredMatch, float | None]]:
        """The matches of some duels with the times at which they ended, the last duel first."""
        table = database.matches
        query = select(table).where(table.c.duel.in_(duels)).order_by(table.c.duel.desc(), table.c.game_number.desc())
        return self._all(query, lambda row: (stored_match(row), row.finished))

    def winners(self, duels: Sequence[int]) -> list[tuple[int, dict[str, str], str | None]]:
        """Of the matches of some duels that are done: the duel, the seats and who has won. To read nothing else takes a quarter of the time."""
        table = database.matches
        query = select(table.c.duel, table.c.seats, table.c.result).where(table.c.duel.in_(duels), table.c.status == database.DONE)
        return self._all(query, lambda row: (row.duel, from_json(row.seats), from_json(row.result)["winner"]))

    def done(self, first: int, end: int | None = None) -> int:
        """How many matches of the duels from ``first`` on, and before ``end``, are done."""
        table = database.matches
        query = select(func.count()).select_from(table).where(table.c.status == database.DONE, table.c.duel >= first)
        return self._all(query if end is None else query.where(table.c.duel < end), lambda row: int(row[0]))[0]

    def match(self, key: str) -> tuple[StoredMatch, float | None] | None:
        """A match with the time at which it ended, None if there is no such match."""
        # PostgreSQL refuses to look for a NUL.
        matches = (
            []
            if "\0" in key
            else self._all(select(database.matches).where(database.matches.c.key == key), lambda row: (stored_match(row), row.finished))
        )
        return matches[0] if matches else None

    def void_pairs(self) -> dict[frozenset[str], int]:
        """How many matches of two versions were void."""
        duels, matches, voids = database.duels, database.matches, database.voids
        joined = voids.join(matches, matches.c.key == voids.c.key).join(duels, duels.c.number == matches.c.duel)
        counts: Counter[frozenset[str]] = Counter()
        with self._read() as connection:
            for teams, count in connection.execute(select(duels.c.teams, func.count()).select_from(joined).group_by(duels.c.teams)):
                counts[frozenset(rows.names(teams))] += count
        return dict(counts)

    def versions(self, team: str | None = None) -> list[Version]:
        """All versions of all teams, or those of a team: the accepted ones in the order in which they were accepted, then the others."""
        place = database.teams.c.position
        joined = select(_versions).outerjoin(database.teams, database.teams.c.name == _versions.c.name)
        query = joined.order_by(place.is_(None), place, _versions.c.submitted, _versions.c.name)
        if team is not None:
            query = query.where(_versions.c.team == team)
        return self._all(query, _version)

    def versions_mark(self) -> str:
        """Return a text that differs once a version was added or refused, or another one is active."""
        return str(self.fact(_CHANGED))

    def names(self, count: int = -1) -> list[str] | None:
        """The accepted versions by their positions; None if there are ``count`` of them, as many as the caller has already."""
        teams = database.teams
        with self._read() as connection:
            if connection.execute(select(func.count()).select_from(teams)).scalar_one() == count:
                return None
            return list(connection.execute(select(teams.c.name).order_by(teams.c.position)).scalars())

    def put_version(self, version: Version, team: Team | None) -> Version:
        """Store a version with its number, which is counted here, and the time of now unless it has one; return it as it is stored.

        ``team`` is its program, None for a version that is refused; else it becomes the active version of its team. A version that was
        refused before keeps its number. UsageError if the team is disqualified.
        """
        with self._write() as connection:
            _change(connection)
            _check_admitted(connection, version.team)
            mine = _versions.c.team == version.team
            earlier = connection.execute(select(_versions).where(mine, _versions.c.hash == version.hash)).first()
            if earlier is not None and earlier.status == ACCEPTED:
                # Another process has accepted the same files meanwhile.
                _activate(connection, earlier.team, earlier.name)
                return _version(earlier)._replace(is_active=True)
            last = connection.execute(select(func.max(_versions.c.number)).where(mine)).scalar() or 0
            number = last + 1 if earlier is None else earlier.number
            duels = connection.execute(select(func.count()).select_from(database.duels)).scalar_one()
            stored = version._replace(number=number, name=version_name(version.team, number), first_duel=duels)
            stored = stored._replace(submitted=version.submitted or time.time())
            connection.execute(_versions.delete().where(_versions.c.name == stored.name))
            facts = {**stored._asdict(), "report": json.dumps(stored.report), "note": storable(stored.note)}
            facts |= {"is_reference": int(stored.is_reference), "is_active": 0}
            connection.execute(insert(_versions).values(**facts))
            if team is not None:
                count = connection.execute(select(func.count()).select_from(database.teams)).scalar_one()
                named = team._replace(name=stored.name)
                connection.execute(insert(database.teams).values(**rows.team_row(named), position=count))
                _activate(connection, stored.team, stored.name)
        return stored._replace(is_active=team is not None)

    def activate(self, team: str, name: str = "", *, admits: bool = False) -> None:
        """Make an accepted version the active one of its team, by default none.

        A team that is disqualified is admitted again if this ``admits`` it; else UsageError.
        """
        with self._write() as connection:
            _change(connection)
            if admits:
                _admit(connection, team)
            _check_admitted(connection, team)
            _activate(connection, team, name)

    def put_ratings(self, points: Sequence[RatingPoint]) -> None:
        """Store ratings. Those that are there already stay as they are."""
        self._put_new({_ratings: [point._asdict() for point in points]})

    def last_ratings(self, after: int = -1) -> dict[str, RatingPoint]:
        """The last rating of each version that has one of more than ``after`` duels."""
        # All of them are many: they are grouped. The new ones are few and found by an index, which SQLite doesn't take to group.
        new = select(_ratings).where(_ratings.c.duels > after).order_by(_ratings.c.duels)
        return {point.name: point for point in (self._all(new, RatingPoint._make) if after >= 0 else self._last())}

    def ratings_at(self, names: Sequence[str], moment: float) -> dict[str, float]:
        """The ratings that some versions had at a time, in seconds since the epoch. A version that had none is missing."""
        return {point.name: point.elo for point in self._last(_ratings.c.name.in_(names), _ratings.c.time <= moment)}

    def _last(self, *which: ColumnElement[bool]) -> list[RatingPoint]:
        """The last rating of each version, of all ratings or of some."""
        last = select(_ratings.c.name, func.max(_ratings.c.duels).label("duels")).where(*which).group_by(_ratings.c.name).subquery()
        return self._all(
            select(_ratings).join(last, (_ratings.c.name == last.c.name) & (_ratings.c.duels == last.c.duels)), RatingPoint._make
        )

    def ratings(self, names: Sequence[str]) -> list[RatingPoint]:
        """The ratings of some versions over time."""
        query = select(_ratings).where(_ratings.c.name.in_(names)).order_by(_ratings.c.duels, _ratings.c.name)
        return self._all(query, RatingPoint._make)


def version_name(team: str, number: int) -> str:
    """Return the name of a team's version in matches."""
    return f"{team} v{number}"


def named(versions: Sequence[Version], team: str) -> list[Version]:
    """Return the versions of a team. UsageError if there is no such team."""
    mine = [version for version in versions if version.team == team]
    if not mine:
        names = list(dict.fromkeys(version.team for version in versions if version.is_active or not version.is_reference))
        raise UsageError(f"The arena has no team {team}; there {f'are {listed(names)}' if names else 'is none yet'}.")
    return mine


def _change(connection: Connection) -> None:
    """Let no other process write versions until the end of the transaction, and note that they change."""
    connection.execute(update(database.facts).where(database.facts.c.name == "version").values(value=database.facts.c.value))
    put_fact(connection, _CHANGED, uuid.uuid4().hex)


def _disqualified(connection: Connection) -> dict[str, str]:
    text = connection.execute(select(database.facts.c.value).where(database.facts.c.name == DISQUALIFIED)).scalar()
    return {} if text is None else dict(json.loads(text))


def _check_admitted(connection: Connection, team: str) -> None:
    if (why := _disqualified(connection).get(team)) is not None:
        raise UsageError(f"{team} is disqualified ({why.rstrip('.')}); to admit it again, the staff makes a version active.")


def _admit(connection: Connection, team: str) -> None:
    left = _disqualified(connection)
    if left.pop(team, None) is not None:
        put_fact(connection, DISQUALIFIED, left)
        _set_forfeits(connection, team, f"{_NO_PLAY}%", None)


def _set_forfeits(connection: Connection, team: str, like: str | None, reason: str | None) -> None:
    """Set why the versions of a team play no more; only of those whose reason is like this, or which have none."""
    column, names = database.teams.c.forfeit, select(_versions.c.name).where(_versions.c.team == team)
    is_meant = column.is_(None) if like is None else column.like(like)
    connection.execute(update(database.teams).where(database.teams.c.name.in_(names), is_meant).values(forfeit=reason))


def _activate(connection: Connection, team: str, name: str = "") -> None:
    """Make a version the active one of its team, by default none."""
    is_active = cast(_versions.c.name == name, Integer)
    connection.execute(update(_versions).where(_versions.c.team == team).values(is_active=is_active))


def _version(row: Any) -> Version:
    facts = row._asdict()
    report, is_reference, is_active = json.loads(facts.pop("report")), bool(facts.pop("is_reference")), bool(facts.pop("is_active"))
    return Version(**facts, report=report, is_reference=is_reference, is_active=is_active)
