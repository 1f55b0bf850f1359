"""The store of many matches: tasks, all attempts at them, and the tables of a plan's own, in SQLite or PostgreSQL.

Everything is written in transactions (``step``): a process that is killed at any moment leaves all of one or nothing. A task that was stored
and has no record is played by the next process; a record that was stored and not delivered is delivered by the next process.
"""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
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
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import StaticPool

from referee.errors import UsageError
from referee.handins.values import Entry
from referee.tournament.database import required
from referee.tournament.plan import Ended
from referee.tournament.rows import ModelTable
from referee.tournament.transactions import Database, StoreError, again, quoted, storable
from referee.tournament.values import Record, Task
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import Select
    from sqlalchemy.engine import Connection, Row
    from typing_extensions import Self

    from referee.games.game import Json
    from referee.tournament.claim import Claim
    from referee.tournament.rows import M

#: The version of the tables. A store of another one is refused.
VERSION = 3
#: The number of tasks in one look-up.
_AT_ONCE = 500

_meta = MetaData()
_about = Table("about", _meta, Column("name", Text, primary_key=True), *required(Text, "value"))
_tasks = Table(
    "tasks",
    _meta,
    Column("key", Text, primary_key=True),
    *required(Text, "seats", "settings", "blamed"),
    *required(BigInteger, "seed"),
)
#: All attempts. ``void`` says why one counts for nobody, "" if it is a result.
_records = Table(
    "records",
    _meta,
    Column("number", Integer, primary_key=True),
    *required(Text, "key", "void", "result", "replay", "host"),
    *required(Integer, "counts"),
    *required(Float, "seconds", "ended"),
    Index("records_by_key", "key"),
)
#: One record at most counts for a task.
Index("one_counts", _records.c.key, unique=True, sqlite_where=_records.c.counts == 1, postgresql_where=_records.c.counts == 1)
Index("records_in_order", _records.c.counts, _records.c.number)

#: A match that has a result, and whose programs could be started.
_IS_PLAYED = (_records.c.counts == 1, _records.c.void == "", _records.c.replay != "")
#: The values of a record with a column of their own.
_COLUMNS = ("key", "void", "replay", "host", "wall_seconds")
#: The values that must be equal when a match is played twice.
_ESSENCE = ("winner", "reason", "scores", "steps", "fault_kinds", "position")


class Played(NamedTuple):
    """A match that was played to an end, at the time ``ended``, in seconds since the epoch."""

    task: Task
    record: Record
    ended: float


class Tally(NamedTuple):
    """How many matches were played to an end, and how many attempts were void, up to the record with the number ``last``."""

    played: int
    voids: int
    last: int


class Counts(NamedTuple):
    """How many tasks there are, how many have a record that counts, and how many attempts were void."""

    tasks: int
    done: int
    voids: int


