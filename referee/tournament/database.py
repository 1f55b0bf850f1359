"""Connections to the database of many matches, and the reasons for its errors."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import URL, Column, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool

from referee.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine
    from sqlalchemy.types import TypeEngine

#: The longest text in a row, and the longest row, in bytes.
_MOST_BYTES = 64 << 20
#: Seconds that SQLite waits for another process.
_PATIENCE = 30.0
#: SQLite needs about so much room for one transaction, in bytes.
_LEAST_ROOM = 1 << 16


def required(kind: type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    """Return columns of one kind in which each row has a value."""
    return [Column(name, kind, nullable=False) for name in names]


def sqlite_file(path: Path, *, create: bool) -> Engine:
    """Return connections to a SQLite file. They only read if the folder isn't writable. UsageError if they can't read either."""
    if create:
        # It holds the secret of a league. An error here recurs below, in the words of the database.
        with contextlib.suppress(OSError):
            path.touch(0o600)
    if create or _is_writable(path):
        engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": _PATIENCE})
        event.listen(engine, "connect", _distrust)
        event.listen(engine, "connect", _set_up)
        return engine
    log, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    options = "mode=ro"
    if not log.exists() or not log.stat().st_size:
        # Nobody writes to it, and all data is in the file.
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
    event.listen(engine, "connect", _distrust)
    return engine


def _is_writable(path: Path) -> bool:
    return os.access(path.parent, os.W_OK | os.X_OK) and os.access(path, os.W_OK)


def _distrust(connection: sqlite3.Connection, _: object) -> None:
    """Let the store's schema call no function with side effects, and bound its rows (from Python 3.11 on): the store may be a
    stranger's.
    """
    connection.execute("PRAGMA trusted_schema=OFF")
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)


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
    if is_full(error, where):
        return "the disk is full; make room on it"
    return (text.splitlines()[0] if text else type(cause).__name__).rstrip(".")


def is_full(error: Exception, where: str) -> bool:
    """True if a database refuses because its disk is full. ``where`` is its file or its address."""
    text = str(getattr(error, "orig", error))
    # PostgreSQL has the words of its server's system.
    says_full = "disk is full" in text or "No space left on device" in text
    return isinstance(error, OperationalError) and (says_full or ("disk I/O error" in text and _has_no_room(where)))


def _has_no_room(file: str) -> bool:
    try:
        return shutil.disk_usage(Path(file).parent).free < _LEAST_ROOM
    except OSError:
        return False
