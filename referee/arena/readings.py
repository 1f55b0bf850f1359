"""What the server of an arena answers about versions, teams and matches."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.arena.api_models import (
    MatchAnswer,
    MatchesAnswer,
    RatingPointAnswer,
    RecordAnswer,
    SeatAnswer,
    StandingsAnswer,
    StandingsEntry,
    TeamAnswer,
    VersionAnswer,
)
from referee.arena.arena import moment
from referee.arena.history import history
from referee.arena.store import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.api_models import MatchesQuery
    from referee.arena.arena import OpenArena
    from referee.arena.history import VersionHistory
    from referee.arena.season_store import Holder, SeasonStore
    from referee.arena.store import Version
    from referee.league.values import DuelResult, MatchRecord, MatchTask


class _Read(NamedTuple):
    """What is known at one time."""

    done: int
    versions: Sequence[Version]
    results: Sequence[DuelResult]
    matches: Sequence[tuple[MatchTask, MatchRecord]]
    standings: StandingsAnswer


class Readings:
    """Answers about an open arena. Several threads may ask."""

    def __init__(self, arena: OpenArena, store: SeasonStore) -> None:
        self.arena = arena
        self.store = store
        self._lock = threading.Lock()
        self._read: _Read | None = None

    def _now(self) -> _Read:
        """Read anew if something has changed."""
        with self._lock:
            arena, store = self.arena, self.store
            done, versions = store.counts().done, store.versions()
            if self._read is None or (done, versions) != (self._read.done, self._read.versions):
                arena.plan()
                results = arena.state().results
                matches = [(one.task, one.record) for one in store.matches(done=True) if one.record is not None]
                fields = StandingsEntry.model_fields
                lines = [place.to_json() for place in arena.standings(results)]
                entries = [StandingsEntry.model_validate({name: line[name] for name in fields}) for line in lines]
                self._read = _Read(done, versions, results, matches[::-1], StandingsAnswer(entries=entries))
            return self._read

    def standings(self) -> StandingsAnswer:
        """Return the versions that play, the best first."""
        return self._now().standings

    def played(self) -> int:
        """Return how many matches were played."""
        return self._now().done

    def team(self, name: str, holder: Holder | None) -> TeamAnswer | None:
        """Return a team as somebody may see it; None if there is no such team."""
        read = self._now()
        own = [version for version in read.versions if version.team == name]
        if not own and name not in self.store.invited():
            return None
        found = history(self.arena, name, read.results) if own else []
        sees_all = holder is not None and holder.team in (None, name)
        shown = [one for one in found if sees_all or one.version.status == ACCEPTED]
        teams = {version.name: version.team for version in read.versions}
        against: dict[str, Counter[str]] = {}
        for one in found:
            for record in one.records:
                against.setdefault(teams[record.opponent], Counter()).update(won=record.won, tied=record.tied, lost=record.lost)
        return TeamAnswer(
            team=name,
            is_reference=bool(own) and own[0].is_reference,
            disqualified=self.store.disqualified().get(name),
            versions=[_version(one, sees_all=sees_all) for one in shown],
            ratings=[
                RatingPointAnswer(
                    version=one.version.number, duels=point.duels, time=moment(point.time), rating=point.elo, low=point.low, high=point.high
                )
                for one in found
                for point in one.points
            ],
            against=[
                RecordAnswer(team=team, won=sums["won"], tied=sums["tied"], lost=sums["lost"], duels=sums.total())
                for team, sums in against.items()
            ],
        )

    def matches(self, asked: MatchesQuery) -> MatchesAnswer:
        """Return matches, the latest first."""
        read = self._now()
        named = {version.name: version for version in read.versions}
        found: list[MatchAnswer] = []
        for task, record in read.matches:
            order = _order(task)
            teams = [named[name] for name in task.seats.values() if name in named]
            if (asked.before is None or order < asked.before) and _concerns(teams, asked):
                found.append(_match(task, record, named))
                if len(found) > asked.limit:
                    break
        page = found[: asked.limit]
        return MatchesAnswer(matches=page, next=page[-1].order if len(found) > asked.limit else None)

    def match(self, key: str) -> tuple[MatchAnswer, str] | None:
        """Return a match that was played, and its replay's path in the arena's folder; None if there is none."""
        read = self._now()
        named = {version.name: version for version in read.versions}
        return next(((_match(task, record, named), record.replay) for task, record in read.matches if task.key == key), None)


def _version(one: VersionHistory, *, sees_all: bool) -> VersionAnswer:
    version, rating = one.version, one.rating
    return VersionAnswer(
        version=version.number,
        status=version.status,
        note=version.note,
        submitted=moment(version.submitted),
        is_active=version.is_active,
        rating=None if rating is None else rating.elo,
        low=None if rating is None else rating.low,
        high=None if rating is None else rating.high,
        duels=one.duels,
        report=dict(version.report) if sees_all else None,
    )


def _concerns(teams: Sequence[Version], asked: MatchesQuery) -> bool:
    """True if a match between these versions is one that was asked for."""
    if asked.team is None:
        return True
    for version in teams:
        others = {other.team for other in teams if other is not version}
        is_version = asked.team == version.team and asked.version in (None, version.number)
        if is_version and (asked.opponent is None or asked.opponent in others):
            return True
    return False


def _order(task: MatchTask) -> int:
    return 2 * task.duel + task.game_number


def _match(task: MatchTask, record: MatchRecord, named: dict[str, Version]) -> MatchAnswer:
    def seat(name: str) -> SeatAnswer:
        version = named.get(name)
        return SeatAnswer(team=name, version=None) if version is None else SeatAnswer(team=version.team, version=version.number)

    return MatchAnswer(
        id=task.key,
        order=_order(task),
        seats={one: seat(name) for one, name in task.seats.items()},
        winner=record.winner,
        reason=record.reason,
        scores=dict(record.scores),
        steps=record.steps,
        faults=dict(record.fault_kinds),
        seconds=round(record.wall_seconds, 3),
    )
