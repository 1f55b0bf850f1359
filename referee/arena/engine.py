"""Plays an arena: the league's engine, which here knows the duels that have no result yet and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Container

    from referee.arena.schedule import ArenaSchedule
    from referee.arena.store import ArenaStore
    from referee.league.engine import ProgressListener, Queue
    from referee.league.local import Pool
    from referee.league.values import Duel


class ArenaEngine(Engine):
    """Plays the matches of an arena until its schedule has no further one, and stores the results of duels."""

    _store: ArenaStore
    _plan: ArenaSchedule

    def __init__(self, store: ArenaStore, pool: Pool, plan: ArenaSchedule, watch: ProgressListener, absent: Container[str] = ()) -> None:
        super().__init__(store, pool, plan, watch, absent)

    def _further(self) -> list[Duel]:
        new = self._plan.further()
        state = self._plan.state
        # What is over is in the arrays.
        self._duels = {number: duel for number, duel in self._duels.items() if number >= len(state)}
        if not new:
            self._plan.record()
        return new

    def _give_out(self, queue: Queue) -> None:
        super()._give_out(queue)
        self._plan.record()

    def _recall(self) -> None:
        """Learn from the results so far who can start, and from the store which duels are open."""
        state = self._plan.state
        state.catch_up()
        for name, duels, absent in zip(state.names, state.planned.tolist(), state.absent.tolist(), strict=True):
            self._failed[name] = absent
            if duels > absent:
                self._started.add(name)
        for one in self._store.open_duels(len(state)):
            self._learn([one.duel])
            for task, record in one.matches:
                if record is not None:
                    self._note(task, record)
        self._voids.update(self._store.void_pairs())
