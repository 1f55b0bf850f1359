"""What an arena plays at this moment. The process that plays stores it every half second, and pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from referee.tournament.database import required

if TYPE_CHECKING:
    from referee.tournament.transactions import Database

meta = MetaData()
_playing = Table("playing", meta, Column("row", Integer, primary_key=True, autoincrement=False), *required(Text, "now"))


class RunningMatch(BaseModel):
    """A match that is played: its key, the version in each seat, and since when, in seconds since the epoch."""

    model_config = ConfigDict(frozen=True)

    key: str
    seats: dict[str, str]
    since: float


class PlayingNow(BaseModel):
    """What is played at a ``time``, in seconds since the epoch, on which host, and how many matches it plays at once."""

    model_config = ConfigDict(frozen=True)

    time: float
    host: str
    slots: int
    matches: list[RunningMatch]


class PlayingRow:
    """The row of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, now: PlayingNow) -> None:
        """Store what is played now."""
        with self._database.write() as connection:
            connection.execute(_playing.delete())
            connection.execute(insert(_playing).values(row=1, now=now.model_dump_json()))

    def read(self) -> PlayingNow | None:
        """Return what was stored last; None before the first match."""
        rows = self._database.all(select(_playing.c.now), lambda row: PlayingNow.model_validate_json(row.now))
        return rows[0] if rows else None
