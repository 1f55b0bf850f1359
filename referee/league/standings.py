"""The standings of a league, computed only from the results of its duels.

Teams are ordered by match points, then by totals, then by head to head. Teams that are equal in all three share a place. In a league by
elimination the rounds that a team survived come first. In a Swiss league Buchholz comes after the points: the sum of the points of all
opponents (B. Buchholz, 1932). While matches are missing, points a duel count instead of points.

A total is compared per duel, which is the order of the sums where everybody played equally often. A bye, and a duel that another team
forfeited, have no total and change nothing. A duel that a team played without getting a total (its hunter failed) is worse than any total.

Head to head decides between teams that are level on points and totals if each of them met each other one equally often. Teams that it
leaves level are compared again among themselves.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from math import fsum, inf
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.tournament.duels import comparisons

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from referee.tournament.duels import DuelResult

    #: Two teams at one table, the points of the first against the second, and of the second against the first.
    Meeting = tuple[str, str, float, float]


class StandingsRow(NamedTuple):
    """A team's line in the standings.

    ``shared`` is True if another team has the same place. ``played`` counts duels, forfeited ones included and byes not. ``total`` is the
    sum of the team's totals, ``missing`` the number of duels that it played without getting one. ``head_to_head`` is its points against
    the teams that are level with it on points and totals, None if head to head was not needed or could not decide. ``stage`` is the
    number of rounds that it survived in a league by elimination, ``buchholz`` the sum of its opponents' points in a Swiss league.
    """

    place: int
    shared: bool
    team: str
    played: int
    won: int
    tied: int
    lost: int
    byes: int
    forfeits: int
    points: float
    total: float
    missing: int
    head_to_head: float | None = None
    stage: int = 0
    buchholz: float | None = None

    @property
    def shown_place(self) -> str:
        """The place as tables show it: "1=" if it is shared."""
        return f"{self.place}{'=' if self.shared else ''}"


#: Which team goes on in an elimination: ``schedule.bracket`` finds it.
FIXTURE_RULE = (
    "The team with more points in the duels of a fixture goes on. With the same points, the team with a total in more of these duels goes on, "
    "then the one with the better total, then the one that stands first in the list of teams."
)


def rule(kind: str, *, is_live: bool) -> str:
    """Return how teams are ordered in a league of this format, as a sentence. ``is_live``: as long as matches are missing."""
    firsts = {
        "elimination": "The rounds that a team survived decide the place, then its points",
        "swiss": "Points decide the place, then Buchholz, the sum of the points of all opponents",
    }
    first = firsts.get(kind, "Points decide the place")
    if is_live and kind != "elimination":
        first = f"While matches are missing, {first.replace('Points decide', 'points a duel decide', 1)}"
    return f"{first}, then the totals, then the duels between the teams."


def table(
    results: Collection[DuelResult],
    teams: Sequence[str],
    *,
    byes: Mapping[str, int] | None = None,
    duels_each: int = 1,
    stages: Mapping[str, int] | None = None,
    more_is_better: bool | None = None,
    has_buchholz: bool = False,
    is_live: bool = False,
) -> tuple[StandingsRow, ...]:
    """Return the standings, best team first; teams on a shared place have the order of ``teams``.

    ``byes`` is the number of byes of each team. A bye counts as a fixture won: ``duels_each`` points. ``stages`` are the rounds that each
    team survived in a league by elimination; they count before points. ``more_is_better`` says how totals compare, None: as the results
    say. ``has_buchholz`` is for Swiss leagues. ``is_live`` orders by points a duel: the teams haven't played equally often. Raises UsageError
    if a result names a team that is not among ``teams``. The order of the results does not matter.
    """
    if more_is_better is None:
        more_is_better = any(result.more_is_better for result in results)
    form = _Form(byes or {}, duels_each, stages or {}, more_is_better, has_buchholz, is_live)
    sums = sorted(_sums(results, teams, form), key=itemgetter(0))
    level = [[row for _, row in group] for _, group in groupby(sums, key=itemgetter(0))]
    meetings = _meetings_within(results, [[team.team for team in group] for group in level if len(group) > 1])
    rows: list[StandingsRow] = []
    for group in level:
        by_name = {team.team: team for team in group}
        points, places = _head_to_head(list(by_name), meetings.get(group[0].team, []))
        for names in places:
            place = len(rows) + 1
            shared = len(names) > 1
            rows.extend(by_name[name]._replace(place=place, shared=shared, head_to_head=points.get(name)) for name in names)
    return tuple(rows)


class _Form(NamedTuple):
    """What decides the order besides the results: see ``table``."""

    byes: Mapping[str, int]
    duels_each: int
    stages: Mapping[str, int]
    more_is_better: bool
    has_buchholz: bool
    is_live: bool


def _sums(results: Collection[DuelResult], teams: Sequence[str], form: _Form) -> Iterator[tuple[tuple[float, ...], StandingsRow]]:
    """The row of each team without its place, in the order of ``teams``, with what the place is by: the smallest is first."""
    points: dict[str, list[float]] = {team: [] for team in teams}
    totals: dict[str, list[float]] = {team: [] for team in teams}
    ends: dict[str, Counter[str]] = {team: Counter() for team in teams}
    for result in results:
        counted = _totals(result)
        for team in result.duel.teams:
            if team not in points:
                raise UsageError(f"Duel {result.duel.number} has the team {team!r:.60}, which is not in the league.")
            if not result.points:
                continue
            points[team].append(result.points.get(team, 0.0))
            ends[team][_end(result, team)] += 1
            if team in counted:
                totals[team].append(counted[team])
            elif team in result.forfeits or not result.forfeits:
                ends[team]["missing"] += 1
            if team in result.forfeits:
                ends[team]["forfeits"] += 1
    # Shares of a table are thirds and the like: rounding makes equal sums equal.
    scores = {team: round(fsum([*points[team], float(form.byes.get(team, 0) * form.duels_each)]), 9) for team in teams}
    buchholz = _buchholz(results, scores, form.byes) if form.has_buchholz else {}
    for team in teams:
        end, free, stage = ends[team], form.byes.get(team, 0), form.stages.get(team, 0)
        total, missing = fsum(totals[team]), end["missing"]
        got = len(totals[team])
        mean = total / got if got else (0.0 if form.more_is_better else inf)
        missed = missing / (got + missing) if missing else 0.0
        if not got and not missing:
            # Nothing was played that has a total. Such a team stands behind those that got one.
            missed = 1.0
        won, tied, lost = end["won"], end["tied"], end["lost"]
        played, opponents = won + tied + lost, buchholz.get(team)
        score = round(scores[team] / max(1, played + free * form.duels_each), 9) if form.is_live else scores[team]
        rank = (-stage, -score, -(opponents or 0.0), missed, -mean if form.more_is_better else mean)
        row = StandingsRow(
            0, False, team, played, won, tied, lost, free, end["forfeits"], scores[team], total, missing, None, stage, opponents
        )
        yield rank, row


def _buchholz(results: Iterable[DuelResult], scores: Mapping[str, float], byes: Mapping[str, int]) -> dict[str, float]:
    """Return the sum of the points of each team's opponents, once for each round. A bye counts as an opponent with the team's own points."""
    met: dict[str, set[tuple[int, str]]] = {team: set() for team in scores}
    for result in results:
        if result.points:
            for team in result.duel.teams:
                met[team] |= {(result.duel.round, other) for other in result.duel.teams if other != team}
    return {
        team: round(fsum([*(scores[other] for _, other in opponents), byes.get(team, 0) * scores[team]]), 9)
        for team, opponents in met.items()
    }


def _totals(result: DuelResult) -> Mapping[str, float]:
    """The totals that count: none if the duel was not played because a team forfeited."""
    was_played = not result.forfeits or (len(result.duel.teams) > 2 and any(result.totals.values()))
    return result.totals if was_played else {}


def _end(result: DuelResult, team: str) -> str:
    """Return how a duel ended for a team: "won" if only it has the most points, "tied" if it shares them, else "lost"."""
    points = result.points.get(team, 0.0)
    if team in result.forfeits:
        return "lost"
    best = max(result.points.values())
    if points < best:
        return "lost"
    return "won" if sum(value == best for value in result.points.values()) == 1 else "tied"


def _meetings(result: DuelResult) -> Iterator[Meeting]:
    """Every two teams of a duel with their points against each other."""
    for a, b, score, _ in comparisons(result):
        points = (0.0, 0.0) if {a, b} <= {*result.forfeits} else (score, 1 - score)
        yield a, b, *points


def _meetings_within(results: Iterable[DuelResult], groups: Sequence[Sequence[str]]) -> dict[str, list[Meeting]]:
    """The meetings inside of each group of level teams, by the group's first team."""
    group_of = {team: group[0] for group in groups for team in group}
    meetings: dict[str, list[Meeting]] = {}
    if not group_of:
        return meetings
    for result in results:
        if sum(team in group_of for team in result.duel.teams) < 2:
            continue
        for meeting in _meetings(result):
            group = group_of.get(meeting[0])
            if group is not None and group == group_of.get(meeting[1]):
                meetings.setdefault(group, []).append(meeting)
    return meetings


