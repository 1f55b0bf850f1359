"""The duels of an arena with their results, and their matches as pages read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel
from sqlalchemy import func, or_, select

from referee.tournament.duels import PlannedDuel
from referee.tournament.progress import MatchCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from referee.tournament.store import Store, Tally
    from referee.tournament.values import Record, Task

#: The most duels without a result that are read at once; a batch has fewer.
_OPEN = 1_000
#: The most results that are read at once; their rows are short.
_ROWS = 10_000
#: The most duels that are read at once with their matches.
_AT_ONCE = 250


class ArenaDuel(BaseModel, frozen=True):
    """A duel of two versions on a start, in a variant, by their names. ``first`` and ``second`` are the keys of its matches, or "".

    The versions in ``blamed`` lose a match that becomes void without a visible cause. ``points`` are twice those of ``a``;
    -1 if the duel counts for nobody, None while it is open. ``absent`` says which of them could not start: 1 for ``a``, 2 for ``b``, 3 for both.
    """

    number: int
    a: str
    b: str
    start: int
    variant: int
    first: str
    second: str = ""
    blamed: list[str] = []
    points: int | None = None
    absent: int = 0

    @property
    def planned(self) -> PlannedDuel:
        """The duel without its result."""
        return PlannedDuel(self.number, 0, (self.a, self.b), self.start, self.variant)

    @property
    def keys(self) -> list[str]:
        """The keys of its matches."""
        return [key for key in (self.first, self.second) if key]


class DuelResultRow(NamedTuple):
    """The result of a duel, as ``ArenaDuel`` has it."""

    number: int
    a: str
    b: str
    start: int
    variant: int
    points: int
    absent: int


class DuelMatch(NamedTuple):
    """A match that was played, with the number of its duel and its own within it. ``ended`` is in seconds since the epoch."""

    duel: int
    game_number: int
    task: Task
    record: Record
    ended: float


class Duels:
    """The duels of a store."""

    def __init__(self, store: Store) -> None:
        self._core = store
        self._tally: Tally | None = None
        self.rows = store.table(ArenaDuel, "duels", [["first"], ["second"]])

    def count(self) -> int:
        """Return the number of duels, including open ones."""
        query = select(func.max(self.rows.sql.c.number))
        return self._core.database.all(query, lambda row: -1 if row[0] is None else int(row[0]))[0] + 1

    def results(self, first: int) -> Iterator[list[DuelResultRow]]:
        """Yield the results of duels in their order, many at once, from the duel ``first`` on up to the first open one."""
        columns = self.rows.sql.c
        query = select(*(columns[name] for name in DuelResultRow._fields)).where(columns.number >= first).order_by(columns.number)
        for rows in self._core.database.batches(query, DuelResultRow._make, _ROWS):
            end = next((place for place, row in enumerate(rows) if row.points is None), None)
            yield rows[:end]
            if end is not None:
                return

    def since(self, first: int) -> list[ArenaDuel]:
        """Return the duels from ``first`` on in their order, but not more than a thousand."""
        columns = self.rows.sql.c
        return self.rows.select(select(self.rows.sql).where(columns.number >= first).order_by(columns.number).limit(_OPEN))

    def matches(self, duels: Sequence[ArenaDuel]) -> list[DuelMatch]:
        """Return the matches of duels that were played, the first one of each first."""
        places = {key: (duel.number, number) for duel in duels for number, key in enumerate(duel.keys)}
        played = {each.task.key: each for each in self._core.played(list(places))}
        return [DuelMatch(*places[key], each.task, each.record, each.ended) for key in places if (each := played.get(key)) is not None]

    def matches_of(self, numbers: Iterable[int]) -> list[DuelMatch]:
        """Return the matches of some duels that were played, the last duel first."""
        query = select(self.rows.sql).where(self.rows.sql.c.number.in_(list(numbers))).order_by(self.rows.sql.c.number)
        return self.matches(self.rows.select(query))[::-1]

    def all_matches(self) -> Iterator[tuple[ArenaDuel, list[DuelMatch]]]:
        """Yield all duels in their order, each with its matches that were played."""
        first = 0
        while duels := self.since(first)[:_AT_ONCE]:
            first = duels[-1].number + 1
            by_duel: dict[int, list[DuelMatch]] = {}
            for match in self.matches(duels):
                by_duel.setdefault(match.duel, []).append(match)
            for duel in duels:
                yield duel, by_duel.get(duel.number, [])

    def match(self, key: str) -> DuelMatch | None:
        """Return a match that was played; None if there is no such match."""
        columns = self.rows.sql.c
        # PostgreSQL refuses a NUL in a query, and the key "" means a missing match.
        is_key = bool(key) and "\0" not in key
        duels = self.rows.select(select(self.rows.sql).where(or_(columns.first == key, columns.second == key))) if is_key else []
        return next((match for match in self.matches(duels) if match.task.key == key), None)

    def counts(self, settled: int) -> MatchCounts:
        """Return the number of matches by status; ``settled`` duels have results."""
        self._tally = self._core.tally(self._tally)
        open_keys = [key for duel in self.since(settled) if duel.points is None for key in duel.keys]
        planned = len(open_keys) - len(self._core.played(open_keys))
        done = self._tally.played
        return MatchCounts(planned, done, self._core.count_tasks() - done - planned, self._tally.voids)
