"""The tables of a league's store, and connections to its database. Only this module and ``store`` know SQL."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import URL, BigInteger, Column, Float, Index, Integer, MetaData, Table, Text, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool

from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine
    from sqlalchemy.types import TypeEngine

#: The version of the tables. A newer version's database is refused.
VERSION = 1
FILE = "league.sqlite"

#: The status of a match.
PLANNED, DONE, STOPPED = "planned", "done", "stopped"


def required(kind: type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    """Return columns of one kind in which each row has a value."""
    return [Column(name, kind, nullable=False) for name in names]


meta = MetaData()
facts = Table("facts", meta, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))
teams = Table(
    "teams",
    meta,
    Column("name", Text, primary_key=True),
    *required(Integer, "position"),
    *required(Text, "players", "hash", "home", "files"),
    Column("forfeit", Text),
)
duels = Table(
    "duels",
    meta,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *required(Integer, "round"),
    *required(Text, "teams"),
    *required(Integer, "start", "variant", "repeat"),
    Column("note", Text),
)
matches = Table(
    "matches",
    meta,
    Column("key", Text, primary_key=True),
    Column("duel", Integer, nullable=False, index=True),
    *required(Integer, "game_number"),
    *required(Text, "seats", "settings"),
    *required(BigInteger, "seed"),
    *required(Text, "status"),
    Column("result", Text),
    Column("seconds", Float),
    Column("host", Text),
    Column("finished", Float),
    Index("matches_by_status", "status", "duel"),
)
voids = Table(
    "voids",
    meta,
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False, index=True),
    *required(Text, "text", "host"),
    *required(Float, "time"),
)
disagreements = Table(
    "disagreements",
    meta,
    Column("number", Integer, primary_key=True),
    *required(Text, "key", "result", "host"),
)
hosts = Table(
    "hosts", meta, Column("name", Text, primary_key=True), Column("score", Float, nullable=False), Column("level", Text, nullable=False)
)


#: What the tables and indexes of a store look like. A view, a virtual table or a computed column can keep a reader busy for ever.
_PLAIN = re.compile(r"CREATE (TABLE|(UNIQUE )?INDEX) (?!.*\b(AS|SELECT|CHECK)\b)[\w\s(),\"'.-]+", re.IGNORECASE | re.DOTALL)
#: The most operations of SQLite's virtual machine for one statement: a few seconds, and enough to read millions of matches. The tree of a
#: damaged or hostile file can lead in a circle.
_MOST_OPERATIONS = 200_000_000
#: They are counted in so many parts.
_PARTS = 20
#: The most seconds of one reading. Operations don't bound the time: in a hostile file, one operation can count without an end.
MOST_SECONDS = 60.0
#: How often somebody looks for readings that take too long, in seconds.
_LOOK_SECONDS = 0.1
#: More tables and indexes than any version has.
_MOST_ENTRIES = 1_000
#: The longest text in a row, and the longest row, in bytes.
_MOST_BYTES = 64 << 20
#: Seconds that SQLite waits for another process.
_PATIENCE = 30.0
#: SQLite needs about so much room for one transaction, in bytes.
_LEAST_ROOM = 1 << 16


def sqlite_file(path: Path, *, create: bool) -> Engine:
    """Return connections to a SQLite file. They only read if the folder isn't writable. UsageError if they can't read either."""
    if create or _is_writable(path):
        engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": _PATIENCE})
        event.listen(engine, "connect", lambda connection, _: _distrust(connection, path))
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "checkout", _bound)
        return engine
    log, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    options = "mode=ro"
    if not log.exists() or not log.stat().st_size:
        # Nobody writes it, and all of it is in the file.
        options += "&immutable=1"
    elif not index.exists():
        raise UsageError(
            f"{path} was not closed by its last process, and its folder can't be written. Copy the league's folder to a "
            "place where you may write."
        )
    address = f"file:{quote(str(path.absolute()))}?{options}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address, timeout=_PATIENCE, uri=True, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)
    event.listen(engine, "connect", lambda connection, _: _distrust(connection, path))
    event.listen(engine, "checkout", _bound)
    return engine


def _is_writable(path: Path) -> bool:
    return os.access(path.parent, os.W_OK | os.X_OK) and os.access(path, os.W_OK)


def _distrust(connection: Any, path: Path) -> None:
    """Refuse a store with anything but plain tables and indexes: it may be a stranger's."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.set_progress_handler(lambda: 1, _MOST_OPERATIONS)
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    with deadline(connection):
        entries = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(_MOST_ENTRIES)
    for kind, name, sql in entries:
        if kind not in ("table", "index") or (sql is not None and not _PLAIN.fullmatch(sql)):
            raise UsageError(
                f"The store {path} holds the {kind} '{name}', which no referee made, so it was not read. Restore it from a copy."
            )


def _bound(connection: sqlite3.Connection, *_: object) -> None:
    """Bound the operations of one use of a connection. SQLite itself counts those of a statement over all its uses, however long ago."""
    left = _PARTS

    def is_over() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(is_over, max(1, _MOST_OPERATIONS // _PARTS))


class _Deadlines:
    """Interrupts readings that take too long, from one thread: to start one for each reading would cost more than most readings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readings: dict[object, tuple[float, sqlite3.Connection]] = {}
        self._is_watched = False

    @contextlib.contextmanager
    def reading(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Interrupt a connection if this takes too long."""
        key = object()
        with self._lock:
            self._readings[key] = (monotonic() + MOST_SECONDS, connection)
            if not self._is_watched:
                self._is_watched = True
                threading.Thread(target=self._watch, daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                del self._readings[key]

    def _watch(self) -> None:
        """Look at the readings until there is none."""
        while True:
            sleep(_LOOK_SECONDS)
            with self._lock:
                for until, connection in self._readings.values():
                    if monotonic() > until:
                        with contextlib.suppress(sqlite3.Error):
                            connection.interrupt()
                self._is_watched = bool(self._readings)
                if not self._is_watched:
                    return


_deadlines = _Deadlines()


@contextlib.contextmanager
def deadline(connection: Any) -> Iterator[None]:
    """Interrupt SQLite if it reads for too long. ``connection`` is its own or SQLAlchemy's; other databases have their own limits."""
    own = connection if isinstance(connection, sqlite3.Connection) else connection.connection.dbapi_connection
    if not isinstance(own, sqlite3.Connection):
        yield
        return
    with _deadlines.reading(own):
        yield


def _set_up(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    # The write-ahead log keeps readers and the writer apart; with "normal" a power cut loses the last results, never the order of them.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def reason(error: Exception, where: str) -> str:
    """Return why a database refuses, as the end of a sentence without its full stop. ``where`` is its file or its address."""
    cause = getattr(error, "orig", None) or error
    text = str(cause).strip()
    if text == "interrupted":
        return "reading it takes too long, so it is damaged, or no referee made it; restore it from a copy"
    if is_full(error, where):
        return "the disk is full; make room on it"
    return (text.splitlines()[0] if text else type(cause).__name__).rstrip(".")


def is_full(error: Exception, where: str) -> bool:
    """True if a database refuses because its disk is full. ``where`` is its file or its address."""
    text = str(getattr(error, "orig", error))
    # PostgreSQL has the words of its server's system.
    is_told = "disk is full" in text or "No space left on device" in text
    return isinstance(error, OperationalError) and (is_told or ("disk I/O error" in text and _has_no_room(where)))


def _has_no_room(file: str) -> bool:
    try:
        return shutil.disk_usage(Path(file).parent).free < _LEAST_ROOM
    except OSError:
        return False
