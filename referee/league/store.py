"""The store of a league: teams, duels, matches and their results in SQLite or PostgreSQL. Only this module and ``database`` know SQL.

A match is one row, identified by all that decides its result. Its result and its status change in one transaction, so a league that was
killed at any moment can be continued.
"""

from __future__ import annotations

import itertools
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from referee.errors import RefereeError, UsageError
from referee.league import database
from referee.league.database import DONE, FILE, PLANNED, STOPPED, VERSION
from referee.league.rows import essence, names, planned, record_of, result_text, task_of, team_of, team_row
from referee.tournament.database import reason
from referee.tournament.transactions import Database, StoreError, quoted, storable
from referee.tournament.values import PlannedDuel
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.engine import Connection
    from typing_extensions import Self

    from referee.games.game import Json
    from referee.tournament.claim import Claim
    from referee.tournament.values import MatchTask, Record, Team

#: How many matches are read at once.
_ROWS = 1000


class StoredMatch(NamedTuple):
    """A match of the store; ``record`` is None until it is done."""

    task: MatchTask
    status: str
    record: Record | None


def stored_match(row: Any) -> StoredMatch:
    """Return the match of a row. Raises one of ``WRONG``, and StoreError if its result can't be read."""
    record = None if row.result is None else record_of(row.key, row.result, row.seconds, row.host)
    return StoredMatch(task_of(row), row.status, record)


def duel_of(row: Any) -> PlannedDuel:
    """Return the duel of a row. Raises one of ``WRONG``."""
    return PlannedDuel(row.number, row.round, names(row.teams), row.start, row.variant, row.repeat)


class Counts(NamedTuple):
    """How many matches there are by status, and how many attempts were void."""

    planned: int
    done: int
    stopped: int
    voids: int

    @property
    def total(self) -> int:
        """All matches."""
        return self.planned + self.done + self.stopped


