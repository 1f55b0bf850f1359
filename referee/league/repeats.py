"""Finds the teams whose bots are deterministic, so that a repetition of their duels counts nothing new."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.tournament.values import MatchTask, PlannedDuel, Record


class Repeats:
    """Finds pairs that play the same game again on the same start with another seed: their bots are deterministic.

    The first repetition on the first start decides, whatever else was played, so that the order of arrival doesn't matter.
    """

    def __init__(self) -> None:
        self._games: defaultdict[tuple[frozenset[str], int], dict[int, tuple[str, int, str]]] = defaultdict(dict)
        self._counts: dict[tuple[frozenset[str], int], int] = {}

    def expect(self, duel: PlannedDuel, matches: int) -> None:
        """Note the number of matches of a duel."""
        if self.decides(duel):
            self._counts[frozenset(duel.teams), duel.repeat] = matches

    @staticmethod
    def decides(duel: PlannedDuel) -> bool:
        """True for the duels that are compared."""
        return duel.repeat < 2 and duel.start == 0 and duel.variant == 0

    def note(self, duel: PlannedDuel, task: MatchTask, record: Record) -> None:
        """A match is done."""
        if self.decides(duel):
            self._games[frozenset(duel.teams), duel.repeat][task.game_number] = (record.position, record.steps, record.reason)

    def is_deterministic(self, teams: Iterable[str]) -> bool | None:
        """True or False once both duels are over; None before."""
        group = frozenset(teams)
        first, second = self._games.get((group, 0), {}), self._games.get((group, 1), {})
        if not second or len(first) < self._counts.get((group, 0), 1) or len(second) < self._counts.get((group, 1), 1):
            return None
        return first == second
