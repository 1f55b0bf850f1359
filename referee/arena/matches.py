"""What pages and the state of an arena read of its duels and matches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import from_json
from sqlalchemy import func, select

from referee.league import database, rows
from referee.league.store import duel_of, stored_match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.league.store import StoredMatch
    from referee.tournament.transactions import Database
    from referee.tournament.values import MatchTask, PlannedDuel, Record

#: So many duels without a result are read at once: a batch has fewer.
_OPEN = 1_000


class OpenDuel(NamedTuple):
    """A duel whose result is not in the table of results, with its matches. ``is_stopped``: not all of them will be played."""

    duel: PlannedDuel
    is_stopped: bool
    matches: list[tuple[MatchTask, Record | None]]


class Matches:
    """The duels and matches of a store."""

    def __init__(self, opened: Database) -> None:
        self._database = opened

    def open_duels(self, first: int) -> list[OpenDuel]:
        """The duels from ``first`` on with their matches, in their order, but not more than a thousand."""
        duels, matches = database.duels, database.matches
        with self._database.read() as connection:
            rows = connection.execute(select(duels).where(duels.c.number >= first).order_by(duels.c.number).limit(_OPEN)).all()
            if not rows:
                return []
            mine = select(matches).where(matches.c.duel.between(first, rows[-1].number)).order_by(matches.c.duel, matches.c.game_number)
            by_number = {row.number: OpenDuel(duel_of(row), row.note is not None, []) for row in rows}
            for row in connection.execute(mine):
                stored = stored_match(row)
                if stored.task.duel in by_number:
                    by_number[stored.task.duel].matches.append((stored.task, stored.record))
        return list(by_number.values())

    def matches_of(self, duels: Sequence[int]) -> list[tuple[StoredMatch, float | None]]:
        """The matches of some duels with the times at which they ended, the last duel first."""
        table = database.matches
        query = select(table).where(table.c.duel.in_(duels)).order_by(table.c.duel.desc(), table.c.game_number.desc())
        return self._database.all(query, lambda row: (stored_match(row), row.finished))

    def winners(self, duels: Sequence[int]) -> list[tuple[int, dict[str, str], str | None]]:
        """Of the matches of some duels that are done: the duel, the seats and who has won. To read nothing else takes a quarter of the time."""
        table = database.matches
        query = select(table.c.duel, table.c.seats, table.c.result).where(table.c.duel.in_(duels), table.c.status == database.DONE)
        return self._database.all(query, lambda row: (row.duel, from_json(row.seats), from_json(row.result)["winner"]))

    def done(self, first: int, end: int | None = None) -> int:
        """How many matches of the duels from ``first`` on, and before ``end``, are done."""
        table = database.matches
        query = select(func.count()).select_from(table).where(table.c.status == database.DONE, table.c.duel >= first)
        return self._database.all(query if end is None else query.where(table.c.duel < end), lambda row: int(row[0]))[0]

    def match(self, key: str) -> tuple[StoredMatch, float | None] | None:
        """A match with the time at which it ended, None if there is no such match."""
        # PostgreSQL refuses to look for a NUL.
        matches = (
            []
            if "\0" in key
            else self._database.all(
                select(database.matches).where(database.matches.c.key == key), lambda row: (stored_match(row), row.finished)
            )
        )
        return matches[0] if matches else None

    def void_pairs(self) -> dict[frozenset[str], int]:
        """How many matches of two versions were void."""
        duels, matches, voids = database.duels, database.matches, database.voids
        joined = voids.join(matches, matches.c.key == voids.c.key).join(duels, duels.c.number == matches.c.duel)
        counts: Counter[frozenset[str]] = Counter()
        with self._database.read() as connection:
            for teams, count in connection.execute(select(duels.c.teams, func.count()).select_from(joined).group_by(duels.c.teams)):
                counts[frozenset(rows.names(teams))] += count
        return dict(counts)