class Store:
    """An open store. ``close`` it, or use it as a context manager. Errors of the database are raised as StoreError with a sentence."""

    def __init__(self, database: Database) -> None:
        #: The connections to the database, for those who read tables of their own.
        self.database = database

    @classmethod
    def open(cls, kind: str, folder: Path, url: str | None = None, *, create: bool = False) -> Self:
        """Open the store of a folder: its SQLite file, named after the kind, or the PostgreSQL database of a URL. ``create`` makes the tables.

        ``kind`` is the kind of plan, such as "league". Raises UsageError where there is no store or that of another kind, where it is of
        an older or newer version, or where its file can't be used.
        """
        path = folder / file_name(kind)
        if url is None and not create and not path.is_file():
            raise UsageError(f"{quoted(folder)} is not the folder of {_named(kind)}: it has no {path.name}.")
        store = cls(Database.open(path, url, create=create))
        try:
            store._check(kind, folder, create=create)
        except StoreError as error:
            store.close()
            raise UsageError(str(error).replace("can't be read", "can't be opened", 1)) from None
        except UsageError:
            store.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """Return a store that ends with its process, for one thread."""
        store = cls(Database(create_engine("sqlite://", poolclass=StaticPool), ":memory:"))
        store._check("plan", Path(), create=True)
        return store

    def _check(self, kind: str, folder: Path, *, create: bool) -> None:
        with self.database.read() as connection:
            tables = set(inspect(connection).get_table_names())
        if "facts" in tables and "about" not in tables:
            raise UsageError(
                f"{quoted(folder)} was written by an earlier version of the referee, and this is version {__version__}: go on with the version "
                "that wrote it, or begin anew in another folder."
            )
        if "about" not in tables and (tables or not create):
            raise UsageError(f"{quoted(self.where)} is the database of something else: it has no tables of {_named(kind)}.")
        if "about" not in tables:
            with self.database.write() as connection:
                _meta.create_all(connection)
                for name, value in (("kind", kind), ("version", str(VERSION)), ("referee", __version__)):
                    connection.execute(insert(_about).values(name=name, value=value))
        about = dict(self.database.all(select(_about.c.name, _about.c.value), tuple))
        version = str(about.get("version"))
        if version.isdecimal() and int(version) > VERSION:
            raise UsageError(
                f"{quoted(folder)} was written by a newer version of the referee ({quoted(about.get('referee'))}), and this is version "
                f"{__version__}: update the referee."
            )
        if version != str(VERSION):
            raise UsageError(
                f"{quoted(folder)} was written by another version of the referee ({quoted(about.get('referee'))}), and this is version "
                f"{__version__}: go on with the version that wrote it, or begin anew in another folder."
            )
        if about.get("kind") != kind:
            raise UsageError(f"{quoted(self.where)} is the store of {_named(str(about.get('kind')))}, not of {_named(kind)}.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    @property
    def where(self) -> str:
        """The file, or the address without its password."""
        return self.database.where

    def claim(self) -> Claim:
        """Claim the store for this process. UsageError if another process plays it."""
        return self.database.claim()

    def step(self) -> AbstractContextManager[Connection]:
        """Begin a transaction, or take part in that of this thread: all of it is stored or nothing."""
        return self.database.write()

    def table(self, model: type[M], name: str, indexes: Sequence[Sequence[str]] = (), keys: int = 1) -> ModelTable[M]:
        """Return the table with the rows of a model, made if it is missing. It is written in the same transactions as tasks and records."""
        return ModelTable(self.database, model, name, indexes, keys)

    def put(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """Store tasks; those that are there already stay as they are. Return the records that count, by key."""
        dialect = sqlite if self.database.is_sqlite else postgresql
        with self.step() as connection:
            if tasks:
                connection.execute(dialect.insert(_tasks).on_conflict_do_nothing(), [_task_row(task) for task in tasks])
            return self.lookup(tasks)

    def lookup(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """Return the records that count for tasks, by key."""
        found: dict[str, Record] = {}
        for first in range(0, len(tasks), _AT_ONCE):
            keys = [task.key for task in tasks[first : first + _AT_ONCE]]
            query = select(_records).where(_records.c.counts == 1, _records.c.key.in_(keys))
            found.update((record.key, record) for record in self.database.all(query, _record_of))
        return found

    def add(self, record: Record, *, counts: bool) -> None:
        """Store an attempt. It ``counts`` as the record of its task unless there is one already."""
        with self.step() as connection:
            first = select(_records.c.number).where(_records.c.key == record.key, _records.c.counts == 1)
            is_first = counts and connection.execute(first).first() is None
            connection.execute(insert(_records).values(**_record_row(record), counts=int(is_first), ended=time.time()))

    def add_all(self, attempts: Sequence[tuple[Record, bool]]) -> None:
        """Store attempts together, each with whether it counts. Where a restart of the database's server cuts that off, they are stored again."""

        def write() -> None:
            with self.step():
                for record, counts in attempts:
                    self.add(record, counts=counts)

        again(write)

    def forget(self, keys: Iterable[str]) -> None:
        """Make the records of tasks not count any more, so that the tasks are played again. The records are kept."""
        with self.step() as connection:
            for key in keys:
                connection.execute(update(_records).where(_records.c.key == key).values(counts=0))

    def forget_unplayed(self) -> None:
        """Make all records of incomplete matches not count any more: abandoned ones, and those of programs that didn't start."""
        with self.step() as connection:
            connection.execute(update(_records).where(_records.c.counts == 1, _records.c.replay == "").values(counts=0))

    def done(self, after: int = 0) -> Iterator[Ended]:
        """Yield the tasks that have a record that counts, in the order in which they ended, without the first ``after`` ones."""
        query = select(_tasks, _records).join(_records, _records.c.key == _tasks.c.key).where(_records.c.counts == 1)
        query = query.order_by(_records.c.number).offset(after)
        return itertools.chain.from_iterable(self.database.batches(query, lambda row: Ended(_task_of(row), _record_of(row))))

    def others(self) -> list[Record]:
        """Return the attempts that don't count: void ones, second results and forgotten ones."""
        return self.database.all(select(_records).where(_records.c.counts == 0).order_by(_records.c.number), _record_of)

    def disagreements(self) -> list[Record]:
        """Return the second results of tasks that differ from those that count."""
        counting = _records.alias()
        query: Select[Any] = select(_records, counting.c.result.label("first")).join(counting, counting.c.key == _records.c.key)
        query = query.where(_records.c.counts == 0, _records.c.void == "", counting.c.counts == 1, counting.c.void == "")
        rows = self.database.all(query.order_by(_records.c.number), lambda row: (_record_of(row), row.first))
        return [record for record, first in rows if _essence(json.loads(first)) != _essence(record._asdict())]

    def played(self, keys: Sequence[str]) -> list[Played]:
        """Return the matches with these keys that were played to an end."""
        query = select(_tasks, _records).join(_records, _records.c.key == _tasks.c.key).where(*_IS_PLAYED, _records.c.key.in_(keys))
        return self.database.all(query, lambda row: Played(_task_of(row), _record_of(row), row.ended)) if keys else []

    def tally(self, before: Tally | None = None) -> Tally:
        """Return the numbers of matches that were played and of void attempts: all, or those of ``before`` and the later ones."""
        before = before or Tally(0, 0, 0)
        query = select(func.count().filter(*_IS_PLAYED), func.count().filter(_records.c.void != ""), func.max(_records.c.number)).where(
            _records.c.number > before.last
        )
        with self.database.read() as connection:
            played, voids, last = connection.execute(query).one()
        return Tally(before.played + played, before.voids + voids, last or before.last)

    def counts(self) -> Counts:
        """Return the numbers of tasks, records and voids."""
        done = select(func.count()).select_from(_records).where(_records.c.counts == 1)
        voids = select(func.count()).select_from(_records).where(_records.c.void != "")
        with self.database.read() as connection:
            return Counts(*(connection.execute(query).scalar_one() for query in (select(func.count()).select_from(_tasks), done, voids)))

    def count_tasks(self) -> int:
        """Return the number of tasks."""
        with self.database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(_tasks)).scalar_one())

    def last_times(self, count: int) -> list[float]:
        """Return when the last matches ended, in seconds since the epoch, the last one first."""
        query = select(_records.c.ended).where(_records.c.counts == 1).order_by(_records.c.number.desc()).limit(count)
        return self.database.all(query, lambda row: float(row.ended))


def file_name(kind: str) -> str:
    """Return the name of the file in the folder of a store."""
    return f"{kind}.sqlite"


def _named(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _essence(facts: Mapping[str, Json]) -> list[Json]:
    return [facts.get(name) for name in _ESSENCE]


def _task_row(task: Task) -> dict[str, Json]:
    seats = {seat: [entry.name, entry.hash] for seat, entry in task.seats.items()}
    return {
        "key": task.key,
        "seats": json.dumps(seats),
        "settings": json.dumps(dict(task.settings)),
        "blamed": json.dumps(task.blamed),
        "seed": task.seed,
    }


def _task_of(row: Row[Any]) -> Task:
    seats = {seat: Entry(name, {}, file_hash) for seat, (name, file_hash) in json.loads(row.seats).items()}
    return Task(row.key, seats, json.loads(row.settings), row.seed, tuple(json.loads(row.blamed)))


def _record_row(record: Record) -> dict[str, Json]:
    facts = record._asdict()
    columns = {name: facts.pop(name) for name in _COLUMNS}
    result = json.dumps(facts, separators=(",", ":"), sort_keys=True)
    seconds = columns.pop("wall_seconds")
    return {**columns, "void": storable(record.void), "host": storable(record.host), "seconds": seconds, "result": result}


def _record_of(row: Row[Any]) -> Record:
    facts = json.loads(row.result)
    return Record(
        row.key, **{**facts, "hit": tuple(facts["hit"])}, void=row.void, replay=row.replay, host=row.host, wall_seconds=row.seconds
    )
