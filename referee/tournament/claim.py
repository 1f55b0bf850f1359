"""Ensures that only one process at a time plays a league, and that a SQLite store is on a local file system."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from referee.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine
    from typing_extensions import Self

#: File systems over a network: SQLite's write-ahead log needs memory that all users of the file share.
_NETWORK = ("nfs", "cifs", "smb", "afs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "ncpfs")

#: The suffix that makes the name of the claim's file from that of the store.
_LOCK = ".lock"
#: The number of tries for a lock, and the seconds between two.
_TRIES, _PAUSE = 5, 0.05


class Claim:
    """A claim on a league, which ends with the process."""

    def __init__(self, engine: Engine, where: str) -> None:
        self._fd = -1
        self._connection: Connection | None = None
        if engine.dialect.name == "sqlite":
            try:
                self._fd = os.open(where + _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise UsageError(
                    f"The league {where} can't be played here: its folder can't be written ({error.strerror}). Copy the "
                    "folder to a place where you may write."
                ) from None
            try:
                _lock(self._fd)
            except OSError:
                os.close(self._fd)
                raise UsageError(_claimed_sentence(where)) from None
            return
        self._lock_database(engine, where)

    def _lock_database(self, engine: Engine, where: str) -> None:
        # The lock belongs to the connection, which must not go back to the pool with it, nor keep a transaction open meanwhile.
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            connection.detach()
            is_free = connection.execute(text("select pg_try_advisory_lock(hashtext(current_schema() || '.league'))")).scalar()
        except DBAPIError as error:
            connection.close()
            cause = str(error.orig).strip().partition("\n")[0].rstrip(".")
            raise UsageError(f"The league {where} can't be claimed: {cause}.") from None
        if not is_free:
            connection.close()
            raise UsageError(_claimed_sentence(where))
        self._connection = connection

    def renew(self, engine: Engine, where: str) -> None:
        """Claim the league again if the database's server was restarted, which ends all claims. UsageError if another process was faster."""
        if self._connection is not None:
            try:
                self._connection.execute(text("select 1"))
            except DBAPIError:
                self.release()
                self._lock_database(engine, where)

    @property
    def is_held(self) -> bool:
        """False once it was released."""
        return self._fd >= 0 or self._connection is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the claim."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._connection is not None:
            # The server notices the end of a connection only a moment later.
            with contextlib.suppress(SQLAlchemyError):
                self._connection.execute(text("select pg_advisory_unlock_all()"))
            self._connection.close()
            self._connection = None


def is_claimed(engine: Engine, where: str) -> bool:
    """True if a process has a claim on a league. Writes nothing."""
    if engine.dialect.name == "sqlite":
        try:
            fd = os.open(where + _LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            # There is no claim yet, or this folder allows none.
            return False
        try:
            _lock(fd)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False
    try:
        Claim(engine, where).release()
    except UsageError:
        return True
    return False


def _lock(fd: int) -> None:
    """Lock a file. OSError if another process holds the lock for longer than a check takes."""
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # noqa: PERF203 - a handful of tries
            if not left:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _claimed_sentence(where: str) -> str:
    return f"Another process plays the league {where}: wait for its end, or stop it."


def network_file_system(folder: Path) -> str | None:
    """The kind of the network file system that holds a folder; None if it is a local one."""
    import psutil

    path = str(folder.resolve())
    best = ("", "")
    with contextlib.suppress(OSError):
        for part in psutil.disk_partitions(all=True):
            point = part.mountpoint.rstrip("/")
            if (path == point or path.startswith(point + "/")) and len(point) >= len(best[0]):
                best = (point, part.fstype)
    return best[1] if best[1].lower().startswith(_NETWORK) else None
