"""The log of what the staff does. An entry is stored in one transaction with its action."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Column, Float, Integer, MetaData, Table, Text, insert, select

from referee.tournament.database import required

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Row

    from referee.games.game import Json
    from referee.tournament.transactions import Database

meta = MetaData()
_audit = Table(
    "audit",
    meta,
    Column("number", Integer, primary_key=True),
    *required(Float, "time"),
    *required(Text, "action", "details"),
)


class AuditEntry(NamedTuple):
    """An action of the staff. ``time`` is in seconds since the epoch."""

    number: int
    time: float
    action: str
    details: Mapping[str, Json]


class Audit:
    """The log of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, action: str, details: Mapping[str, object]) -> None:
        """Note an action of the staff."""
        with self._database.write() as connection:
            connection.execute(insert(_audit).values(time=time.time(), action=action, details=json.dumps(details)))

    def last(self, limit: int = 200) -> list[AuditEntry]:
        """Return the latest actions of the staff, the latest first."""
        return self._database.all(select(_audit).order_by(_audit.c.number.desc()).limit(limit), _entry)


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(row.number, row.time, row.action, json.loads(row.details))
