"""Checks an arena against its replays."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from referee.arena.plan import ArenaMatches
from referee.support.words import counted, listed
from referee.tournament.duels import PairedComparison
from referee.tournament.replays import ReplayCheck, ReplayStore, unplayed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.arena.arena import OpenArena
    from referee.arena.duels import ArenaDuel
    from referee.tournament.replays import Progress
    from referee.tournament.values import Record, Task

#: How much a recorded rating may differ from one that is computed again, in Elo.
_PRECISION = 0.01


def verify_arena(arena: OpenArena, progress: Progress | None = None) -> ReplayCheck:
    """Simulate every replay again, compare it with the store, and compute the results and ratings only from the replays.

    The arena may be played meanwhile: matches that end meanwhile are not checked.
    """
    return _ArenaCheck(arena, progress).run()


class _ArenaCheck:
    """One verification of an arena."""

    def __init__(self, arena: OpenArena, progress: Progress | None) -> None:
        self._arena = arena
        self._matches = ArenaMatches(arena.config, arena.entries)
        self._replays = ReplayStore(arena.store.core, arena.folder, arena.replays, arena.config.game, progress)
        self._problems = self._replays.problems
        self._planned = self._unplayed = self._total = 0

    def run(self) -> ReplayCheck:
        """Check everything."""
        results = [self._checked(duel) for duel in self._arena.store.duels.rows.after(-1)]
        forfeits = [*self._replays.forfeits((version.name, version.forfeit) for version in self._arena.versions if version.forfeit)]
        if not self._problems:
            self._problems += contradicted(self._arena, results)
        return ReplayCheck(self._replays.count, self._problems, [*forfeits, *unplayed(self._planned, self._unplayed, self._total)])

    def _checked(self, duel: ArenaDuel) -> ArenaDuel:
        """Return a duel with the result that its replays show."""
        tasks = self._matches.tasks(duel.planned, duel.blamed)
        self._total += len(tasks)
        if [task.key for task in tasks] != duel.keys:
            self._problems.append(f"Duel {duel.number + 1}: its matches don't follow from the arena's file and its versions.")
            return duel
        records = self._replays.lookup(tasks)
        played = {key: record for key, record in records.items() if record.has_result}
        if duel.points is None:
            self._planned += len(tasks) - len(played)
            return duel
        self._unplayed += len(tasks) - len(played)
        if len(played) < len(tasks):
            # Only the store says why.
            return duel
        return self._scored(duel, tasks, records)

    def _scored(self, duel: ArenaDuel, tasks: Sequence[Task], records: Mapping[str, Record]) -> ArenaDuel:
        scored = self._matches.scored(duel, [(task, records[task.key]) for task in tasks])
        if (scored.points, scored.absent) != (duel.points, duel.absent) and not self._problems:
            self._problems.append(f"Duel {duel.number + 1} ({duel.a} - {duel.b}): the result in the store differs from the replays.")
        return scored


def contradicted(arena: OpenArena, duels: Sequence[ArenaDuel]) -> list[str]:
    """Return a sentence for each time at which the recorded ratings are others than those of the results of these duels."""
    from referee.tournament.ratings import rate

    sentences = []
    counting = [duel for duel in duels if duel.points is not None and duel.points >= 0]
    # While the arena plays, later results than those that were over when it was opened may not have been read.
    points = [point for point in arena.store.ratings.of([version.name for version in arena.versions]) if point.duels <= arena.over]
    for number, group in groupby(points, key=lambda point: point.duels):
        before = [PairedComparison(duel.a, duel.b, (duel.points or 0) / 2, duel.start) for duel in counting if duel.number < number]
        ratings = rate(before, arena.rater.known_at(number))
        wrong = [point.name for point in group if abs(ratings.get(point.name, math.inf) - point.elo) > _PRECISION]
        if wrong:
            sentences.append(f"After {counted(number, 'duel')}, the ratings in the store differ from the replays: {listed(wrong)}.")
    return sentences
