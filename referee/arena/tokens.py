"""The tokens of teams and of the staff. The store has hashes of them alone."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Column, Float, MetaData, Table, Text, insert, select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.tournament.transactions import Database

meta = MetaData()
_tokens = Table(
    "tokens",
    meta,
    Column("hash", Text, primary_key=True),
    # NULL: the staff's.
    Column("team", Text),
    Column("made", Float, nullable=False),
)


class Holder(NamedTuple):
    """Who holds a token: a team, or the staff if ``team`` is None."""

    team: str | None

    @property
    def is_staff(self) -> bool:
        """True for the staff."""
        return self.team is None


class Tokens:
    """The tokens of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, tokens: Iterable[tuple[str, str | None]]) -> None:
        """Store the hashes of new tokens, each with its team. A token of the staff replaces the staff's earlier one."""
        now = time.time()
        with self._database.write() as connection:
            for token, team in tokens:
                if team is None:
                    connection.execute(_tokens.delete().where(_tokens.c.team.is_(None)))
                connection.execute(insert(_tokens).values(hash=_hashed(token), team=team, made=now))

    def revoke(self, team: str) -> int:
        """Forget all tokens of a team; return how many there were."""
        with self._database.write() as connection:
            return int(connection.execute(_tokens.delete().where(_tokens.c.team == team)).rowcount)

    def holder(self, token: str) -> Holder | None:
        """Return who holds a token; None for one that is not valid."""
        holders = self._database.all(select(_tokens.c.team).where(_tokens.c.hash == _hashed(token)), lambda row: Holder(row.team))
        return holders[0] if holders else None

    def teams(self) -> list[str]:
        """Return the teams that have a token."""
        query = select(_tokens.c.team).where(_tokens.c.team.is_not(None)).distinct().order_by(_tokens.c.team)
        return self._database.all(query, lambda row: str(row.team))


def _hashed(token: str) -> str:
    """Return what is stored of a token. It has 128 random bits, so a plain hash can't be searched."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
