"""The fixtures of a league in each format, and the duels that they consist of.

The fixtures depend only on the plan and the results of completed rounds, not on the order in which these arrived. Fixtures that are known
never change, and new ones come after them: a duel keeps its number.

round-robin   every two teams, by the circle method
swiss         ``rounds`` rounds; each pairs teams with like points; a bye counts as a win
elimination   the loser of a fixture leaves the league; a tie is decided by totals, then by the seed order
tables        tables of ``table_size`` teams, drawn anew for each round; each team plays ``rounds`` of them
"""

from __future__ import annotations

import hmac
import itertools
from collections import Counter
from math import ceil, fsum, gcd
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.league import swiss
from referee.league.standings import table
from referee.tournament.duels import PlannedDuel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from referee.tournament.duels import DuelResult

FORMATS = ("round-robin", "swiss", "elimination", "tables")

#: Formats in which each round depends on the results of those before.
ROUND_BY_ROUND = ("swiss", "elimination")


class Fixture(NamedTuple):
    """Teams that meet in a round: two, or the teams of a table; a single team has a bye. ``round`` counts from 0."""

    round: int
    teams: tuple[str, ...]


class FixturePlan(NamedTuple):
    """Everything that decides the fixtures, besides results.

    ``teams`` are in the order of seeds, the best first. ``rounds`` is for swiss and tables, ``table_size`` for tables. ``duels_each`` is the
    number of duels of a fixture: starts x variants x repetitions. All draws are derived from ``secret``.
    """

    format: str
    teams: tuple[str, ...]
    rounds: int | None = None
    table_size: int | None = None
    duels_each: int = 1
    secret: bytes = b""


def round_count(plan: FixturePlan) -> int | None:
    """Return the number of rounds of a Swiss league or an elimination; None for formats whose fixtures are all known from the start."""
    if plan.format == "swiss":
        return plan.rounds
    return (len(plan.teams) - 1).bit_length() if plan.format == "elimination" else None


