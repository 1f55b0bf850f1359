"""The ratings of versions over time, and the strengths of now: what an arena has computed from its duels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel
from sqlalchemy import func, select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement

    from referee.tournament.store import Store


class RatingPoint(BaseModel, frozen=True):
    """The rating of a version after so many duels of the whole arena, with its interval. ``time`` is in seconds since the epoch."""

    name: str
    duels: int
    time: float
    elo: float
    low: float
    high: float


class Strengths(BaseModel, frozen=True):
    """The strengths of all versions in log-odds, ``of`` the first ``duels``. ``now`` are those of the latest result, while a batch is played.

    A fit begins with ``of``, and the last digits depend on where a fit begins.
    """

    row: int = 0
    duels: int = 0
    of: tuple[float, ...] = ()
    now: tuple[float, ...] = ()


class Ratings:
    """The ratings of a store."""

    def __init__(self, store: Store) -> None:
        self._points = store.table(RatingPoint, "ratings", [["duels"]], keys=2)
        self._strengths = store.table(Strengths, "strengths")

    def strengths(self) -> Strengths:
        """Return the strengths that were stored last."""
        return self._strengths.get(0) or Strengths()

    def put_strengths(self, strengths: Strengths) -> None:
        """Store strengths in place of the last ones."""
        self._strengths.put(strengths)

    def put(self, points: Sequence[RatingPoint]) -> None:
        """Store ratings."""
        self._points.put(*points)

    def last(self, after: int = -1) -> dict[str, RatingPoint]:
        """Return the last rating of each version that has one of more than ``after`` duels."""
        # All of them are many: they are grouped. The new ones are few and found by an index, which SQLite doesn't take to group.
        columns = self._points.sql.c
        new = select(self._points.sql).where(columns.duels > after).order_by(columns.duels)
        return {point.name: point for point in (self._points.select(new) if after >= 0 else self._last())}

    def at(self, names: Sequence[str], moment: float) -> dict[str, float]:
        """Return the ratings that some versions had at a time, in seconds since the epoch. A version that had none is missing."""
        columns = self._points.sql.c
        return {point.name: point.elo for point in self._last(columns.name.in_(names), columns.time <= moment)}

    def _last(self, *which: ColumnElement[bool]) -> list[RatingPoint]:
        """Return the last rating of each version, of all ratings or of some."""
        table = self._points.sql
        last = select(table.c.name, func.max(table.c.duels).label("duels")).where(*which).group_by(table.c.name).subquery()
        return self._points.select(select(table).join(last, (table.c.name == last.c.name) & (table.c.duels == last.c.duels)))

    def of(self, names: Sequence[str]) -> list[RatingPoint]:
        """Return the ratings of some versions over time."""
        columns = self._points.sql.c
        return self._points.select(select(self._points.sql).where(columns.name.in_(names)).order_by(columns.duels, columns.name))
