"""Rows of a plan's own tables: flat pydantic models."""

from __future__ import annotations

import json
import types
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from sqlalchemy import BigInteger, Boolean, Column, Float, Index, MetaData, Table, Text, func, inspect, select
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.engine import Row
    from sqlalchemy.types import TypeEngine

    from referee.games.game import Json
    from referee.tournament.transactions import Database

M = TypeVar("M", bound=BaseModel)

_KINDS: dict[object, type[TypeEngine[Any]]] = {bool: Boolean, int: BigInteger, float: Float, str: Text}


class ModelTable(Generic[M]):
    """The rows of a model in a table of their own; the first field is the key, or the first ``keys``. Rows come in the order of their keys.

    Fields of the types bool, int, float and str, and None beside them, are columns of these types; all others are columns of JSON text.
    ``indexes`` are lists of fields by which rows are looked up.
    """

    def __init__(self, database: Database, model: type[M], name: str, indexes: Sequence[Sequence[str]] = (), keys: int = 1) -> None:
        self._database = database
        self._model = model
        kinds: dict[str, Any] = {field: info.annotation for field, info in model.model_fields.items()}
        self._json: dict[str, TypeAdapter[Any]] = {field: TypeAdapter(kind) for field, kind in kinds.items() if _plain(kind) is None}
        self._keys = list(kinds)[:keys]
        self._key = self._keys[0]
        #: The table, for queries of the plan's own.
        self.sql = Table(
            name,
            MetaData(),
            *(Column(field, _plain(kind) or Text, primary_key=field in self._keys, autoincrement=False) for field, kind in kinds.items()),
            *(Index(f"{name}_by_{'_'.join(fields)}", *fields) for fields in indexes),
        )
        with database.read() as connection:
            is_there = inspect(connection).has_table(name)
        if not is_there:
            with database.write() as connection:
                self.sql.create(connection, checkfirst=True)

    def put(self, *rows: M) -> None:
        """Store rows; one with the same key is replaced."""
        if not rows:
            return
        dialect = sqlite if self._database.is_sqlite else postgresql
        query = dialect.insert(self.sql)
        changes = {column.name: query.excluded[column.name] for column in self.sql.c if column.name not in self._keys}
        upsert = query.on_conflict_do_update(index_elements=self._keys, set_=changes) if changes else query.on_conflict_do_nothing()
        with self._database.write() as connection:
            connection.execute(upsert, [self._row(row) for row in rows])

    def get(self, key: Json) -> M | None:
        """Return the row with a key; None without one."""
        return next(iter(self.all(**{self._key: key})), None)

    def all(self, **columns: Json) -> list[M]:
        """Return the rows in which columns have these values."""
        return self._database.all(self._query(columns), self._model_of)

    def after(self, key: Json, **columns: Json) -> Iterator[M]:
        """Yield the rows with a larger key, some at a time: there may be more than memory holds."""
        query = self._query(columns).where(self.sql.c[self._key] > key)
        for rows in self._database.batches(query, self._model_of):
            yield from rows

    def select(self, query: Select[Any]) -> list[M]:
        """Return the rows that a query on ``sql`` finds."""
        return self._database.all(query, self._model_of)

    def count(self, **columns: Json) -> int:
        """Return the number of rows in which columns have these values."""
        query = select(func.count()).select_from(self.sql).where(*self._are(columns))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def next_number(self) -> int:
        """Return the number after the largest key, 1 at first. Within a transaction no other process gets it."""
        with self._database.read() as connection:
            return int(connection.execute(select(func.max(self.sql.c[self._key]))).scalar_one_or_none() or 0) + 1

    def remove(self, **columns: Json) -> None:
        """Remove the rows in which columns have these values."""
        with self._database.write() as connection:
            connection.execute(self.sql.delete().where(*self._are(columns)))

    def _query(self, columns: dict[str, Json]) -> Select[Any]:
        return select(self.sql).where(*self._are(columns)).order_by(*(self.sql.c[key] for key in self._keys))

    def _are(self, columns: dict[str, Json]) -> list[ColumnElement[bool]]:
        return [self.sql.c[name].is_(None) if value is None else self.sql.c[name] == value for name, value in columns.items()]

    def _row(self, row: M) -> dict[str, Json]:
        values = row.__dict__
        return {
            field: json.dumps(self._json[field].dump_python(values[field], mode="json")) if field in self._json else _text(values[field])
            for field in self._model.model_fields
        }

    def _model_of(self, row: Row[Any]) -> M:
        values = {
            field: self._json[field].validate_python(json.loads(value)) if field in self._json else value
            for field, value in zip(self._model.model_fields, row, strict=True)
        }
        return self._model.model_validate(values)


def _plain(annotation: Any) -> type[TypeEngine[Any]] | None:
    """Return the type of a column for a field, None if it is JSON text."""
    parts = [part for part in get_args(annotation) if part is not types.NoneType]
    if get_origin(annotation) in (Union, types.UnionType) and len(parts) == 1:
        return _plain(parts[0])
    return _KINDS.get(annotation)


def _text(value: Json) -> Json:
    """Return a value as a database takes it: PostgreSQL stores no NUL, and neither database a lone surrogate."""
    return value.replace("\0", "").encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
