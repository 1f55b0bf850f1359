"""Plays a league: its plan on the core, with its progress for listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.folder import state_of
from referee.league.plan import LeaguePlan, patience
from referee.tournament.plan import MachineFailed, PlayStopped, playing

if TYPE_CHECKING:
    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague
    from referee.tournament import local
    from referee.tournament.progress import MatchCounts, ProgressListener


class LeaguePlay:
    """A league that is played. After ``run``, ``plan.unplayed`` has the matches that were void because the machine failed."""

    def __init__(self, opened: OpenLeague, pool: local.Pool) -> None:
        self._core = opened.store
        self._pool = pool
        self.plan = LeaguePlan(opened.schedule)
        self._gives_up = patience(opened.schedule)
        self._unplayed = opened.view.unplayed()
        self._voids = self._core.counts().voids
        #: The matches that ended before their turn.
        self._early: set[str] = set()

    def state(self) -> LeagueState:
        """The state of the league."""
        return state_of(self.plan, len(self._early), self._voids)

    def counts(self) -> MatchCounts:
        """The number of matches by status."""
        return self.state().counts

    def run(self, watch: ProgressListener) -> None:
        """Play all matches. PlayStopped if none can be played at present."""
        # Matches that the machine failed to play before are played now.
        self._core.forget(self._unplayed)
        is_begun = False
        try:
            for step in playing(self.plan, self._core, self._pool, self._gives_up):
                self._voids += sum(bool(record.void) for _, record in step.ended)
                self._early |= {record.key for _, record in step.ended if record.has_result}
                self._early &= self.plan.open_keys
                if not is_begun:
                    # The sentences about earlier matches were said when these were played.
                    self.plan.sentences.clear()
                is_begun = True
                watch.step(step, self.plan.sentences, has_workers=self._pool.has_workers)
        except MachineFailed:
            raise
        except PlayStopped as error:
            raise PlayStopped(f"Play is stopped, and can be resumed: {error}") from None
