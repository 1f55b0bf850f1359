"""What an arena has learnt from its duels: their results, the ratings of versions over time, and the strengths of now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text, func, insert, select

from referee.tournament.database import required

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement

    from referee.tournament.transactions import Database

meta = MetaData()
_ratings = Table(
    "ratings",
    meta,
    Column("name", Text, primary_key=True),
    Column("duels", Integer, primary_key=True, autoincrement=False),
    *required(Float, "time", "elo", "low", "high"),
    Index("ratings_by_duels", "duels"),
)
_outcomes = Table(
    "outcomes",
    meta,
    Column("duel", Integer, primary_key=True, autoincrement=False),
    *required(Integer, "a", "b", "start", "variant", "points", "absent"),
)
_strengths = Table(
    "strengths",
    meta,
    Column("row", Integer, primary_key=True, autoincrement=False),
    *required(Integer, "duels"),
    *required(Text, "of", "now"),
)
#: So many results are read at once: their rows are short.
_ROWS = 10_000


class RatingPoint(NamedTuple):
    """The rating of a version after so many duels of the whole arena, with its interval. ``time`` is in seconds since the epoch."""

    name: str
    duels: int
    time: float
    elo: float
    low: float
    high: float


class DuelOutcome(NamedTuple):
    """The result of a duel. ``a`` and ``b`` are the positions of the versions among all accepted ones.

    ``points`` are twice those of ``a``, and -1 if the duel counts for nobody. ``absent`` says which of them could not start: 1 for ``a``, 2 for
    ``b``, 3 for both.
    """

    duel: int
    a: int
    b: int
    start: int
    variant: int
    points: int
    absent: int


class Strengths(BaseModel):
    """The strengths of all versions in log-odds, ``of`` the first ``duels``. ``now`` are those of the latest result, while a batch is played.

    A fit begins with ``of``, and the last digits depend on where a fit begins.
    """

    model_config = ConfigDict(frozen=True)

    duels: int = 0
    of: tuple[float, ...] = ()
    now: tuple[float, ...] = ()


class Ratings:
    """The results and ratings of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcomes(self, first: int) -> Iterator[Sequence[Sequence[int]]]:
        """Yield the results of duels in their order, many at once, from the duel ``first`` on. They have no gap: nobody has to read all matches again."""
        return self._database.batches(select(_outcomes).where(_outcomes.c.duel >= first).order_by(_outcomes.c.duel), tuple, _ROWS)

    def put_outcomes(self, outcomes: Sequence[DuelOutcome]) -> None:
        """Store results of duels. Those that are there already stay as they are."""
        self._database.put_new({_outcomes: [outcome._asdict() for outcome in outcomes]})

    def strengths(self) -> Strengths:
        """Return the strengths that were stored last."""
        query = select(_strengths.c.duels, _strengths.c.of, _strengths.c.now)
        rows = self._database.all(query, lambda row: Strengths(duels=row.duels, of=json.loads(row.of), now=json.loads(row.now)))
        return rows[0] if rows else Strengths()

    def put_strengths(self, strengths: Strengths) -> None:
        """Store strengths in place of the last ones."""
        with self._database.write() as connection:
            connection.execute(_strengths.delete())
            texts = {name: json.dumps(getattr(strengths, name)) for name in ("of", "now")}
            connection.execute(insert(_strengths).values(row=1, duels=strengths.duels, **texts))

    def put(self, points: Sequence[RatingPoint]) -> None:
        """Store ratings. Those that are there already stay as they are."""
        self._database.put_new({_ratings: [point._asdict() for point in points]})

    def last(self, after: int = -1) -> dict[str, RatingPoint]:
        """Return the last rating of each version that has one of more than ``after`` duels."""
        # All of them are many: they are grouped. The new ones are few and found by an index, which SQLite doesn't take to group.
        new = select(_ratings).where(_ratings.c.duels > after).order_by(_ratings.c.duels)
        return {point.name: point for point in (self._database.all(new, RatingPoint._make) if after >= 0 else self._last())}

    def at(self, names: Sequence[str], moment: float) -> dict[str, float]:
        """Return the ratings that some versions had at a time, in seconds since the epoch. A version that had none is missing."""
        return {point.name: point.elo for point in self._last(_ratings.c.name.in_(names), _ratings.c.time <= moment)}

    def _last(self, *which: ColumnElement[bool]) -> list[RatingPoint]:
        """Return the last rating of each version, of all ratings or of some."""
        last = select(_ratings.c.name, func.max(_ratings.c.duels).label("duels")).where(*which).group_by(_ratings.c.name).subquery()
        joined = select(_ratings).join(last, (_ratings.c.name == last.c.name) & (_ratings.c.duels == last.c.duels))
        return self._database.all(joined, RatingPoint._make)

    def of(self, names: Sequence[str]) -> list[RatingPoint]:
        """Return the ratings of some versions over time."""
        query = select(_ratings).where(_ratings.c.name.in_(names)).order_by(_ratings.c.duels, _ratings.c.name)
        return self._database.all(query, RatingPoint._make)
