"""Checks a league against its replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league.folder import state_of
from referee.league.plan import LeaguePlan
from referee.support.words import counted
from referee.tournament.plan import settle
from referee.tournament.replays import ReplayCheck, ReplayStore

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    notes = [*_forfeits(plan, replays)]
    problems = replays.problems or opened.contradicted()
    total = counted(counts.total, "match")
    if counts.planned:
        notes.append(f"{counts.planned:,} of {total} {'is' if counts.planned == 1 else 'are'} not played yet.")
    if counts.stopped:
        notes.append(f"{counts.stopped:,} of {total} {'is' if counts.stopped == 1 else 'are'} not to be played; only the store says why.")
    return ReplayCheck(replays.count, problems, notes)


def _forfeits(plan: LeaguePlan, replays: ReplayStore) -> Iterator[str]:
    """Yield notes about forfeits that no replay shows. A forfeit of a team that has started is a problem."""
    for team, why in plan.forfeits.items():
        if replays.failed[team]:
            continue
        statement = f"The store says that {team} can't start ({why.rstrip('.')})"
        if replays.started[team]:
            count = counted(replays.started[team], "replay")
            shows = "show" if replays.started[team] > 1 else "shows"
            replays.problems.append(f"{statement}, so it loses all its duels, but {count} of it {shows} that it started.")
        else:
            yield f"{statement}; there is no replay of it, so only the store shows that."
