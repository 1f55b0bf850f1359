"""The choice of an arena's next batches of duels, from the duels so far and the versions that play."""

from __future__ import annotations

import math
from itertools import cycle, islice
from typing import TYPE_CHECKING

from referee.arena.config import ALL
from referee.arena.versions import ACTIVE, PLACING
from referee.support.words import counted
from referee.tournament.duels import PlannedDuel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.config import ArenaConfig
    from referee.arena.rater import Rater
    from referee.arena.state import ArenaState
    from referee.arena.store import ArenaStore
    from referee.arena.versions import Version
    from referee.tournament.ratings import Floats

#: The least and the most duels of a batch. Within a batch no rating changes; its end waits for the last match.
_LEAST, _MOST = 8, 64
#: The probability that an arena that plays until the best version is certain ends with a wrong one, over all looks together.
_WRONG_END = 0.05
#: The number of duels grows by this factor from one look at whether the best is certain to the next.
_LOOK_FACTOR = 1.25


class DuelChoice:
    """Chooses batches of duels, each when all earlier duels have results. ``versions`` are all of the arena as of ``mark``.

    It chooses none after ``most`` duels (None: no limit), when the best is certain and ``until_decided``, or when versions
    were added or activated since their ``mark`` was read.
    """

    def __init__(
        self,
        config: ArenaConfig,
        store: ArenaStore,
        state: ArenaState,
        rater: Rater,
        versions: Sequence[Version],
        mark: int,
        *,
        most: int | None = None,
        until_decided: bool = False,
    ) -> None:
        self._config = config
        self._store = store
        self._state = state
        self._rater = rater
        self._versions = versions
        #: ``changes`` of the season's row as of this choice. When it has changed, a new choice has to go on.
        self.mark = mark
        #: The number of duels that may still be chosen; None: no limit.
        self.left = most
        self._until_decided = until_decided
        self._looked_at = 0
        #: Why no more duels are chosen, as a sentence; empty if that has another reason.
        self.ending = ""

    def count(self, duels: int) -> None:
        """Count duels that are stored: they were chosen here, or by an earlier process whose duels are played now."""
        if self.left is not None:
            self.left = max(0, self.left - duels)

    def batch(self) -> list[PlannedDuel]:
        """Return the next batch of duels by all results so far, and store the strengths that decide it. The plan stores the batch."""
        self._move_on()
        strengths = self._rater.settled_strengths()
        if self._store.season.changes() != self.mark or self.left == 0:
            return []
        if self._until_decided and (why := self._decided()) is not None:
            self.ending = why
            return []
        new = self._chosen(strengths)
        if not new:
            self.ending = "Every pairing has been played on every start position."
        return new

    def playing(self) -> list[Version]:
        """Return the versions that still play."""
        out = self._store.versions.forfeits()
        return [version for version in self._able(out) if self._goes_on(version)]

    def rivals(self) -> list[str]:
        """Return the versions that can be the best: those of the teams, or all if the teams have only one."""
        playing = self.playing()
        entrants = [version.name for version in playing if not version.is_reference]
        return entrants if len(entrants) > 1 else [version.name for version in playing]

    def _able(self, out: dict[str, str]) -> list[Version]:
        """Return the accepted versions that can start and whose teams are not disqualified."""
        return [version for version in self._versions if version.position is not None and version.name not in out]

    def _goes_on(self, version: Version) -> bool:
        """True if a version plays on after its placement."""
        return version.is_active or (self._config.versions == ALL and not version.is_reference)

    def _due_state(self, version: Version) -> str:
        """Return the state that a version has to have after the duels so far."""
        place = self._state.positions.get(version.name)
        duels = 0 if place is None else int(self._state.planned[place])
        return version.due(duels, self._config.season.placement, goes_on=self._goes_on(version))

    def _move_on(self) -> None:
        """Let versions join, end their placement or retire, between two batches."""
        due = {version.name: self._due_state(version) for version in self._able(self._store.versions.forfeits())}
        moved = [(version, due[version.name]) for version in self._versions if due.get(version.name, version.state) != version.state]
        if moved:
            self._store.versions.play(moved)
            after = {version.name: state for version, state in moved}
            self._versions = [
                version.model_copy(update={"state": after[version.name]}) if version.name in after else version
                for version in self._versions
            ]

    def _chosen(self, strengths: Floats) -> list[PlannedDuel]:
        """Return the next duels."""
        from referee.arena.matchmaking import Candidate, Matchmaker

        state, first, placement = self._state, len(self._state), self._config.season.placement
        able = self._able(self._store.versions.forfeits())
        playing = {version.name for version in able if self._goes_on(version)}
        size = min(max(_LEAST, len(playing) // 2), _MOST, *(() if self.left is None else (self.left,)))
        entries = []
        for version in able:
            place = state.positions.get(version.name)
            if place is not None and self._due_state(version) in (PLACING, ACTIVE):
                count, last = int(state.planned[place]), int(state.last[place])
                entries.append(Candidate(version.name, place, count, version.first_duel if last < 0 else last, version.name in playing))
        places = [(start.number, variant) for start in self._config.starts for variant in range(len(self._config.variants))]
        chooser = Matchmaker(entries, strengths, state.pairs, first, placement, len(places))
        new: list[PlannedDuel] = []
        met: dict[frozenset[str], set[tuple[int, int]]] = {}
        while len(new) < size and (pair := chooser.next()) is not None:
            number = first + len(new)
            key = frozenset(pair)
            if key not in met:
                met[key] = state.met_on(*(state.positions[name] for name in pair))
            start, variant = next(place for place in islice(cycle(places), number % len(places), None) if place not in met[key])
            # If a duel doesn't swap roles, the next duel of the same versions does.
            teams = pair if len(met[key]) % 2 == 0 else pair[::-1]
            met[key].add((start, variant))
            new.append(PlannedDuel(number, 0, teams, start, variant))
        return new

    def _decided(self) -> str | None:
        """Return the sentence that the best version is certain, or None. It is tested only at certain numbers of duels.

        All tests share the error probability.
        """
        names, total = self.rivals(), len(self._state)
        first = _LOOK_FACTOR * max(2, len(names))
        look = 1 + int(math.log(max(1.0, total / first), _LOOK_FACTOR)) if total >= first else 0
        if look <= self._looked_at or len(names) < 2:
            return None
        self._looked_at = look
        best, certainty = self._rater.best(names)
        error = _WRONG_END * 6 / (math.pi * look) ** 2
        return f"{best} is certainly the best of {len(names):,} after {counted(total, 'duel')}." if certainty >= 1 - error else None
