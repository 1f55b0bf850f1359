"""How often the intervals of ratings hold the true ratings in simulated leagues (docs/statistics.md).

python benchmarks/intervals.py [--leagues 60] [--json]

For each kind of league and number of starts: the share of the true ratings that lie in their intervals, half the median width of these, and
the share of the leagues in which a true rank lies outside of its interval. Every draw has a fixed seed, so the same figures come out again. Cases with more than six teams have fewer leagues, so that they have as many
ratings.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from harness import Figure, run

from referee.league import schedule
from referee.tournament.elo import POINTS
from referee.tournament.ratings import intervals
from referee.tournament.duels import DuelResult, PairedComparison, PlannedDuel

STARTS = (1, 2, 3, 4, 8, 16)
#: The budgets, in percent: true ratings in their intervals, leagues with a wrong rank.
COVERED, WRONG = 93.0, 5.0
#: The standard deviation of the strengths of teams.
SPREAD = 0.8
#: The standard deviation of what a start adds to the strength of each team, where starts matter.
EFFECT = 0.8


class World:
    """The truth about some teams: each duel has the winner that the Bradley-Terry model draws.

    Strengths have the standard deviation ``SPREAD``. A start adds its own number with the standard deviation ``effect`` to the strength
    of each team. Bots that are deterministic play the same duel on a start each time.
    """

    def __init__(self, teams: int, seed: int, *, effect: float, is_deterministic: bool) -> None:
        self._random = np.random.default_rng(seed)
        self._effect, self._is_deterministic = effect, is_deterministic
        strengths = self._random.normal(0, SPREAD, teams)
        self._strengths = dict(zip(map(str, range(teams)), strengths - strengths.mean(), strict=True))
        self._on_start: dict[tuple[int, str], float] = {}
        self._played: dict[tuple[int, tuple[str, ...]], float] = {}
        # Zeger, Liang and Albert, Models for Longitudinal Data, Biometrics 44 (1988): what a random effect takes from a mean effect.
        shrink = 1 / np.sqrt(1 + 2 * (16 * np.sqrt(3) / (15 * np.pi) * effect) ** 2)
        self.truth = {team: strength * shrink * POINTS for team, strength in self._strengths.items()}
        self.places = {team: place for place, team in enumerate(sorted(self.truth, key=lambda team: -self.truth[team]), 1)}

    def play(self, duel: PlannedDuel) -> float:
        """Return the score of the first team."""
        known = self._played.get((duel.start, duel.teams))
        if known is not None and self._is_deterministic:
            return known
        a, b = (self._strengths[team] + self._added(duel.start, team) for team in duel.teams)
        score = float(self._random.random() < 1 / (1 + np.exp(b - a)))
        self._played[duel.start, duel.teams] = score
        return score

    def _added(self, start: int, team: str) -> float:
        if (start, team) not in self._on_start:
            self._on_start[start, team] = self._random.normal(0, self._effect) if self._effect else 0.0
        return self._on_start[start, team]


def league(world: World, form: str, starts: int, part: float, *, repeat: int = 1, is_by_start: bool = False) -> list[PairedComparison]:
    """Return the results of a league in the order of its schedule, up to a ``part`` of its duels."""
    teams = tuple(world.truth)
    plan = schedule.FixturePlan(form, teams, rounds=4 if form == "swiss" else None, duels_each=starts * repeat)
    results: list[DuelResult] = []
    while True:
        duels = list(schedule.duels(schedule.known_fixtures(plan, results), starts, 1, repeat))
        if is_by_start:
            duels.sort(key=lambda duel: (duel.repeat, duel.start, duel.number))
        if len(duels) == len(results):
            break
        for duel in duels[len(results) :]:
            score = world.play(duel)
            points = dict(zip(duel.teams, (score, 1 - score), strict=True))
            results.append(DuelResult(duel, points, {team: 100.0 - point for team, point in points.items()}))
    return [
        PairedComparison(*each.duel.teams, each.points[each.duel.teams[0]], each.duel.start)
        for each in results[: round(part * len(results))]
    ]


class Case(NamedTuple):
    """A kind of league: a column of the table of coverage. ``part``: which part of its duels has been played."""

    name: str
    teams: int = 6
    form: str = "round-robin"
    part: float = 1
    is_by_start: bool = False
    effect: float = 0.0
    repeat: int = 1

    def world(self, seed: int) -> World:
        """Return the truth of a league. Repeated duels are those of deterministic bots."""
        return World(self.teams, seed, effect=self.effect, is_deterministic=self.repeat > 1)

    def results(self, world: World, starts: int) -> list[PairedComparison]:
        """Return the results of a league."""
        return league(world, self.form, starts, self.part, repeat=self.repeat, is_by_start=self.is_by_start)


CASES = (
    Case("all duels"),
    Case("half, by pairs", part=0.5),
    Case("half, by starts", part=0.5, is_by_start=True),
    Case("a tenth, by pairs", part=0.1),
    Case("12 teams, Swiss", 12, "swiss"),
    Case("half of the Swiss", 12, "swiss", 0.5),
    Case("8 teams, elimination", 8, "elimination"),
    Case("starts matter", effect=EFFECT),
    Case("30 teams, starts matter", 30, effect=EFFECT),
    Case("each duel 3 times", repeat=3),
)


class Coverage(NamedTuple):
    """The share of the ratings in their intervals, the median width in Elo, and the share of leagues with a wrong rank."""

    covered: float
    width: float
    wrong: float


def measured(case: Case, starts: int, leagues: int) -> Coverage:
    """Return what holds in simulated leagues of one kind."""
    count = max(1, leagues * 6 // case.teams)
    covered, wrong, widths = 0, 0, []
    for seed in range(count):
        world = case.world(seed)
        ratings = intervals(case.results(world, starts), world.truth)
        covered += sum(each.low <= world.truth[each.team] <= each.high for each in ratings)
        wrong += any(not each.best_rank <= world.places[each.team] <= each.worst_rank for each in ratings)
        widths += [each.high - each.low for each in ratings]
    return Coverage(covered / count / case.teams, float(np.median(widths)), wrong / count)


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    figures = []
    for starts in STARTS:
        for case in CASES:
            outcome, name = measured(case, starts, options.leagues), f"{starts} starts, {case.name}"
            figures += [
                Figure(f"{name}: covered", "%", [100 * outcome.covered], None, "value", COVERED, at_least=True),
                Figure(f"{name}: half the width", "Elo", [outcome.width / 2]),
                Figure(f"{name}: wrong ranks", "%", [100 * outcome.wrong], None, "value", WRONG),
            ]
    return figures


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        rounds=(1, "without effect: every round would give the same"),
        leagues=(60, "simulated leagues of each kind"),
    )