class Store:
    """An open store. ``close`` it, or use it as a context manager. Errors of the database are raised as StoreError with a sentence."""

    def __init__(self, opened: Database) -> None:
        #: Its database, for tables beside those of this store.
        self.database = opened
        #: The file, or the address without its password.
        self.where = opened.where

    @classmethod
    def open(cls, folder: Path, url: str | None = None, *, create: bool = False) -> Self:
        """Open the store of a league's folder: its SQLite file, or the PostgreSQL database of a URL. ``create`` makes the tables.

        Raises UsageError where there is no store, where it is that of an older or newer version, or where its file can't be used.
        """
        path = folder / FILE
        if url is None and not create and not path.is_file():
            raise UsageError(
                f"{quoted(folder)} is not the folder of a league: it has no {FILE}. Begin one: referee league run FILE --out DIR"
            )
        store = cls(Database.open(path, url, create=create))
        try:
            store._check(folder, create=create)
        except RefereeError:
            store.close()
            raise
        except SQLAlchemyError as error:
            store.close()
            raise UsageError(f"The store {quoted(store.where)} can't be opened: {reason(error, store.where)}.") from None
        return store

    def _check(self, folder: Path, *, create: bool) -> None:
        tables = self.database.tables()
        if "facts" not in tables and (tables or not create):
            raise UsageError(f"{quoted(self.where)} is the database of something else: it has no league's tables.")
        version = self.fact("version") if tables else None
        if version is None:
            # It is new, or its process was killed between making the tables and noting the version.
            self.database.create(database.meta)
            self.set_fact("referee", __version__)
            self.set_fact("version", VERSION)
        elif version == 1:
            raise UsageError(
                f"{quoted(folder)} was written by a referee before version 2.0, and this is version {__version__}: go on with the version "
                "that wrote it, or begin anew in another folder."
            )
        elif version != VERSION:
            raise UsageError(
                f"{quoted(folder)} was written by a newer version of the referee ({quoted(self.fact('referee'))}), and this is version "
                f"{__version__}: update the referee."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def fact(self, name: str) -> Json:
        """A stored fact about the league, or None."""
        values = self.database.all(select(database.facts.c.value).where(database.facts.c.name == name), lambda row: json.loads(row.value))
        return values[0] if values else None

    def set_fact(self, name: str, value: Json) -> None:
        """Store a fact about the league; it replaces an earlier one."""
        with self.database.write() as connection:
            put_fact(connection, name, value)

    def begin(self, facts: Mapping[str, Json], teams: Sequence[Team]) -> None:
        """Store the league's facts and teams in one transaction."""
        with self.database.write() as connection:
            _put_facts(connection, facts)
            _put_teams(connection, teams, 0)

    def teams(self) -> list[Team]:
        """The teams in order."""
        return self.database.all(select(database.teams).order_by(database.teams.c.position), team_of)

    def check_teams(self, teams: Container[str]) -> None:
        """Raise StoreError if a duel has a team that is not one of these: the store has lost it."""
        lost = [team for duel in self.duels() for team in duel.teams if team not in teams]
        if lost:
            raise StoreError(
                f"The store {quoted(self.where)} has lost the team {lost[0]}, whose duels it has. Restore the file from a copy."
            )

    def add_teams(self, teams: Sequence[Team], facts: Mapping[str, Json]) -> None:
        """Add teams at the end, together with changed facts."""
        with self.database.write() as connection:
            _put_facts(connection, facts)
            count = connection.execute(select(func.count()).select_from(database.teams)).scalar_one()
            _put_teams(connection, teams, count)

    def forfeits(self) -> dict[str, str]:
        """The teams that can't start, with the reason."""
        teams = database.teams.c
        return dict(self.database.all(select(teams.name, teams.forfeit).where(teams.forfeit.is_not(None)), tuple))

    def forfeit(self, team: str, reason: str) -> None:
        """A team can't start: none of its other matches is played."""
        with self.database.write() as connection:
            connection.execute(update(database.teams).where(database.teams.c.name == team).values(forfeit=storable(reason)))

    def put(self, duels: Sequence[PlannedDuel], tasks: Sequence[MatchTask]) -> None:
        """Store duels and their matches. Those that are there already stay as they are."""
        rows = [{**duel._asdict(), "teams": json.dumps(duel.teams)} for duel in duels]
        self.database.put_new({database.duels: rows, database.matches: [planned(task) for task in tasks]})

    def set_files(self, team: Team) -> None:
        """Store a team's new files. The caller discards its old matches, because the new ones have other keys."""
        self.replan((), (), (), [team])

    def replan(
        self,
        old: Sequence[str],
        duels: Sequence[int],
        tasks: Sequence[MatchTask],
        teams: Sequence[Team] = (),
        *,
        facts: Mapping[str, Json] | None = None,
    ) -> None:
        """Replace the matches of some duels, and store the new files of some teams and changed facts, all in one transaction.

        ``old`` are the keys of all matches that are forgotten. So are void attempts, and forfeits of these teams.
        """
        with self.database.write() as connection:
            _put_facts(connection, facts or {})
            for team in teams:
                connection.execute(update(database.teams).where(database.teams.c.name == team.name).values(**team_row(team), forfeit=None))
            for key in old:
                for table in (database.matches, database.voids, database.disagreements):
                    connection.execute(table.delete().where(table.c.key == key))
            for number in duels:
                connection.execute(update(database.duels).where(database.duels.c.number == number).values(note=None))
            for task in tasks:
                connection.execute(insert(database.matches).values(**planned(task)))

    def duels(self) -> list[PlannedDuel]:
        """All duels so far in schedule order."""
        return self.database.all(select(database.duels).order_by(database.duels.c.number), duel_of)

    def duel_notes(self) -> dict[int, str]:
        """What was said about duels that are not to be played to the end."""
        duels = database.duels.c
        return dict(self.database.all(select(duels.number, duels.note).where(duels.note.is_not(None)), tuple))

    def stop(self, duels: Iterable[int], note: str) -> None:
        """Don't play the remaining matches of some duels, and say why."""
        with self.database.write() as connection:
            for number in duels:
                connection.execute(update(database.duels).where(database.duels.c.number == number).values(note=storable(note)))
                mine = (database.matches.c.duel == number, database.matches.c.status == PLANNED)
                connection.execute(update(database.matches).where(*mine).values(status=STOPPED))

    def go_on(self, duels: Iterable[int]) -> None:
        """Play the remaining matches of some duels that were stopped."""
        with self.database.write() as connection:
            for number in duels:
                mine = (database.matches.c.duel == number, database.matches.c.status == STOPPED)
                connection.execute(update(database.matches).where(*mine).values(status=PLANNED))
                connection.execute(update(database.duels).where(database.duels.c.number == number).values(note=None))

    def pending(self) -> list[MatchTask]:
        """The matches that are still to be played, in schedule order."""
        query = (
            select(database.matches)
            .where(database.matches.c.status == PLANNED)
            .order_by(database.matches.c.duel, database.matches.c.game_number)
        )
        return self.database.all(query, task_of)

    def lost(self, matches_each: int) -> list[int]:
        """Return the numbers of duels of which the store has lost something: one of so many matches, or the duel itself."""
        duels, matches = database.duels, database.matches
        present = select(duels.c.number, func.count(matches.c.key)).outerjoin(matches, matches.c.duel == duels.c.number)
        alone = select(matches.c.duel).outerjoin(duels, matches.c.duel == duels.c.number).where(duels.c.number.is_(None))
        with self.database.read() as connection:
            counts = dict.fromkeys(connection.execute(alone.distinct()).scalars(), 0)
            counts.update(tuple(row) for row in connection.execute(present.group_by(duels.c.number)))
        return [number for number in range(max(counts, default=-1) + 1) if counts.get(number, 0) < matches_each]

    def keys(self) -> set[str]:
        """Return the keys of all matches, also of those whose results can't be read."""
        with self.database.read() as connection:
            return set(connection.execute(select(database.matches.c.key)).scalars())

    def matches(self, *, done: bool = False, begun: bool = False) -> Iterator[StoredMatch]:
        """All matches in schedule order, or those that are done, or those of duels of which one is done or stopped."""
        query = select(database.matches).order_by(database.matches.c.duel, database.matches.c.game_number)
        if done:
            query = query.where(database.matches.c.status == DONE)
        if begun:
            others = database.matches.alias()
            query = query.where(database.matches.c.duel.in_(select(others.c.duel).where(others.c.status.in_((DONE, STOPPED)))))
        return itertools.chain.from_iterable(self.database.batches(query, stored_match))

    def finish(self, record: Record) -> bool:
        """Store a result: the match is done. False if there was a result already; if the two differ, the new one is kept as well."""
        result = result_text(record)
        with self.database.write() as connection:
            changed = connection.execute(
                update(database.matches)
                .where(database.matches.c.key == record.key, database.matches.c.status != DONE)
                .values(status=DONE, result=result, seconds=record.wall_seconds, host=storable(record.host), finished=time.time())
            ).rowcount
            if not changed:
                earlier = connection.execute(select(database.matches.c.result).where(database.matches.c.key == record.key)).scalar()
                if earlier is not None and essence(earlier) != essence(result):
                    connection.execute(insert(database.disagreements).values(key=record.key, result=result, host=storable(record.host)))
        return bool(changed)

    def void(self, key: str, why: str, host: str) -> None:
        """Note that an attempt was void."""
        with self.database.write() as connection:
            connection.execute(insert(database.voids).values(key=key, text=storable(why), host=storable(host), time=time.time()))

    def voids(self) -> list[tuple[str, str]]:
        """The void attempts: key and reason."""
        query = select(database.voids.c.key, database.voids.c.text).order_by(database.voids.c.number)
        return self.database.all(query, lambda row: (row.key, row.text))

    def disagreements(self) -> list[tuple[str, Record]]:
        """Results that came a second time and differ from the first."""
        query = select(database.disagreements).order_by(database.disagreements.c.number)
        return self.database.all(query, lambda row: (row.key, record_of(row.key, row.result, 0.0, row.host)))

    def counts(self) -> Counts:
        """The number of matches by status."""
        with self.database.read() as connection:
            rows = connection.execute(select(database.matches.c.status, func.count()).group_by(database.matches.c.status)).all()
            voids = connection.execute(select(func.count()).select_from(database.voids)).scalar_one()
        by_status = {row[0]: row[1] for row in rows}
        return Counts(by_status.get(PLANNED, 0), by_status.get(DONE, 0), by_status.get(STOPPED, 0), voids)

    def last_times(self, count: int) -> list[float]:
        """When the last matches ended, in seconds since the epoch, the last one first."""
        query = (
            select(database.matches.c.finished)
            .where(database.matches.c.finished.is_not(None))
            .order_by(database.matches.c.finished.desc())
            .limit(count)
        )
        return self.database.all(query, lambda row: float(row.finished))

    def is_claimed(self) -> bool:
        """True if a process plays the league now."""
        return self.database.is_claimed()

    def claim(self) -> Claim:
        """Claim the league for this process. UsageError if another process plays it."""
        return self.database.claim()


def put_fact(connection: Connection, name: str, value: Json) -> None:
    """Store a fact about the league within a transaction; it replaces an earlier one."""
    connection.execute(database.facts.delete().where(database.facts.c.name == name))
    connection.execute(insert(database.facts).values(name=name, value=json.dumps(value)))


def _put_facts(connection: Connection, facts: Mapping[str, Json]) -> None:
    for name, value in facts.items():
        put_fact(connection, name, value)


def _put_teams(connection: Connection, teams: Sequence[Team], position: int) -> None:
    for number, team in enumerate(teams, position):
        connection.execute(insert(database.teams).values(**team_row(team), position=number))
