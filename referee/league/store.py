"""The store of a league: teams, duels, matches and their results in SQLite or PostgreSQL. This is the only module with SQL.

A match is one row, identified by all that decides its result. Its result and its status change in one transaction, so a league that was
killed at any moment goes on where it was.
"""

from __future__ import annotations

import contextlib
import json
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from referee.errors import RefereeError, UsageError
from referee.league.address import postgres, without_password
from referee.league.claim import Claim, network_file_system
from referee.league.values import Duel, MatchRecord, MatchTask, Team
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine
    from typing_extensions import Self

#: The version of the tables. A newer version's database is refused.
VERSION = 1
FILE = "league.sqlite"

#: The most characters that are kept of a sentence with characters that must be escaped.
_LONGEST = 2000

#: The status of a match.
PLANNED, DONE, STOPPED = "planned", "done", "stopped"


_meta = MetaData()
_facts = Table("facts", _meta, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))
_teams = Table(
    "teams",
    _meta,
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("players", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("home", Text, nullable=False),
    Column("files", Text, nullable=False),
    Column("forfeit", Text),
)
_duels = Table(
    "duels",
    _meta,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("round", Integer, nullable=False),
    Column("teams", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("variant", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("note", Text),
)
_matches = Table(
    "matches",
    _meta,
    Column("key", Text, primary_key=True),
    Column("duel", Integer, nullable=False, index=True),
    Column("game_number", Integer, nullable=False),
    Column("seats", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("result", Text),
    Column("seconds", Float),
    Column("host", Text),
    Column("finished", Float),
    Index("matches_by_status", "status", "duel"),
)
_voids = Table(
    "voids",
    _meta,
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False, index=True),
    Column("text", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("time", Float, nullable=False),
)
_disagreements = Table(
    "disagreements",
    _meta,
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("host", Text, nullable=False),
)
_hosts = Table(
    "hosts", _meta, Column("name", Text, primary_key=True), Column("score", Float, nullable=False), Column("level", Text, nullable=False)
)


class StoreError(RefereeError):
    """The store can't be read or written."""

    exit_code = 4


class StoredMatch(NamedTuple):
    """A match as it stands in the store; ``record`` is None until it is done."""

    task: MatchTask
    status: str
    record: MatchRecord | None


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

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        #: The file, or the address without its password.
        self.where = where

    @classmethod
    def open(cls, folder: Path, url: str | None = None, *, create: bool = False) -> Store:
        """Open the store of a league's folder: its SQLite file, or the PostgreSQL database of a URL. ``create`` makes the tables.

        Raises UsageError where there is no store, where it is that of a newer version, or where its file can't be used.
        """
        if url is None:
            path = folder / FILE
            if not create and not path.is_file():
                raise UsageError(
                    f"{_shown(folder)} is not the folder of a league: it has no {FILE}. Begin one: referee league run FILE --out DIR"
                )
            if (kind := network_file_system(folder)) is not None:
                raise UsageError(
                    f"{_shown(folder)} is on a network file system ({kind}), where SQLite loses data. Name a local folder with --out, "
                    "or a PostgreSQL database with --database."
                )
            engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
            event.listen(engine, "connect", _set_up_sqlite)
            store = cls(engine, str(path))
        else:
            store = cls(postgres(url), without_password(url))
        try:
            store._check(create=create)
        except RefereeError:
            store.close()
            raise
        except SQLAlchemyError as error:
            store.close()
            raise UsageError(f"The store {_shown(store.where)} can't be opened: {_reason(error)}.") from None
        return store

    def _check(self, *, create: bool) -> None:
        tables = set(inspect(self._engine).get_table_names())
        if not tables & set(_meta.tables):
            if not create or tables:
                raise UsageError(f"{_shown(self.where)} is the database of something else: it has no league's tables.")
            _meta.create_all(self._engine)
            self.set_fact("version", VERSION)
            return
        if "facts" not in tables:
            raise UsageError(f"{_shown(self.where)} is the database of something else: it has no league's tables.")
        version = self.fact("version")
        if version is None:
            # It was killed between making the tables and this note.
            _meta.create_all(self._engine)
            self.set_fact("version", VERSION)
        elif not isinstance(version, int) or version > VERSION:
            raise UsageError(
                f"{_shown(self.where)} was made by a newer version of the referee (tables of version {version}, this one knows {VERSION}): update the referee."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _write(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise StoreError(f"The store {_shown(self.where)} can't be written: {_reason(error)}.") from None

    @contextlib.contextmanager
    def _read(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise StoreError(f"The store {_shown(self.where)} can't be read: {_reason(error)}.") from None

    def fact(self, name: str) -> Any:
        """A stored fact about the league, or None."""
        with self._read() as connection:
            found = connection.execute(select(_facts.c.value).where(_facts.c.name == name)).scalar()
        return None if found is None else json.loads(found)

    def set_fact(self, name: str, value: Any) -> None:
        """Store a fact about the league; it replaces an earlier one."""
        with self._write() as connection:
            _put_fact(connection, name, value)

    def begin(self, facts: Mapping[str, Any], teams: Sequence[Team]) -> None:
        """Store the league's facts and teams in one transaction."""
        with self._write() as connection:
            for name, value in facts.items():
                _put_fact(connection, name, value)
            _put_teams(connection, teams, 0)

    def teams(self) -> list[Team]:
        """The teams in order."""
        with self._read() as connection:
            rows = connection.execute(select(_teams).order_by(_teams.c.position)).all()
        return [Team(row.name, json.loads(row.players), row.hash, json.loads(row.home), json.loads(row.files)) for row in rows]

    def add_teams(self, teams: Sequence[Team], facts: Mapping[str, Any]) -> None:
        """Add teams at the end, together with changed facts."""
        with self._write() as connection:
            for name, value in facts.items():
                _put_fact(connection, name, value)
            count = connection.execute(select(func.count()).select_from(_teams)).scalar_one()
            _put_teams(connection, teams, count)

    def set_files(self, team: Team) -> None:
        """Store a team's new files. Its old matches are to be discarded: the new ones have other keys."""
        with self._write() as connection:
            connection.execute(update(_teams).where(_teams.c.name == team.name).values(**_team_row(team), forfeit=None))

    def forfeits(self) -> dict[str, str]:
        """The teams that can't start, with the reason."""
        with self._read() as connection:
            rows = connection.execute(select(_teams.c.name, _teams.c.forfeit).where(_teams.c.forfeit.is_not(None))).all()
        return {row.name: row.forfeit for row in rows}

    def forfeit(self, team: str, reason: str) -> None:
        """A team can't start: none of its other matches is played."""
        with self._write() as connection:
            connection.execute(update(_teams).where(_teams.c.name == team).values(forfeit=_kept(reason)))

    def put(self, duels: Sequence[Duel], tasks: Sequence[MatchTask]) -> None:
        """Store duels and their matches. Those that are there already stay as they are."""
        rows = [
            {
                "number": duel.number,
                "round": duel.round,
                "teams": json.dumps(duel.teams),
                "start": duel.start,
                "variant": duel.variant,
                "repeat": duel.repeat,
            }
            for duel in duels
        ]
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        with self._write() as connection:
            for table, found in ((_duels, rows), (_matches, [_planned(task) for task in tasks])):
                if found:
                    connection.execute(dialect.insert(table).on_conflict_do_nothing(), found)

    def replan(self, old: Sequence[str], duels: Sequence[int], tasks: Sequence[MatchTask]) -> None:
        """Replace the matches of some duels in one transaction, as when a team's files have changed. Void attempts are forgotten."""
        with self._write() as connection:
            for key in old:
                for table in (_matches, _voids):
                    connection.execute(table.delete().where(table.c.key == key))
            for number in duels:
                connection.execute(update(_duels).where(_duels.c.number == number).values(note=None))
            connection.execute(_facts.delete().where(_facts.c.name == "decided"))
            for task in tasks:
                connection.execute(insert(_matches).values(**_planned(task)))

    def duels(self) -> list[Duel]:
        """All duels so far in schedule order."""
        with self._read() as connection:
            rows = connection.execute(select(_duels).order_by(_duels.c.number)).all()
        return [Duel(row.number, row.round, tuple(json.loads(row.teams)), row.start, row.variant, row.repeat) for row in rows]

    def duel_notes(self) -> dict[int, str]:
        """What was said about duels that are not to be played to the end."""
        with self._read() as connection:
            rows = connection.execute(select(_duels.c.number, _duels.c.note).where(_duels.c.note.is_not(None))).all()
        return {row.number: row.note for row in rows}

    def stop(self, duels: Iterable[int], note: str) -> None:
        """Don't play the remaining matches of some duels, and say why."""
        with self._write() as connection:
            for number in duels:
                connection.execute(update(_duels).where(_duels.c.number == number).values(note=_kept(note)))
                connection.execute(update(_matches).where(_matches.c.duel == number, _matches.c.status == PLANNED).values(status=STOPPED))

    def pending(self) -> list[MatchTask]:
        """The matches that are still to be played, in schedule order."""
        query = select(_matches).where(_matches.c.status == PLANNED).order_by(_matches.c.duel, _matches.c.game_number)
        with self._read() as connection:
            return [_task(row) for row in connection.execute(query)]

    def matches(self, *, done: bool = False) -> Iterator[StoredMatch]:
        """All matches in schedule order, or those that are done."""
        query = select(_matches).order_by(_matches.c.duel, _matches.c.game_number)
        if done:
            query = query.where(_matches.c.status == DONE)
        with self._read() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                record = None if row.result is None else _record(row.key, row.result, row.seconds, row.host)
                yield StoredMatch(_task(row), row.status, record)

    def finish(self, record: MatchRecord) -> bool:
        """Store a result: the match is done. False if there was a result already; if the two differ, the new one is kept as well."""
        result = result_text(record)
        with self._write() as connection:
            changed = connection.execute(
                update(_matches)
                .where(_matches.c.key == record.key, _matches.c.status != DONE)
                .values(status=DONE, result=result, seconds=record.wall_seconds, host=_kept(record.host), finished=time.time())
            ).rowcount
            if not changed:
                earlier = connection.execute(select(_matches.c.result).where(_matches.c.key == record.key)).scalar()
                if earlier is not None and _essence(earlier) != _essence(result):
                    connection.execute(insert(_disagreements).values(key=record.key, result=result, host=_kept(record.host)))
        return bool(changed)

    def void(self, key: str, why: str, host: str) -> int:
        """Note that an attempt was void; return the number of void attempts of this match."""
        with self._write() as connection:
            connection.execute(insert(_voids).values(key=key, text=_kept(why), host=_kept(host), time=time.time()))
            return int(connection.execute(select(func.count()).select_from(_voids).where(_voids.c.key == key)).scalar_one())

    def voids(self) -> list[tuple[str, str]]:
        """The void attempts: key and reason."""
        with self._read() as connection:
            return [(row.key, row.text) for row in connection.execute(select(_voids.c.key, _voids.c.text).order_by(_voids.c.number))]

    def disagreements(self) -> list[tuple[str, MatchRecord]]:
        """Results that came a second time and differ from the first."""
        with self._read() as connection:
            rows = connection.execute(select(_disagreements).order_by(_disagreements.c.number)).all()
        return [(row.key, _record(row.key, row.result, 0.0, row.host)) for row in rows]

    def counts(self) -> Counts:
        """How far the league is."""
        with self._read() as connection:
            rows = connection.execute(select(_matches.c.status, func.count()).group_by(_matches.c.status)).all()
            voids = connection.execute(select(func.count()).select_from(_voids)).scalar_one()
        found = {row[0]: row[1] for row in rows}
        return Counts(found.get(PLANNED, 0), found.get(DONE, 0), found.get(STOPPED, 0), voids)

    def last_times(self, count: int) -> list[float]:
        """When the last matches ended, in seconds since the epoch, the last one first."""
        query = select(_matches.c.finished).where(_matches.c.finished.is_not(None)).order_by(_matches.c.finished.desc()).limit(count)
        with self._read() as connection:
            return list(connection.execute(query).scalars())

    def put_host(self, name: str, score: float, level: str) -> None:
        """Store a machine that plays matches, with its speed (``worker.speed_score``) and the isolation that it has proved."""
        with self._write() as connection:
            connection.execute(_hosts.delete().where(_hosts.c.name == _kept(name)))
            connection.execute(insert(_hosts).values(name=_kept(name), score=score, level=_kept(level)))

    def hosts(self) -> dict[str, tuple[float, str]]:
        """The machines that play, each with its speed and its isolation."""
        with self._read() as connection:
            return {row.name: (row.score, row.level) for row in connection.execute(select(_hosts).order_by(_hosts.c.name))}

    def is_claimed(self) -> bool:
        """True if a process plays the league now."""
        try:
            self.claim().release()
        except UsageError:
            return True
        return False

    def claim(self) -> Claim:
        """Claim the league for this process. UsageError if another process plays it."""
        return Claim(self._engine, self.where)


def result_text(record: MatchRecord) -> str:
    """A result as it is stored, without what differs from run to run on other machines."""
    facts = record._asdict()
    for name in ("key", "wall_seconds", "host"):
        del facts[name]
    return json.dumps(facts, separators=(",", ":"), sort_keys=True)


#: What must be equal when a match is played twice.
_ESSENCE = ("winner", "reason", "scores", "steps", "fault_kinds", "position")


def _essence(result: str) -> dict[str, Any]:
    facts = json.loads(result)
    return {name: facts.get(name) for name in _ESSENCE}


def _record(key: str, result: str, seconds: float | None, host: str | None) -> MatchRecord:
    facts = json.loads(result)
    return MatchRecord(key=key, wall_seconds=seconds or 0.0, host=host or "", **facts)


def _planned(task: MatchTask) -> dict[str, Any]:
    return {
        "key": task.key,
        "duel": task.duel,
        "game_number": task.game_number,
        "seats": json.dumps(dict(task.seats)),
        "settings": json.dumps(dict(task.settings)),
        "seed": task.seed,
        "status": PLANNED,
    }


def _task(row: Any) -> MatchTask:
    return MatchTask(row.key, row.duel, row.game_number, json.loads(row.seats), _settings(row.settings), row.seed)


@lru_cache(maxsize=4096)
def _settings(text: str) -> Mapping[str, Any]:
    """The settings of many matches are the same: they share one value, which nobody changes."""
    found: dict[str, Any] = json.loads(text)
    return found


def _put_fact(connection: Connection, name: str, value: Any) -> None:
    connection.execute(_facts.delete().where(_facts.c.name == name))
    connection.execute(insert(_facts).values(name=name, value=json.dumps(value)))


def _put_teams(connection: Connection, teams: Sequence[Team], position: int) -> None:
    for number, team in enumerate(teams, position):
        connection.execute(insert(_teams).values(**_team_row(team), position=number))


def _team_row(team: Team) -> dict[str, Any]:
    # A folder's name may hold what is no UTF-8, which no database stores as text.
    return {**team._asdict(), "players": json.dumps(dict(team.players)), "home": json.dumps(team.home), "files": json.dumps(team.files)}


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    # The write-ahead log keeps readers and the writer apart; with "normal" a power cut loses the last results, never the order of them.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    if isinstance(error, OperationalError) and "disk is full" in str(cause):
        return "the disk is full"
    return escape(str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__, 200).rstrip(".")


def _kept(text: str) -> str:
    """Text as a database takes it: PostgreSQL stores no NUL, and neither database a lone surrogate."""
    return text if text.isprintable() else escape(text, _LONGEST)


def _shown(path: object) -> str:
    return escape(str(path), 200)
