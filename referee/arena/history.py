"""The history of a team: its versions, their ratings over time, and their records against each opponent."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from referee.arena.versions import named
from referee.support.times import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.arena import OpenArena
    from referee.arena.ratings import RatingPoint
    from referee.arena.state import ArenaState
    from referee.arena.versions import Version
    from referee.games.game import Json
    from referee.tournament.ratings import Rating


class HeadToHead(NamedTuple):
    """The results of a version against another one, in duels."""

    opponent: str
    won: int
    tied: int
    lost: int
    duels: int


class VersionHistory(NamedTuple):
    """A version with its rating of today, None if it was refused; its ratings over time; and its records, of the most duels first."""

    version: Version
    rating: Rating | None
    points: tuple[RatingPoint, ...]
    records: tuple[HeadToHead, ...]

    @property
    def duels(self) -> int:
        """All duels of the version that count."""
        return sum(record.duels for record in self.records)

    def to_json(self) -> dict[str, Json]:
        """The version as ``--json`` prints it."""
        version, rating = self.version, self.rating
        return {
            "version": version.number,
            "name": version.name,
            "status": version.status,
            "note": version.note,
            "hash": version.hash,
            "submitted": moment(version.submitted),
            "is_active": version.is_active,
            "report": dict(version.report),
            "rating": None if rating is None else _rounded(rating),
            "duels": self.duels,
            "ratings": [{"duels": point.duels, "time": moment(point.time), **_rounded(point)} for point in self.points],
            "against": [record._asdict() for record in self.records],
        }


def _rounded(rating: Rating | RatingPoint) -> dict[str, Json]:
    return {"elo": round(rating.elo, 2), "low": round(rating.low, 2), "high": round(rating.high, 2)}


def histories(arena: OpenArena, teams: Sequence[str]) -> dict[str, list[VersionHistory]]:
    """Return the versions of some teams, the oldest first. UsageError for an unknown team."""
    versions = [version for team in teams for version in sorted(named(arena.versions, team), key=lambda version: version.number)]
    names = [version.name for version in versions if version.name in arena.entries]
    rated = {rating.team: rating for rating in arena.rater.rated(among=names)} if names else {}
    points = defaultdict(list)
    for point in arena.store.ratings.of(names):
        points[point.name].append(point)
    by_team: dict[str, list[VersionHistory]] = {team: [] for team in teams}
    for version in versions:
        history = VersionHistory(version, rated.get(version.name), tuple(points[version.name]), records(arena.results, version.name))
        by_team[version.team].append(history)
    return by_team


def records(state: ArenaState, name: str) -> tuple[HeadToHead, ...]:
    """Return the records of a version against each opponent, of the most duels first."""
    if name not in state.positions:
        return ()
    against = state.against([state.positions[name]])
    team_records = [HeadToHead(state.names[other], won, tied, lost, won + tied + lost) for other, (lost, tied, won) in against.items()]
    return tuple(sorted(team_records, key=lambda record: (-record.duels, record.opponent)))
