"""Tallies of a league's duels by team and by pair of teams. They come from the duels in a report, so that both agree."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from referee.games.game import Seat
    from referee.league.report import DuelLine
    from referee.tournament.values import Record


class TeamTally:
    """The matches of one team: how they ended and how many were played and won, by seat; and the time that the team used, in seconds."""

    def __init__(self) -> None:
        self.ended: Counter[tuple[Seat, str]] = Counter()
        self.played: Counter[Seat] = Counter()
        self.won: Counter[Seat] = Counter()
        self.faults = self.steps = self.timed = 0
        self.seconds = self.slowest = 0.0
        #: The numbers of the duel and of the match with the slowest answer, in the form of addresses; "" without one.
        self.slowest_match = ""

    @property
    def mean(self) -> float:
        """The mean time of a match; 0 if none was timed."""
        return self.seconds / self.timed if self.timed else 0.0

    def add(self, seat: Seat, record: Record, key: str) -> None:
        """Count a match that the team played in a seat."""
        self.ended[seat, record.reason] += 1
        self.played[seat] += 1
        self.won[seat] += record.winner == seat
        self.faults += seat in record.faults
        seconds, slowest = record.seconds.get(seat, math.nan), record.slowest.get(seat, math.nan)
        if math.isfinite(seconds):
            self.seconds += seconds
            self.steps += record.steps
            self.timed += 1
        if math.isfinite(slowest) and slowest > self.slowest:
            self.slowest, self.slowest_match = slowest, key


def tallies(teams: Iterable[str], duels: Iterable[DuelLine]) -> dict[str, TeamTally]:
    """Return the tally of each team."""
    by_team = {team: TeamTally() for team in teams}
    for duel in duels:
        for match in duel.matches:
            for seat, team in match.seats.items():
                if team in by_team:
                    by_team[team].add(seat, match.record, f"{duel.number}.{match.number}")
    return by_team


def endings(team_tallies: Iterable[TeamTally], duels: Iterable[DuelLine]) -> list[tuple[Seat, list[str]]]:
    """Return the seats in the order in which matches name them, each with the reasons of its endings, the most frequent first."""
    totals: Counter[tuple[Seat, str]] = Counter()
    for tally in team_tallies:
        totals.update(tally.ended)
    seats = dict.fromkeys(seat for duel in duels for match in duel.matches for seat in match.seats)
    reasons = [(seat, [reason for (other, reason), _ in totals.most_common() if other == seat]) for seat in seats]
    return [(seat, seat_reasons) for seat, seat_reasons in reasons if seat_reasons]


def crosstable(teams: Sequence[str], duels: Iterable[DuelLine]) -> dict[tuple[str, str], float]:
    """Return the points of each team against each other that it has met; at a table of many, a team has beaten those with fewer points."""
    members = set(teams)
    table: dict[tuple[str, str], float] = {}
    for duel in duels:
        if not set(duel.teams) <= duel.points.keys():
            # A duel that counts for nobody has no points.
            continue
        for a in duel.teams:
            for b in duel.teams:
                if a != b and a in members and b in members:
                    table[a, b] = table.get((a, b), 0.0) + _against(duel.points, a, b, len(duel.teams))
    return table


def _against(points: Mapping[str, float], a: str, b: str, teams: int) -> float:
    return points[a] if teams == 2 else 1.0 if points[a] > points[b] else 0.5 if points[a] == points[b] else 0.0
