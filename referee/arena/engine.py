"""Plays an arena: the league's engine, which here knows the duels that have no result yet and no others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import threadpool_limits

from referee.league.engine import Engine, MachineFailed
from referee.tournament.transactions import ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.arena.schedule import ArenaSchedule
    from referee.arena.store import ArenaStore
    from referee.league.engine import Queue
    from referee.tournament.local import Finished, Pool
    from referee.tournament.progress import ProgressListener
    from referee.tournament.values import MatchTask, PlannedDuel
    from referee.tournament.worker import Void

_T = TypeVar("_T")


def _again(call: Callable[[], _T]) -> _T:
    """Return what a call gives that may be made twice: made anew if the database's server was restarted meanwhile."""
    try:
        return call()
    except ConnectionLost:
        return call()


class ArenaEngine(Engine):
    """Plays the matches of an arena until its schedule has no further one, and stores the results of duels."""

    _plan: ArenaSchedule

    def __init__(self, store: ArenaStore, pool: Pool, plan: ArenaSchedule, watch: ProgressListener) -> None:
        super().__init__(store.duels, pool, plan, watch)
        self._arena = store

    def run(self) -> None:
        """Play all matches, with one thread of linear algebra: matches take the cores. LeagueStopped if none can be played at present."""
        with threadpool_limits(1, user_api="blas"):
            super().run()

    def _further(self) -> list[PlannedDuel]:
        self._arena.database.keep_claim()
        new = _again(self._plan.further)
        state = self._plan.state
        # What is over is in the arrays.
        self._duels = {number: duel for number, duel in self._duels.items() if number >= len(state)}
        if not new:
            _again(self._plan.record)
        return new

    def _give_out(self, queue: Queue) -> None:
        super()._give_out(queue)
        _again(self._plan.record)

    def _take_ended(self, queue: Queue) -> bool:
        ended = super()._take_ended(queue)
        _again(partial(self._plan.tell, ended=ended))
        return ended

    def _take(self, finished: Finished) -> MatchTask | None:
        return _again(partial(super()._take, finished))

    def _set_aside(self, task: MatchTask, void: Void) -> None:
        """Stop play at once: in an arena every match of a batch is waited for."""
        raise MachineFailed(f"Play is stopped, since this machine failed: {void.text}")

    def _recall(self) -> None:
        """Learn from the results so far who can start, and from the store which duels are open."""
        state = self._plan.state
        state.catch_up()
        for name, duels, absent in zip(state.names, state.planned.tolist(), state.absent.tolist(), strict=True):
            self._failed[name] = absent
            if duels > absent:
                self._started.add(name)
        for open_duel in self._arena.matches.open_duels(len(state)):
            self._learn([open_duel.duel])
            for task, record in open_duel.matches:
                if record is not None:
                    self._note(task, record)
        self._voids.update(self._arena.matches.void_pairs())
