"""Which teams are to blame for void matches without a visible cause, decided by ``tournament.disputes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from referee.tournament.disputes import blamed, dispute_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.tournament.disputes import Owner
    from referee.tournament.rows import ModelTable
    from referee.tournament.store import Store
    from referee.tournament.values import Record, Task


class DisputedMatch(BaseModel, frozen=True):
    """A void match without a visible cause: the names of its versions, and of those that can be to blame."""

    number: int
    versions: list[str]
    suspects: list[str]


def disputed_matches(store: Store) -> ModelTable[DisputedMatch]:
    """Return the table of void matches without a visible cause."""
    return store.table(DisputedMatch, "disputed_matches")


class Blame:
    """Knows who is to blame. ``owner`` returns the team of a version, None for a reference."""

    def __init__(self, rows: ModelTable[DisputedMatch], owner: Owner) -> None:
        self._rows = rows
        self._owner = owner
        self._matches = rows.all()
        self._teams = self._decided()

    def culprits(self, names: Iterable[str]) -> list[str]:
        """Return those of the versions whose teams are to blame for void matches."""
        return [name for name in names if self._owner(name) in self._teams] if self._teams else []

    def add(self, task: Task, record: Record) -> Iterator[str]:
        """Store a match that was given up. Yield a sentence about each team that is to blame now."""
        names = sorted(set(task.names.values()))
        match = DisputedMatch(number=len(self._matches), versions=names, suspects=sorted(set(record.hit) or names))
        if sum((each.versions, each.suspects) == (match.versions, match.suspects) for each in self._matches) > 1:
            # Further repeats add no evidence.
            return
        # The attempts before were the same.
        new = [match, match.model_copy(update={"number": match.number + 1})]
        self._rows.put(*new)
        self._matches += new
        before, self._teams = self._teams, self._decided()
        for team in sorted(self._teams - before):
            others = {name for each in self._matches for name in each.versions if self._owner(name) != team and self._is_of(each, team)}
            yield f"{team} is to blame for void matches with {' and '.join(sorted(others))}, and loses if that happens again: {record.void}"

    def _is_of(self, match: DisputedMatch, team: str) -> bool:
        return team in map(self._owner, match.versions)

    def _decided(self) -> set[str]:
        return blamed(dispute_of(match.versions, match.suspects, self._owner) for match in self._matches)


def disputed(rows: ModelTable[DisputedMatch]) -> list[str]:
    """Return the versions of such matches, as words for each group of them."""
    return list(dict.fromkeys(" and ".join(match.versions) for match in rows.all()))
