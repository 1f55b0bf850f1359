"""What a league's store has lost: rows of matches and duels, which ``league rebuild`` makes again from the replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.worker import replay_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.league.league import OpenLeague
    from referee.league.values import DuelResult, MatchTask


def lost_matches(opened: OpenLeague) -> tuple[list[MatchTask], list[int]]:
    """Return the matches that the store has lost, and the numbers of the duels that it has lost. No duel after the last known one counts."""
    store, plan = opened.store, opened.schedule
    numbers = store.lost(plan.matches_each)
    if not numbers:
        return [], []
    duels = {duel.number: duel for duel in store.duels()}
    keys = store.keys()
    tasks = [task for number in numbers if number in duels for task in plan.tasks(duels[number]) if task.key not in keys]
    return tasks, [number for number in numbers if number not in duels]


def unplanned(opened: OpenLeague, results: Sequence[DuelResult]) -> tuple[list[MatchTask], int]:
    """Return the matches of duels after the last known one that have a replay, and the number of all these duels.

    ``results`` are those of a store that has lost nothing before the last known duel.
    """
    known = {duel.number for duel in opened.store.duels()}
    new = [duel for duel in opened.schedule.duels(results) if duel.number not in known]
    tasks = [task for duel in new for task in opened.schedule.tasks(duel)]
    return [task for task in tasks if replay_path(opened.replays, task.key).exists()], len(new)
