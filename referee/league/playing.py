"""Plays a league: its plan on the core, with its progress for listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.folder import state_of
from referee.league.plan import LeaguePlan, patience
from referee.tournament.plan import MachineFailed, PlayStopped, play

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague
    from referee.tournament import local
    from referee.tournament.plan import Ended
    from referee.tournament.progress import MatchCounts, ProgressListener
    from referee.tournament.values import Task


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

        def listen(ended: Sequence[Ended], running: Collection[Task]) -> None:
            nonlocal is_begun
            for task, record in ended:
                self._voids += bool(record.void)
                if record.has_result:
                    self._early.add(record.key)
                    watch.finished(task, record)
            self._early &= self.plan.open_keys
            for _ in range(len(self.plan.sentences)):
                sentence = self.plan.sentences.popleft()
                if is_begun:
                    watch.said(sentence)
            is_begun = True
            watch.tick(running if self._pool.has_workers else None)

        try:
            play(self.plan, self._core, self._pool, listen, self._gives_up)
        except MachineFailed:
            raise
        except PlayStopped as error:
            raise PlayStopped(f"Play is stopped, and can be resumed: {error}") from None
