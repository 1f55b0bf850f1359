"""The void matches of a store for which nobody can see who is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.tournament.disputes import Dispute, blamed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from referee.league.store import Store

#: The store's fact with these matches: of each the teams, also those of the organizers, and the suspects.
_FACT = "disputes"


class Disputes:
    """The void matches of a store for which nobody can see who is to blame. ``owner`` is that of a ``MatchPlan``."""

    def __init__(self, store: Store, owner: Callable[[str], str | None]) -> None:
        self._store = store
        self._owner = owner
        self._disputes: list[list[list[str]]] = store.fact(_FACT) or []
        self._blamed = self._decide()

    def is_blamed(self, team: str) -> bool:
        """True if the owner of a team is to blame for such matches."""
        return bool(self._blamed) and self._owner(team) in self._blamed

    def add(self, teams: Iterable[str], suspects: Iterable[str]) -> dict[str, list[str]]:
        """Note such a match. Return the owners who turn out to be to blame, each with the teams that were void with theirs."""
        dispute = [sorted(set(teams)), sorted(set(suspects) or set(teams))]
        if self._disputes.count(dispute) > 1:
            # A further repeat shows nothing more.
            return {}
        self._disputes.append(dispute)
        self._store.set_fact(_FACT, self._disputes)
        before, self._blamed = self._blamed, self._decide()
        return {owner: self._others(owner) for owner in sorted(self._blamed - before)}

    def _decide(self) -> set[str]:
        return blamed(Dispute(*(frozenset(filter(None, map(self._owner, teams))) for teams in entry)) for entry in self._disputes)

    def _others(self, owner: str) -> list[str]:
        mine = [teams for teams, _ in self._disputes if owner in map(self._owner, teams)]
        return sorted({team for teams in mine for team in teams if self._owner(team) != owner})


def forget(store: Store, teams: Container[str]) -> None:
    """Forget such matches of some teams, whose programs are others now."""
    entries = store.fact(_FACT) or []
    store.set_fact(_FACT, [entry for entry in entries if not any(team in teams for team in entry[0])])


def disputed(store: Store) -> list[str]:
    """Return the teams of such matches, as words for each group of teams."""
    return list(dict.fromkeys(" and ".join(teams) for teams, _ in store.fact(_FACT) or ()))
