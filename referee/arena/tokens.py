"""The tokens of teams and of the staff. The store has only their hashes."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel
from sqlalchemy import select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.tournament.store import Store


class Token(BaseModel, frozen=True):
    """A token by its hash. It is the staff's if ``team`` is None. It was ``made`` at a time in seconds since the epoch."""

    hash: str
    team: str | None
    made: float


class Holder(NamedTuple):
    """Who holds a token: a team, or the staff if ``team`` is None."""

    team: str | None

    @property
    def is_staff(self) -> bool:
        """True for the staff."""
        return self.team is None


class Tokens:
    """The tokens of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows = store.table(Token, "tokens")

    def put(self, tokens: Iterable[tuple[str, str | None]]) -> None:
        """Store the hashes of new tokens, each with its team. A token of the staff replaces the staff's earlier one."""
        now = time.time()
        with self._store.step():
            for token, team in tokens:
                if team is None:
                    self._rows.remove(team=None)
                self._rows.put(Token(hash=_hashed(token), team=team, made=now))

    def revoke(self, team: str) -> int:
        """Forget all tokens of a team; return how many there were."""
        with self._store.step():
            count = self._rows.count(team=team)
            self._rows.remove(team=team)
        return count

    def holder(self, token: str) -> Holder | None:
        """Return who holds a token; None for one that is not valid."""
        row = self._rows.get(_hashed(token))
        return None if row is None else Holder(row.team)

    def teams(self) -> list[str]:
        """Return the teams that have a token."""
        column = self._rows.sql.c.team
        query = select(column).where(column.is_not(None)).distinct().order_by(column)
        return self._store.database.all(query, lambda row: str(row.team))


def _hashed(token: str) -> str:
    """Return the hash of a token. A token has 128 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