def later_fixtures(plan: FixturePlan, rounds: int, forfeits: int) -> int:
    """Return how many fixtures will follow the first ``rounds``; in a Swiss league with forfeits the number is approximate."""
    if plan.format not in ROUND_BY_ROUND:
        return 0
    later = (round_count(plan) or rounds) - rounds
    return later * ((len(plan.teams) - forfeits) // 2) if plan.format == "swiss" else (1 << later) - 1


def default_rounds(teams: int) -> int:
    """Return the number of rounds that find the best of a Swiss league; fewer teams have met everybody before."""
    return min(teams - 1 + teams % 2, max(1, (teams - 1).bit_length()))


def tables_each(teams: int, table_size: int) -> int:
    """Return how many tables each team plays by default.

    That is the smallest number at which everybody plays equally often and could have met everybody.
    """
    unit = table_size // gcd(teams, table_size)
    return unit * ceil((teams - 1) / (table_size - 1) / unit)


def check_tables(teams: int, table_size: int, rounds: int) -> None:
    """Raise UsageError if that many teams can't each play that many ``rounds`` of tables."""
    if not 2 <= table_size <= teams:
        raise UsageError(f"table_size is {table_size}, but must be from 2 to {teams}, the number of teams.")
    unit = table_size // gcd(teams, table_size)
    if rounds % unit:
        good = (rounds // unit + 1) * unit
        raise UsageError(
            f"rounds is {rounds}, but {teams} teams at tables of {table_size} play equally often only if it is a multiple of {unit}; "
            f"give rounds = {good}."
        )


def known_fixtures(plan: FixturePlan, results: Collection[DuelResult] = ()) -> tuple[Fixture, ...]:
    """Return all fixtures that are known now, from the first round on; one of a single team is a bye.

    In a Swiss league and in an elimination, these are the completed rounds and the one that is being played. A round is complete if each
    of its duels has a result; that of a duel that will not be played has no points. Raises UsageError if the results belong to another
    schedule.
    """
    if plan.format in ROUND_BY_ROUND:
        return _round_by_round(plan, results)
    if plan.format == "tables":
        return tuple(_tables(plan))
    return tuple(_round_robin(plan.teams))


def duels(fixtures: Iterable[Fixture], starts: int = 1, variants: int = 1, repeat: int = 1) -> Iterator[PlannedDuel]:
    """Return the duels of all fixtures from the first on, in schedule order. A bye has none.

    A duel's number depends only on the fixtures before its own, so it stays when fixtures are appended.
    """
    number = 0
    for fixture in fixtures:
        if len(fixture.teams) < 2:
            continue
        for start in range(starts):
            for variant in range(variants):
                for repetition in range(repeat):
                    yield PlannedDuel(number, fixture.round, fixture.teams, start, variant, repetition)
                    number += 1


def byes(fixtures: Iterable[Fixture]) -> dict[str, int]:
    """Return the number of byes of each team that had one."""
    return dict(Counter(fixture.teams[0] for fixture in fixtures if len(fixture.teams) == 1))


class BracketLine(NamedTuple):
    """A fixture of an elimination. ``points`` are those of ``teams`` in it so far; ``winner`` is the team that goes on, None while it is open.

    ``tie`` is a sentence that says why a team went on with the same points, else empty.
    """

    round: int
    teams: tuple[str, ...]
    points: tuple[float, ...]
    winner: str | None
    tie: str


def bracket(plan: FixturePlan, results: Collection[DuelResult]) -> list[BracketLine]:
    """Return the fixtures of an elimination that are known after these results, round by round."""
    by_fixture = _by_fixture(results)
    seeds = {team: seed for seed, team in enumerate(plan.teams)}
    lines = []
    for fixture in known_fixtures(plan, results):
        winner = _winner(plan, fixture, by_fixture, seeds)
        ranks = _ranks(fixture, by_fixture)
        tie = _tie(fixture, ranks, winner) if winner is not None and len(fixture.teams) > 1 else ""
        points = tuple(-rank[0] for rank in ranks.values()) if len(fixture.teams) > 1 else ()
        lines.append(BracketLine(fixture.round, fixture.teams, points, winner, tie))
    return lines


def _tie(fixture: Fixture, ranks: Mapping[str, tuple[float, ...]], winner: str) -> str:
    """Return why the winner of a fixture went on with the same points as the other team; empty if it had more."""
    loser = next(team for team in fixture.teams if team != winner)
    (points, count, total), (other_points, other_count, other_total) = ranks[winner], ranks[loser]
    if points != other_points:
        return ""
    if count != other_count:
        why = f"it has a total in {-count:g} duels, {loser} in {-other_count:g}"
    elif total != other_total:
        why = f"its total is better, {abs(total):,g} to {abs(other_total):,g}"
    else:
        why = "it stands before the other in the list of teams"
    each = f"{-points:g} point{'s' * (points != -1)}"
    return f"Round {fixture.round + 1}: {winner} and {loser} have {each} each; {winner} goes on because {why}."


def survived(plan: FixturePlan, results: Collection[DuelResult]) -> dict[str, int]:
    """Return how many rounds of an elimination each team has survived so far, byes included."""
    stages = dict.fromkeys(plan.teams, 0)
    for line in bracket(plan, results):
        if line.winner is not None:
            stages[line.winner] += 1
    return stages


def _round_robin(teams: Sequence[str]) -> Iterator[Fixture]:
    """The circle method: the first team stays, the others turn. With an odd number, one team rests in each round."""
    circle: list[str | None] = [*teams]
    if len(circle) % 2:
        circle.append(None)
    half = len(circle) // 2
    order = {team: place for place, team in enumerate(teams)}
    for number in range(len(circle) - 1):
        for a, b in zip(circle[:half], reversed(circle[half:]), strict=True):
            if a is not None and b is not None:
                yield Fixture(number, (a, b) if order[a] < order[b] else (b, a))
        circle.insert(1, circle.pop())


def _tables(plan: FixturePlan) -> Iterator[Fixture]:
    """In each round the teams are shuffled. Where the tables don't come out even, the teams that have played most rest."""
    size = plan.table_size or len(plan.teams)
    left = dict.fromkeys(plan.teams, plan.rounds or tables_each(len(plan.teams), size))
    for number in itertools.count():
        drawn = _drawn(plan, f"tables/{number}", (team for team in plan.teams if left[team]))
        if len(drawn) < size:
            return
        playing = frozenset(sorted(drawn, key=lambda team: -left[team])[: len(drawn) // size * size])
        seats = iter([team for team in drawn if team in playing])
        for table_teams in zip(*[seats] * size, strict=True):
            yield Fixture(number, table_teams)
        for team in playing:
            left[team] -= 1


def _round_by_round(plan: FixturePlan, results: Collection[DuelResult]) -> tuple[Fixture, ...]:
    """The completed rounds and the next one."""
    by_fixture = _by_fixture(results)
    through = plan.teams
    seeds = {team: seed for seed, team in enumerate(through)}
    all_fixtures: list[Fixture] = []
    for number in range(round_count(plan) or 0):
        fixtures = _swiss(plan, number, results, all_fixtures) if plan.format == "swiss" else _bracket(number, through)
        all_fixtures += fixtures
        if any(len(by_fixture.get(_key(fixture), ())) < plan.duels_each for fixture in fixtures if len(fixture.teams) > 1):
            break
        if plan.format == "elimination":
            through = tuple(_winner(plan, fixture, by_fixture, seeds) or fixture.teams[0] for fixture in fixtures)
    _refuse_strangers(all_fixtures, results)
    return tuple(all_fixtures)


def _key(fixture: Fixture | PlannedDuel) -> tuple[int, frozenset[str]]:
    return fixture.round, frozenset(fixture.teams)


def _by_fixture(results: Iterable[DuelResult]) -> dict[tuple[int, frozenset[str]], dict[int, DuelResult]]:
    """The results of each fixture by the number of the duel."""
    grouped: dict[tuple[int, frozenset[str]], dict[int, DuelResult]] = {}
    for result in results:
        grouped.setdefault(_key(result.duel), {})[result.duel.number] = result
    return grouped


def _refuse_strangers(fixtures: Sequence[Fixture], results: Iterable[DuelResult]) -> None:
    keys = {_key(fixture) for fixture in fixtures}
    for result in results:
        if _key(result.duel) not in keys:
            teams = " against ".join(map(repr, result.duel.teams))
            raise UsageError(
                f"Duel {result.duel.number} ({teams}, round {result.duel.round + 1}) belongs to another schedule than this league's."
            )


def _swiss(plan: FixturePlan, number: int, results: Collection[DuelResult], before: Sequence[Fixture]) -> list[Fixture]:
    """A round of a Swiss league: read from the results if it is complete, else paired."""
    played = sorted((result.duel for result in results if result.duel.round == number), key=lambda duel: duel.number)
    teams = list(dict.fromkeys(duel.teams for duel in played))
    if len({duel.number for duel in played}) == len(plan.teams) // 2 * plan.duels_each and len(teams) == len(plan.teams) // 2:
        resting = set(plan.teams).difference(*teams)
        return [*(Fixture(number, pair) for pair in teams), *(Fixture(number, (team,)) for team in plan.teams if team in resting)]
    had = byes(before)
    earlier = [result for result in results if result.duel.round < number]
    rows = table(earlier, plan.teams, byes=had, duels_each=plan.duels_each)
    points = {row.team: row.points for row in rows}
    drawn = _drawn(plan, f"swiss/{number}", plan.teams)
    ordered = sorted(drawn, key=lambda team: -points[team])
    free: list[Fixture] = []
    if len(ordered) % 2:
        place = {row.team: row.place for row in rows}
        fewest = min(had.get(team, 0) for team in ordered)
        lowest = max((team for team in ordered if had.get(team, 0) == fewest), key=place.__getitem__)
        ordered.remove(lowest)
        free = [Fixture(number, (lowest,))]
    met: dict[str, Counter[str]] = {team: Counter() for team in plan.teams}
    for fixture in before:
        for team in fixture.teams:
            met[team].update(other for other in fixture.teams if other != team)
    return [*(Fixture(number, pair) for pair in swiss.pairs(ordered, points, met)), *free]


def _bracket(number: int, through: Sequence[str]) -> list[Fixture]:
    """A round of an elimination. In the first, the best seeds have byes if the number of teams is no power of two."""
    if number:
        rest = iter(through)
        return [Fixture(number, pair) for pair in zip(rest, rest, strict=True)]
    places = [0]
    while len(places) < len(through):
        # Each place is split between the better seed, who stays, and the one that completes the pair: 1-4, 2-3; 1-8, 4-5, 2-7, 3-6.
        places = [seed for better in places for seed in (better, 2 * len(places) - 1 - better)]
    seeds = iter(places)
    pairs = [tuple(through[seed] for seed in sorted(pair) if seed < len(through)) for pair in zip(seeds, seeds, strict=True)]
    return [Fixture(number, pair) for pair in pairs]


def _winner(
    plan: FixturePlan, fixture: Fixture, by_fixture: Mapping[tuple[int, frozenset[str]], Mapping[int, DuelResult]], seeds: Mapping[str, int]
) -> str | None:
    """The team that survives a fixture: by points, then totals, then seed order. None while a duel of it is missing."""
    if len(fixture.teams) == 1:
        return fixture.teams[0]
    if len(by_fixture.get(_key(fixture), {})) < plan.duels_each:
        return None
    ranks = _ranks(fixture, by_fixture)
    return min(sorted(fixture.teams, key=seeds.__getitem__), key=ranks.__getitem__)


def _ranks(fixture: Fixture, by_fixture: Mapping[tuple[int, frozenset[str]], Mapping[int, DuelResult]]) -> dict[str, tuple[float, ...]]:
    """Return what decides a fixture, the smallest first: points (negative), the number of totals (negative), and their sum."""
    results = list(by_fixture.get(_key(fixture), {}).values())
    more = any(result.more_is_better for result in results)

    def rank(team: str) -> tuple[float, ...]:
        totals = [result.totals[team] for result in results if team in result.totals]
        total = fsum(totals)
        return -round(fsum(result.points.get(team, 0.0) for result in results), 9), -len(totals), -total if more else total

    return {team: rank(team) for team in fixture.teams}


def _drawn(plan: FixturePlan, purpose: str, teams: Iterable[str]) -> tuple[str, ...]:
    """The teams in an order drawn under the secret of the league."""
    return tuple(sorted(teams, key=lambda team: (hmac.digest(plan.secret, f"{purpose}/{team}".encode(), "sha256"), team)))
