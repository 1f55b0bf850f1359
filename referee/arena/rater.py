"""Rates the versions of an arena, and records the ratings while it plays."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from referee.arena.ratings import RatingPoint, Strengths

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from referee.arena.config import ArenaConfig
    from referee.arena.state import ArenaState
    from referee.arena.store import ArenaStore
    from referee.arena.versions import Version
    from referee.tournament.ratings import Floats, Rating

#: The resamples for intervals that are recorded over time, and for those that are shown.
_QUICK, RESAMPLES = 200, 1000
#: From so many duels on, 1,000 resamples take many seconds, so that 200 are shown too.
_MANY = 100_000
#: The number of duels grows by this factor at least from one record of known versions to the next.
_RECORD_FACTOR = 1.001
#: While a batch is played, computing the ratings of now takes a tenth of the time at most.
_SPARE = 9


class Rater:
    """Rates versions by all results so far."""

    def __init__(self, config: ArenaConfig, store: ArenaStore, state: ArenaState, versions: Sequence[Version]) -> None:
        self._seed = config.resampling_seed
        self._store = store
        self._state = state
        self._accepted = [version for version in versions if version.position is not None]
        #: The ratings of known versions are recorded from so many duels on.
        self._next_record = 0
        #: True if results have come since ``store_current`` last stored strengths; and the time at which it does so again.
        self._is_untold, self._due = False, 0.0

    @property
    def _resamples(self) -> int:
        return RESAMPLES if len(self._state) < _MANY else _QUICK

    def rated(
        self, versions: Sequence[str] | None = None, among: Collection[str] | None = None, resamples: int = RESAMPLES
    ) -> list[Rating]:
        """Return the ratings of all accepted versions, or of some, the best first. ``versions`` are the versions that there were, all by default."""
        from referee.tournament import ratings

        accepted = [version.name for version in self._accepted] if versions is None else versions
        return ratings.intervals(
            self._state.comparisons(), accepted, seed=self._seed, resamples=min(resamples, self._resamples), among=among
        )

    def best(self, among: Collection[str]) -> tuple[str, float]:
        """Return the best of some versions, two or more, and how certain that is, from 0 to 1."""
        from referee.tournament import ratings

        accepted = tuple(version.name for version in self._accepted)
        return ratings.best_of(self._state.comparisons(), accepted, among, seed=self._seed, resamples=self._resamples)

    def known_at(self, duels: int) -> tuple[str, ...]:
        """Return the accepted versions whose ratings are those after so many duels: those that were there before the last of them."""
        return tuple(version.name for version in self._accepted if version.first_duel < duels)

    def settled_strengths(self) -> Floats:
        """Return the strengths after all duels so far, of which none is open, and store them."""
        strengths = self._state.strengths()
        self._store.ratings.put_strengths(Strengths(duels=len(self._state), of=tuple(strengths.tolist())))
        return strengths

    def record(self) -> None:
        """Record the ratings that have changed since the last time. Many teams need a second for it, so workers play meanwhile."""
        total, due = len(self._state), self._state.due()
        if not due or (total < self._next_record and all(name in self._state.rated for name in due)):
            return
        self._next_record = math.ceil(_RECORD_FACTOR * total)
        rated = self.rated(self.known_at(total), resamples=_QUICK)
        now, names = time.time(), set(due)
        points = [
            RatingPoint(name=rating.team, duels=total, time=now, elo=rating.elo, low=rating.low, high=rating.high)
            for rating in rated
            if rating.team in names
        ]
        self._store.ratings.put(points)
        self._state.note(points)

    def store_current(self, *, has_news: bool) -> None:
        """Store the current strengths, so that pages need not wait for the end of the batch. ``has_news``: results have come since the last call.

        The next batch depends on none of these strengths.
        """
        begun = time.monotonic()
        self._is_untold |= has_news
        if not self._is_untold or begun < self._due:
            return
        now = tuple(self._state.strengths().tolist())
        self._store.ratings.put_strengths(self._store.ratings.strengths().model_copy(update={"now": now}))
        ended_at = time.monotonic()
        self._is_untold, self._due = False, ended_at + _SPARE * (ended_at - begun)
