"""Results of leagues that nobody played: each team has a strength, and the stronger one wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.league import schedule
from referee.tournament.values import DuelResult, PlannedDuel

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.league.schedule import FixturePlan
    from referee.tournament.values import Fixture


def duel_count(plan: FixturePlan) -> int:
    """Return the number of duels of the whole league."""
    size = len(plan.teams)
    if plan.format == "round-robin":
        fixtures = size * (size - 1) // 2
    elif plan.format == "swiss":
        fixtures = (plan.rounds or 0) * (size // 2)
    elif plan.format == "elimination":
        fixtures = size - 1
    else:
        seats = plan.table_size or size
        fixtures = size * (plan.rounds or schedule.tables_each(size, seats)) // seats
    return fixtures * plan.duels_each


def result(
    number: int, points: dict[str, float], totals: dict[str, float] | None = None, *, round_: int = 0, more: bool = False
) -> DuelResult:
    return DuelResult(PlannedDuel(number, round_, tuple(points)), points, totals or {}, more_is_better=more)


def beats(number: int, winner: str, loser: str, steps: tuple[float, float] = (100, 200), *, round_: int = 0) -> DuelResult:
    return result(number, {winner: 1.0, loser: 0.0}, dict(zip((winner, loser), steps, strict=True)), round_=round_)


def ties(number: int, a: str, b: str, steps: float = 100, *, round_: int = 0) -> DuelResult:
    return result(number, {a: 0.5, b: 0.5}, {a: steps, b: steps}, round_=round_)


def by_strength(duel: PlannedDuel) -> DuelResult:
    """The team whose name is first in the alphabet wins."""
    best = min(duel.teams)
    return DuelResult(duel, {team: float(team == best) for team in duel.teams}, {team: 100 if team == best else 200 for team in duel.teams})


def all_tied(duel: PlannedDuel) -> DuelResult:
    return DuelResult(duel, dict.fromkeys(duel.teams, 0.5), dict.fromkeys(duel.teams, 100))


def played(plan: FixturePlan, judge: Callable[[PlannedDuel], DuelResult] = by_strength) -> tuple[tuple[Fixture, ...], list[DuelResult]]:
    """The fixtures and the results of a whole league."""
    results: list[DuelResult] = []
    while True:
        fixtures = schedule.known_fixtures(plan, results)
        due = list(schedule.duels(fixtures, starts=plan.duels_each))[len(results) :]
        if not due:
            return fixtures, results
        results += [judge(duel) for duel in due]
