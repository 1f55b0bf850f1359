"""The audit log: the actions of the staff. An entry is stored in one transaction with its action."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from sqlalchemy import select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.tournament.store import Store


class AuditEntry(BaseModel, frozen=True):
    """An action of the staff. ``time`` is in seconds since the epoch."""

    number: int
    time: float
    action: str
    details: dict[str, Any]


class Audit:
    """The log of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows = store.table(AuditEntry, "audit")

    def put(self, action: str, details: Mapping[str, object]) -> None:
        """Add an action of the staff."""
        with self._store.step():
            self._rows.put(AuditEntry(number=self._rows.next_number(), time=time.time(), action=action, details=dict(details)))

    def last(self, limit: int = 200) -> list[AuditEntry]:
        """Return the latest actions of the staff, the latest first."""
        return self._rows.select(select(self._rows.sql).order_by(self._rows.sql.c.number.desc()).limit(limit))
