"""What holds for a whole arena: one row, which says how it began, what the staff has decided, and whether a version has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, JsonValue
from sqlalchemy import JSON, Boolean, Column, Integer, MetaData, Table, Text, insert, select, update

from referee.tournament.database import required

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

    from referee.tournament.transactions import Database

#: The version of the tables of an arena: the major version of the referee that made them. An arena of another one is refused.
TABLES_VERSION = 2

meta = MetaData()
_season = Table(
    "season",
    meta,
    Column("row", Integer, primary_key=True, autoincrement=False),
    *required(Text, "referee", "id"),
    Column("seed", JSON(none_as_null=True)),
    Column("terms", JSON(none_as_null=True)),
    *required(Boolean, "is_frozen"),
    *required(Text, "address", "paused"),
    *required(Integer, "tables_version", "changes"),
)


class SeasonState(BaseModel):
    """The row.

    ``id`` is that in the file with a database's address, and ``seed`` that of an arena whose file has none. ``terms`` are those of the matches
    so far, None before the first one. ``address`` is that of the server, as teams see it, and "" before anybody has named one. ``paused`` says
    why nothing is played now, and is "" while matches are played. ``changes`` counts the changes of versions.
    """

    model_config = ConfigDict(frozen=True)

    referee: str
    id: str
    seed: int | str | None = None
    terms: dict[str, JsonValue] | None = None
    is_frozen: bool = False
    address: str = ""
    paused: str = ""
    tables_version: int = TABLES_VERSION
    changes: int = 0


class SeasonRow:
    """The row of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> SeasonState | None:
        """Return the row; None if the arena was never begun."""
        rows = self._database.all(select(_season), _state)
        return rows[0] if rows else None

    @property
    def now(self) -> SeasonState:
        """The row of an arena that was begun. ValueError if there is none."""
        state = self.read()
        if state is None:
            raise ValueError("the arena was never begun")
        return state

    def begin(self, state: SeasonState) -> None:
        """Store the row of a new arena."""
        with self._database.write() as connection:
            connection.execute(insert(_season).values(row=1, **state.model_dump()))

    def change(self, **values: JsonValue) -> None:
        """Store other values of some fields."""
        with self._database.write() as connection:
            connection.execute(update(_season).values(**values))

    def changes(self) -> int:
        """Return how often versions have changed: one was added, refused or activated, or a team disqualified."""
        return self._database.all(select(_season.c.changes), lambda row: int(row.changes))[0]


def note_change(connection: Connection) -> None:
    """Count a change of versions, in the transaction that makes it."""
    connection.execute(update(_season).values(changes=_season.c.changes + 1))


def _state(row: Row[Any]) -> SeasonState:
    return SeasonState.model_validate(row._asdict())