def _head_to_head(teams: list[str], meetings: Sequence[Meeting]) -> tuple[dict[str, float], list[list[str]]]:
    """The points of level teams against each other, and the teams by place, best first. The points are empty if they decide nothing."""
    if len(teams) < 2 or not _all_met(teams, meetings):
        return {}, [teams]
    points = dict.fromkeys(teams, 0.0)
    for a, b, of_a, of_b in meetings:
        points[a] += of_a
        points[b] += of_b
    ordered = sorted(teams, key=lambda team: -points[team])
    groups = [list(group) for _, group in groupby(ordered, key=lambda team: points[team])]
    if len(groups) == 1:
        return points, groups
    places: list[list[str]] = []
    for group in groups:
        members = set(group)
        places += _head_to_head(group, [meeting for meeting in meetings if meeting[0] in members and meeting[1] in members])[1]
    return points, places


def _all_met(teams: Sequence[str], meetings: Sequence[Meeting]) -> bool:
    """True if each of these teams met each other one equally often, and at least once."""
    pairs = len(teams) * (len(teams) - 1) // 2
    if len(meetings) < pairs or len(meetings) % pairs:
        return False
    counts = Counter(frozenset(meeting[:2]) for meeting in meetings)
    return len(counts) == pairs and len(set(counts.values())) == 1
