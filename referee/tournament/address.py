"""The addresses of PostgreSQL databases: checks them, removes passwords for messages, and keeps them in the folder of a league with its id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from referee.errors import UsageError
from referee.support.packages import install_command

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.engine import Engine

#: In the folder of a league whose store is elsewhere: the address of its database, and the league's id there.
FILE = "database.url"
#: In the folder of a league whose store is there: the league's id. It shows whether the file of another league has replaced the store.
ID_FILE = "league.id"
#: Seconds to wait for a connection, unless the address says otherwise.
_CONNECT_SECONDS = 10


class Address(NamedTuple):
    """The database of a league, and the league's id in it."""

    url: str
    id: str


def read(folder: Path) -> Address | None:
    """The address of the database of a folder's league; None if its database is in the folder."""
    path = folder / FILE
    if not path.is_file():
        return None
    url, _, number = path.read_text().strip().partition("\n")
    return Address(url, number)


def write(folder: Path, address: Address) -> None:
    """Keep an address in a folder. Only the owner may read it: it can hold a password."""
    path = folder / FILE
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(f"{address.url}\n{address.id}\n")


def read_id(folder: Path) -> str | None:
    """The id of a folder's league, or None in a folder without it."""
    path = folder / ID_FILE
    return path.read_text(errors="replace").strip() if path.is_file() else None


def write_id(folder: Path, number: str) -> None:
    """Keep a league's id in its folder."""
    (folder / ID_FILE).write_text(f"{number}\n")


def postgres(url: str) -> Engine:
    """Return connections to a database. UsageError if the address is invalid, or if psycopg is missing."""
    if not url.startswith(("postgresql://", "postgres://", "postgresql+psycopg://")):
        raise UsageError(
            f"--database is {without_password(url)}, but must be the address of a PostgreSQL database: postgresql://user@host/name"
        )
    try:
        import psycopg  # noqa: F401 - only to name what is missing

        address = make_url("postgresql+psycopg://" + url.partition("://")[2])
        patience = {} if "connect_timeout" in address.query else {"connect_timeout": _CONNECT_SECONDS}
        return create_engine(address, pool_pre_ping=True, connect_args=patience)
    except ImportError:
        raise UsageError(f"PostgreSQL needs psycopg; install what is missing: {install_command('psycopg[binary]')}") from None
    except (SQLAlchemyError, ValueError):
        # The reason would repeat the address with its password.
        raise UsageError(
            f"--database is {without_password(url)}, which is not an address of a PostgreSQL database: postgresql://user@host/name"
        ) from None


def without_password(url: str) -> str:
    """Return an address of a database with *** in place of all its passwords; the address may be invalid."""
    scheme, slashes, rest = url.partition("://")
    user, at, place = rest.rpartition("@")
    if at and ":" in user:
        rest = f"{user.partition(':')[0]}:***@{place}"
    return re.sub(r"(?i)(pass(?:word|file)?=)[^&]*", r"\1***", f"{scheme}{slashes}{rest}")
