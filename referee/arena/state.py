"""The results of all duels of an arena as arrays. They grow with each result, so that nothing reads the whole store twice.

Everything here is a function of the store: read anew, it is the same, down to the last digit.
"""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from referee.tournament.transactions import StoreError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from referee.arena.duels import ArenaDuel, DuelResultRow
    from referee.arena.ratings import RatingPoint
    from referee.arena.store import ArenaStore
    from referee.tournament.ratings import ComparisonArrays, Counts, Floats

#: More versions than any arena has; a pair of them is one number.
_MOST_VERSIONS = 1 << 24
_A, _B = attrgetter("a"), attrgetter("b")


class Pairs(NamedTuple):
    """The duels of each two versions, in the order in which they met first. ``a`` has the lower position.

    ``met`` counts all duels, ``games`` those that count, ``wins`` the points of ``a``.
    """

    a: Counts
    b: Counts
    met: Counts
    games: Floats
    wins: Floats


class Growing:
    """Rows of numbers that are appended to."""

    def __init__(self, columns: int, kind: Any) -> None:
        self._room = np.zeros((columns, 1024), dtype=kind)
        self.count = 0

    def __getitem__(self, column: int) -> NDArray[Any]:
        """Return a column."""
        return self._room[column, : self.count]

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows, given column by column."""
        count = self.count + rows.shape[1]
        while count > self._room.shape[1]:
            self._room = np.concatenate([self._room, np.zeros_like(self._room)], axis=1)
        self._room[:, self.count : count] = rows
        self.count = count


class ArenaState:
    """The results of the duels that are over, from the first one on without a gap. ``names`` are all accepted versions, by their positions."""

    def __init__(self, store: ArenaStore) -> None:
        self._store = store
        self.names: list[str] = []
        self.positions: dict[str, int] = {}
        self._rows = Growing(6, np.int32)
        #: The numbers of the duels of each version.
        self._duels: list[array[int]] = []
        self._places: dict[int, int] = {}
        self._pairs = Growing(4, np.float64)
        self._by_version: Counts = np.zeros((4, 0), dtype=np.int64)
        #: Of each version: its duels that are over, also those that count for nobody; those that count; those in which it could not start; and
        #: the number of the last one, -1 if it has none.
        self.planned, self.counted, self.absent, self.last = self._by_version
        #: The last recorded rating of each version that has one.
        self.rated: dict[str, RatingPoint] = {}
        self.catch_up()

    def __len__(self) -> int:
        """The number of duels that are over."""
        return self._rows.count

    def catch_up(self) -> None:
        """Read the versions and results that the store has got since the last time."""
        names = self._store.versions.names(len(self.names))
        if names is not None:
            self.names = names
            self.positions = {name: position for position, name in enumerate(names)}
            more = np.zeros((4, len(names) - self._by_version.shape[1]), dtype=np.int64)
            more[3] = -1
            self._by_version = np.concatenate([self._by_version, more], axis=1)
            self.planned, self.counted, self.absent, self.last = self._by_version
            self._duels += [array("i") for _ in more[0]]
        for rows in self._store.duels.results(len(self)):
            if [row.number for row in rows] != list(range(len(self), len(self) + len(rows))):
                raise StoreError(f"The store {quoted(self._store.where)} has lost results of duels. Restore it from a copy.")
            if rows:
                self._append(self._columns(rows))
        self.note(self._store.ratings.last(max((point.duels for point in self.rated.values()), default=-1)).values())

    def note(self, points: Iterable[RatingPoint]) -> None:
        """Take ratings that were recorded."""
        self.rated.update((point.name, point) for point in points)

    def take(self, duel: ArenaDuel) -> None:
        """Take the result of the next duel."""
        self._append(self._columns([duel]))

    def _columns(self, duels: Sequence[DuelResultRow | ArenaDuel]) -> NDArray[np.int32]:
        """Return the results of duels, column by column."""
        try:
            positions = [[self.positions[name] for name in names] for names in (map(_A, duels), map(_B, duels))]
        except KeyError as error:
            raise StoreError(
                f"The store {quoted(self._store.where)} has lost the version {error.args[0]}, whose duels it has. Restore the file from a copy."
            ) from None
        facts = [(duel.start, duel.variant, duel.points, duel.absent) for duel in duels]
        return np.array([*positions, *zip(*facts, strict=True)], dtype=np.int32).reshape(6, -1)

    def _append(self, rows: NDArray[np.int32]) -> None:
        first = len(self)
        self._rows.extend(rows)
        a, b, _, _, points, absent = rows.astype(np.int64)
        low, high = np.minimum(a, b), np.maximum(a, b)
        codes, firsts, which = np.unique(low * _MOST_VERSIONS + high, return_index=True, return_inverse=True)
        # In the order of their first duels, however many are read at once: the order of a sum decides its last digits.
        new = sorted((int(at), int(code)) for code, at in zip(codes, firsts, strict=True) if int(code) not in self._places)
        for _, code in new:
            self._places[code] = len(self._places)
        more = np.zeros((4, len(new)))
        more[0] = [code for _, code in new]
        self._pairs.extend(more)
        places = np.array([self._places[int(code)] for code in codes], dtype=np.int64)[which]
        counts = points >= 0
        np.add.at(self._pairs[1], places, 1)
        np.add.at(self._pairs[2], places, counts)
        np.add.at(self._pairs[3], places, np.where(counts, np.where(a == low, points, 2 - points) / 2, 0))
        for each, mask in ((a, 1), (b, 2)):
            np.add.at(self.planned, each, 1)
            np.add.at(self.counted, each, counts)
            np.add.at(self.absent, each, (absent & mask) > 0)
            np.maximum.at(self.last, each, np.arange(first, len(self)))
        numbers = np.tile(np.arange(first, len(self), dtype=np.int32), 2)
        who = np.concatenate([a, b])
        order = np.lexsort((numbers, who))
        positions, begins = np.unique(who[order], return_index=True)
        for position, mine in zip(positions.tolist(), np.split(numbers[order], begins[1:]), strict=True):
            self._duels[position].frombytes(mine.tobytes())

    @property
    def pairs(self) -> Pairs:
        """The duels of each two versions."""
        low, high = np.divmod(self._pairs[0].astype(np.int64), _MOST_VERSIONS)
        return Pairs(low, high, self._pairs[1].astype(np.int64), self._pairs[2], self._pairs[3])

    def met_on(self, a: int, b: int) -> set[tuple[int, int]]:
        """Return the starts, each with its variant, on which two versions have met."""
        at = np.intersect1d(self._of([a]), self._of([b]))
        return set(zip(self._rows[2][at].tolist(), self._rows[3][at].tolist(), strict=True))

    def _of(self, positions: Sequence[int]) -> NDArray[np.int32]:
        """Return the numbers of the duels of some versions, the first one first."""
        # Each part is sorted, and a duel of two of them is in both: to sort takes less time than to look for unique numbers.
        every = np.concatenate([np.array([], dtype=np.int32), *(np.array(self._duels[position]) for position in positions)])
        every.sort(kind="stable")
        return every[np.diff(every, prepend=-1) > 0]

    def duels_of(self, mine: Sequence[int] | None, others: Sequence[int] | None, before: int, most: int) -> list[int]:
        """Return the numbers of the last duels of some versions against some others, below ``before``, the last one first. None: all versions."""
        if mine is None:
            mine, others = others, None
        if mine is None:
            return list(range(min(before, len(self)) - 1, -1, -1)[:most])
        duels = self._of(mine)
        if others is not None:
            a, b = self._rows[0][duels], self._rows[1][duels]
            duels = duels[(np.isin(a, mine) & np.isin(b, others)) | (np.isin(b, mine) & np.isin(a, others))]
        return list(map(int, duels[: np.searchsorted(duels, before)][::-1][:most]))

    def against(self, mine: Sequence[int], groups: Counts | None = None) -> dict[int, tuple[int, int, int]]:
        """How many duels that count some versions have lost, tied and won together, by the opponent's position, or what ``groups`` has for it."""
        duels = self._of(mine)
        a, b, points = (self._rows[column][duels] for column in (0, 1, 4))
        table = np.zeros((3, len(self.names)), dtype=np.int64)
        for side, other, is_second in ((a, b, False), (b, a, True)):
            at = np.flatnonzero(np.isin(side, mine) & (points >= 0))
            np.add.at(table, (2 - points[at] if is_second else points[at], other[at] if groups is None else groups[other[at]]), 1)
        opponents = np.flatnonzero(table.sum(axis=0))
        lost, tied, won = table[:, opponents].tolist()
        return dict(zip(opponents.tolist(), zip(lost, tied, won, strict=True), strict=True))

    def due(self) -> list[str]:
        """The versions whose ratings are to be recorded: a hundredth of their duels came after their last record, and one at least."""
        recorded = np.array([self.rated[name].duels if name in self.rated else 0 for name in self.names], dtype=np.int64)
        first = int(recorded.min(initial=len(self)))
        number = np.arange(first, len(self))
        fresh = np.zeros(len(self.names), dtype=np.int64)
        for column in (0, 1):
            each = self._rows[column][first:]
            fresh += np.bincount(each[number >= recorded[each]], minlength=len(fresh))
        return [self.names[at] for at in np.flatnonzero((fresh > 0) & (fresh * 100 >= self.planned)).tolist()]

    def comparisons(self) -> ComparisonArrays:
        """All results that count."""
        from referee.tournament.ratings import ComparisonArrays

        at = self._rows[4] >= 0
        a, b, start, _, points = (self._rows[column][at] for column in range(5))
        return ComparisonArrays(self.names, a.astype(np.int64), b.astype(np.int64), points / 2, start.astype(np.int64))

    def strengths(self) -> Floats:
        """Return the strengths of all versions in log-odds, not centred, and begin with those of the last time."""
        from referee.tournament.ratings import strengths

        stored = self._store.ratings.strengths()
        begin = np.zeros(len(self.names))
        begin[: len(stored.of)] = stored.of
        if stored.duels == len(self):
            return begin
        pairs = self.pairs
        return strengths(len(self.names), pairs.a, pairs.b, pairs.games, pairs.wins, begin)
