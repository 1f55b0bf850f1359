"""Reading and writing a database of many matches, in SQLite or PostgreSQL: transactions, and errors as sentences.

All that is written within one ``Database.write`` is one transaction, also by functions that call ``write`` themselves: a killed process leaves
all of it or nothing. Only one process writes at a time, from the beginning of the transaction on, so what is read in it stays true to its end.
"""

from __future__ import annotations

import contextlib
import threading
import time
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from referee.errors import RefereeError, UsageError
from referee.support.escape import escape
from referee.tournament.address import postgres, without_password
from referee.tournament.claim import Claim, is_claimed, network_file_system
from referee.tournament.database import is_full, reason, sqlite_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Select
    from sqlalchemy.engine import Connection, Engine, Row
    from typing_extensions import Self

#: What reading a row with wrong contents raises.
WRONG = (ValueError, TypeError, KeyError, AttributeError)
#: How many rows are read at once.
_ROWS = 1000
#: How long a process with a claim waits for a database that doesn't answer, and how long between two tries, in seconds.
_PATIENCE, _PAUSE = 600.0, 0.2
#: The most characters that are kept of a sentence with characters that must be escaped.
_LONGEST = 2000

_Read = TypeVar("_Read")


class StoreError(RefereeError):
    """The store can't be read or written."""

    exit_code = 4


class DiskFull(StoreError):
    """The disk has no room for what is to be written."""


class ConnectionLost(StoreError):
    """The database ended the connection, as a restart of its server does. Whether the last write was done is not known."""


class Database:
    """An open database. ``close`` it. Its errors are raised as StoreError with a sentence.

    Several threads may use it.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        #: The file, or the address without its password.
        self.where = where
        self._claim: Claim | None = None
        #: The transaction of each thread, as the attribute ``connection``, and what is called after it, as ``calls``.
        self._open = threading.local()

    @classmethod
    def open(cls, path: Path, url: str | None = None, *, create: bool = False) -> Self:
        """Open a SQLite file, or the PostgreSQL database of a URL. UsageError if that can't be used; a file must exist unless it may ``create`` it."""
        if url is not None:
            return cls(postgres(url), without_password(url))
        if (kind := network_file_system(path.parent)) is not None:
            raise UsageError(
                f"{quoted(path.parent)} is on a network file system ({kind}), where SQLite loses data. Name a local folder with --out, "
                "or a PostgreSQL database with --database."
            )
        return cls(sqlite_file(path, create=create), str(path))

    @property
    def is_sqlite(self) -> bool:
        """True for a SQLite file."""
        return self._engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def claim(self, *, waits: bool = False) -> Claim:
        """Claim the store for this process, which then ``waits`` for a server that is restarted. UsageError if another process plays it."""
        claim = Claim(self._engine, self.where)
        self._claim = claim if waits else None
        return claim

    def keep_claim(self) -> None:
        """Claim the store again after a restart of the database's server. UsageError if another process was faster."""
        if self._claim is not None:
            self._connected().close()
            self._claim.renew(self._engine, self.where)

    def is_claimed(self) -> bool:
        """True if a process plays the store now."""
        return is_claimed(self._engine, self.where)

    def _connected(self) -> Connection:
        """Return a connection for one use."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._engine.connect()
            except OperationalError:
                if self._claim is None or not self._claim.is_held or self.is_sqlite or time.monotonic() > until:
                    raise
            sleep(_PAUSE)

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """Begin a transaction, or take part in the one that this thread has begun. Another process that writes waits for its end."""
        outer: Connection | None = getattr(self._open, "connection", None)
        if outer is not None:
            yield outer
            return
        with self._errors("written"), self._connected() as connection, connection.begin():
            # Otherwise a transaction that reads first would fail if another process wrote in between.
            begin = "begin immediate" if self.is_sqlite else "select pg_advisory_xact_lock(hashtext(current_schema() || '.write'))"
            connection.execute(text(begin))
            calls: list[Callable[[], None]] = []
            self._open.connection, self._open.calls = connection, calls
            try:
                yield connection
            finally:
                self._open.connection = None
        for call in calls:
            call()

    def after_write(self, call: Callable[[], None]) -> None:
        """Call a function after the transaction of this thread is stored; at once without a transaction."""
        if getattr(self._open, "connection", None) is None:
            call()
        else:
            self._open.calls.append(call)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; within a transaction of this thread, that of the transaction. A damaged row raises StoreError."""
        outer: Connection | None = getattr(self._open, "connection", None)
        if outer is not None:
            yield outer
            return
        with self._errors("read"), self._connected() as connection, self._rows():
            # PostgreSQL needs no transaction for a single statement: beginning and ending one takes two more requests.
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextlib.contextmanager
    def _errors(self, done: str) -> Iterator[None]:
        """Raise errors as StoreError; ``done`` is a participle for the message: "can't be read"."""
        try:
            yield
        except DBAPIError as error:
            kind = ConnectionLost if error.connection_invalidated else DiskFull if is_full(error, self.where) else StoreError
            raise kind(f"The store {quoted(self.where)} can't be {done}: {reason(error, self.where)}.") from None

    @contextlib.contextmanager
    def _rows(self) -> Iterator[None]:
        """Raise errors in the contents of rows as StoreError."""
        try:
            yield
        except WRONG as error:
            raise StoreError(
                f"The store {quoted(self.where)} is damaged: one of its rows can't be read ({quoted(error)}). Restore the file from a copy."
            ) from None

    def all(self, query: Select[Any], read: Callable[[Row[Any]], _Read]) -> list[_Read]:
        """Return what ``read`` makes of the rows that a query finds. Raises StoreError also where it finds a row damaged."""
        with self.read() as connection, self._errors("read"), self._rows():
            return [read(row) for row in connection.execute(query).all()]

    def batches(self, query: Select[Any], read: Callable[[Row[Any]], _Read], most: int = _ROWS) -> Iterator[list[_Read]]:
        """Yield what ``read`` makes of the rows that a query finds, ``most`` at once: a store may hold more than memory does.

        Raises StoreError also where ``read`` finds a row damaged.
        """
        with (
            self._errors("read"),
            self._connected() as connection,
            connection.execution_options(stream_results=True, max_row_buffer=most).execute(query) as result,
        ):
            while rows := result.fetchmany(most):
                with self._rows():
                    values = [read(row) for row in rows]
                yield values


def again(call: Callable[[], _Read]) -> _Read:
    """Return what a call returns that may be made twice: it is repeated if the database's server was restarted meanwhile."""
    try:
        return call()
    except ConnectionLost:
        return call()


def storable(value: str) -> str:
    """Return a text as a database takes it: PostgreSQL stores no NUL, and neither database a lone surrogate."""
    return value if value.isprintable() else escape(value, _LONGEST)


def quoted(value: object) -> str:
    """Return a path or a text for a sentence, escaped and cut."""
    return escape(str(value), 200)
