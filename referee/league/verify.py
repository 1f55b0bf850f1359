"""Checks a league against its replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.folder import state_of
from referee.league.plan import LeaguePlan
from referee.tournament.plan import settle
from referee.tournament.replays import ReplayCheck, ReplayStore, unplayed

if TYPE_CHECKING:
    from referee.league.league import OpenLeague
    from referee.tournament.replays import Progress


def verify_league(opened: OpenLeague, progress: Progress | None = None) -> ReplayCheck:
    """Simulate every replay again, compare it with the store, and compute the results only from the replays.

    If no replay differs from its record, the standings are those of the store: they follow from the records. The league may be running:
    matches that end meanwhile are no problem.
    """
    replays = ReplayStore(opened.store, opened.folder, opened.replays, opened.schedule.game, progress)
    plan = LeaguePlan(opened.schedule)
    turns = settle(plan, replays)
    counts = state_of(plan, sum(record.has_result for record in turns.records.values()), 0).counts
    notes = [*replays.forfeits(plan.forfeits.items()), *unplayed(counts.planned, counts.stopped, counts.total)]
    problems = replays.problems or opened.contradicted()
    return ReplayCheck(replays.count, problems, notes)
