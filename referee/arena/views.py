"""The views of an arena for pages and the HTTP API, within a few milliseconds at any size: standings, teams, and matches in pages.

They come from an ``ArenaState``, which reads only new results, and from the ratings that the process that plays records after each batch of
duels.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import Counter, OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from referee.arena import api_models as models
from referee.arena.state import ArenaState
from referee.arena.versions import ACCEPTED, named
from referee.errors import UsageError
from referee.support.times import moment
from referee.tournament.elo import POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.arena.duels import ArenaDuel, DuelMatch
    from referee.arena.ratings import RatingPoint
    from referee.arena.store import ArenaStore
    from referee.arena.versions import Version
    from referee.tournament.store import Tally

_T = TypeVar("_T")
_P = ParamSpec("_P")
#: The reach of the interval of a version that has no recorded rating yet, in Elo: that of a version which has played nothing.
_UNKNOWN = 1.96 * 2 * POINTS
#: Seconds after which a stored list of running matches is out of date, because the process that plays stores it all the time.
_TOLD_SECONDS = 15.0
#: The seconds of a day, for trends; and the last duels from which pages count by seat, faults and hosts.
_DAY, _RECENT = 86_400.0, 200
#: The duels whose matches are kept in memory.
_KEPT_DUELS = 2048
#: An answer stays valid for this multiple of the time that reading it took.
_LONG = 20.0


class HostMatches(NamedTuple):
    """How many matches a host has played, and when the last one ended."""

    matches: int
    last: str


class FaultCount(NamedTuple):
    """How many faults of a kind a team had."""

    team: str
    kind: str
    times: int


class SeatTotal(NamedTuple):
    """How many matches a team has won in a seat, and how many it has played."""

    won: int = 0
    played: int = 0


class RecentMatches(NamedTuple):
    """How many matches there are of the last duels, the faults by team, and the hosts that played."""

    matches: int
    faults: list[FaultCount]
    hosts: Mapping[str, HostMatches]


class WorkersNow(NamedTuple):
    """The host of the process that plays, how many matches it plays at once, and the matches; None and no match if nobody plays."""

    host: str | None
    slots: int | None
    matches: list[models.MatchAnswer]


def _view(answer: Callable[Concatenate[ArenaViews, _P], _T]) -> Callable[Concatenate[ArenaViews, _P], _T]:
    """Decorate a view: one thread at a time calls it, and new results are read from the store first."""

    @functools.wraps(answer)
    def asked(self: ArenaViews, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._lock:
            self._refresh()
            return answer(self, *args, **kwargs)

    return asked


def _shared(factor: float = 1.0) -> Callable[[Callable[[ArenaViews], _T]], Callable[[ArenaViews], _T]]:
    """Let a view return what it has returned within ``factor`` times ``stale_seconds``: it is the same for everybody."""

    def shared(answer: Callable[[ArenaViews], _T]) -> Callable[[ArenaViews], _T]:
        @functools.wraps(answer)
        def asked(self: ArenaViews) -> _T:
            with self._lock:
                due, value = self._cache.get(answer.__name__, (0.0, None))
                if monotonic() >= due:
                    self._refresh()
                    value = answer(self)
                    self._cache[answer.__name__] = (monotonic() + factor * self._stale_seconds, value)
                result: _T = value
                return result

        return asked

    return shared


class ArenaViews:
    """Views of an arena. Each call first takes what is new in the store, unless another one did so within ``stale_seconds``.

    Several threads may ask.
    """

    def __init__(self, store: ArenaStore, *, stale_seconds: float = 0.0) -> None:
        self._store = store
        self._stale_seconds = stale_seconds
        self._lock = threading.RLock()
        self._due = 0.0
        self._state = ArenaState(store)
        self._versions: list[Version] = []
        self._by_name: dict[str, Version] = {}
        self._strengths: tuple[float, ...] = ()
        self._elo: dict[str, float] = {}
        self._mark = -1
        self._tally: Tally | None = None
        #: The duels without a certain result, as of the last refresh; None: not read since.
        self._unsettled: list[ArenaDuel] | None = None
        #: The matches of duels; and those of a team whose results are certain, each as the opponent's team, the own seat and whether it was won.
        self._matches: OrderedDict[int, list[models.MatchAnswer]] = OrderedDict()
        self._seats: dict[str, dict[int, list[tuple[str, str, bool]]]] = {}
        #: The answers that are the same for everybody, each with the time until which it is good.
        self._cache: dict[str, tuple[float, Any]] = {}
        #: Those that are good until something changes, each with what says so.
        self._lasting: dict[str, tuple[object, Any]] = {}

    def renew(self) -> None:
        """Read everything again after a change by this process."""
        with self._lock:
            self._due = 0.0
            self._cache.clear()
            self._lasting.clear()

    @_view
    def lasting(self, name: str, read: Callable[[], _T]) -> _T:
        """Return what ``read`` has returned since there were new results, versions or ratings."""
        rated = max((point.duels for point in self._state.rated.values()), default=-1)
        # Ages are shown in minutes.
        return self._unchanged(name, (len(self._state), self._mark, rated, self._strengths, time.time() // 60), read)

    @_view
    def of_results(self, kind: str, team: str, read: Callable[[], _T]) -> _T:
        """Return what ``read`` has returned since a team had new results or versions. UsageError if there is no such team."""
        return self._unchanged(f"{kind} {team}", int(self._state.planned[self._positions(team, None)].sum()), read)

    @_view
    def of_ratings(self, team: str, read: Callable[[list[tuple[int, RatingPoint]]], _T]) -> _T:
        """Return what ``read`` has made of a team's ratings, each with the version's number, since there were new ones."""
        points = (self._state.rated.get(version.name) for version in named(self._versions, team))
        last = max((point.duels for point in points if point is not None), default=-1)
        return self._unchanged(f"ratings {team}", last, lambda: read(self._ratings(team)))

    def _unchanged(self, name: str, mark: object, read: Callable[[], _T]) -> _T:
        cached = self._lasting.get(name)
        if cached is None or cached[0] != mark:
            cached = self._lasting[name] = (mark, read())
        value: _T = cached[1]
        return value

    def _refresh(self) -> None:
        if monotonic() < self._due:
            return
        self._due = monotonic() + self._stale_seconds
        for duel in self._unsettled or ():
            self._matches.pop(duel.number, None)
        self._unsettled = None
        self._state.catch_up()
        mark = self._store.season.changes()
        if mark != self._mark:
            self._versions = self._store.versions.all()
            self._by_name = {version.name: version for version in self._versions}
            self._mark = mark
        stored = self._store.ratings.strengths()
        latest = stored.now or stored.of
        if latest == self._strengths and len(self._elo) == len(self._state.names):
            return
        self._strengths = latest
        strengths = [*latest, *[0.0] * (len(self._state.names) - len(latest))]
        mean = sum(strengths) / len(strengths) if strengths else 0.0
        self._elo = {name: (strength - mean) * POINTS for name, strength in zip(self._state.names, strengths, strict=False)}

    def _interval(self, name: str) -> tuple[float, float, float]:
        """Return the rating of today, with the reach of the last interval that was recorded."""
        elo, point = self._elo[name], self._state.rated.get(name)
        below, above = (_UNKNOWN, _UNKNOWN) if point is None else (point.elo - point.low, point.high - point.elo)
        return round(elo, 2), round(elo - below, 2), round(elo + above, 2)

    @_shared()
    def played(self) -> int:
        """Return how many matches are done."""
        self._tally = self._store.core.tally(self._tally)
        return self._tally.played

    @_shared()
    def standings(self) -> models.StandingsAnswer:
        """The active versions, best rating first. A version without duels has the rating of an average one, and a wide interval."""
        active = [version for version in self._versions if version.is_active and version.name in self._elo]
        active.sort(key=lambda version: (-self._elo[version.name], version.name))
        entries = []
        for rank, version in enumerate(active, 1):
            rating, low, high = self._interval(version.name)
            entry = models.StandingsEntry(
                rank=rank,
                team=version.team,
                version=version.number,
                rating=rating,
                low=low,
                high=high,
                duels=self._duels(version),
                is_reference=version.is_reference,
                submitted=moment(version.submitted),
            )
            entries.append(entry)
        return models.StandingsAnswer(entries=entries)

    def _duels(self, version: Version) -> int:
        return int(self._state.counted[self._state.positions[version.name]])

    @_shared(6 * _LONG)
    def trends(self) -> dict[str, float]:
        """How the rating of each team's active version has changed since a day ago; that of a newer one, since the version before it."""
        rated = [version for version in self._versions if version.name in self._elo]
        earlier = self._store.ratings.at([version.name for version in rated if version.is_active], time.time() - _DAY)
        last: dict[str, float] = {}
        changes: dict[str, float] = {}
        for version in sorted(rated, key=lambda version: version.number):
            before = earlier.get(version.name, last.get(version.team))
            if version.is_active and before is not None:
                changes[version.team] = self._elo[version.name] - before
            last[version.team] = self._elo[version.name]
        return changes

    @_view
    def by_seat(self, name: str) -> dict[tuple[str, str], SeatTotal]:
        """The matches of a team by the opponent's team and the own seat, of its last 200 duels."""
        numbers = self._state.duels_of(self._positions(name, None), None, len(self._state), _RECENT)
        before, names = self._seats.get(name, {}), {version.name for version in named(self._versions, name)}
        by_duel = {number: before.get(number, []) for number in numbers}
        for match in self._store.duels.matches_of([number for number in numbers if number not in before]):
            seats = match.task.names
            pairs = [(seat, other) for seat, version in seats.items() if version in names for other in seats.values() if other not in names]
            by_duel[match.duel] += [(self._team(other), seat, match.record.winner == seat) for seat, other in pairs]
        self._seats[name] = by_duel
        totals: dict[tuple[str, str], SeatTotal] = {}
        for other, seat, is_won in (result for results in by_duel.values() for result in results):
            won, played = totals.get((other, seat), SeatTotal())
            totals[other, seat] = SeatTotal(won + is_won, played + 1)
        return totals

    @_shared(_LONG)
    def recent(self) -> RecentMatches:
        """Return what the matches of the last 200 duels show."""
        end = len(self._state) + len(self._open())
        matches = self._store.duels.matches_of(range(max(0, end - _RECENT), end))
        faults: Counter[tuple[str, str]] = Counter()
        hosts: dict[str, HostMatches] = {}
        for _, _, task, record, ended in matches:
            faults.update((self._team(task.names[seat]), kind) for seat, kind in record.fault_kinds.items())
            before = hosts.get(record.host, HostMatches(0, moment(0.0)))
            hosts[record.host] = HostMatches(before.matches + 1, max(before.last, moment(ended)))
        return RecentMatches(len(matches), [FaultCount(*of, count) for of, count in sorted(faults.items())], hosts)

    @_view
    def team(self, name: str, *, sees_all: bool = True, is_whole: bool = True) -> models.TeamAnswer:
        """A team. UsageError if there is no such team.

        Without ``sees_all`` it has no reports and no versions that were refused; without ``is_whole`` no ratings and no record.
        """
        mine = sorted(named(self._versions, name), key=lambda version: version.number)
        return models.TeamAnswer(
            team=name,
            is_reference=mine[0].is_reference,
            disqualified=self._store.versions.disqualified().get(name),
            versions=[self._version(version, sees_all=sees_all) for version in mine if sees_all or version.status == ACCEPTED],
            ratings=[_point(number, point) for number, point in self._ratings(name)] if is_whole else [],
            against=self.against(name) if is_whole else [],
        )

    def _ratings(self, name: str) -> list[tuple[int, RatingPoint]]:
        mine = {version.name: version.number for version in named(self._versions, name)}
        return [(mine[point.name], point) for point in self._store.ratings.of(list(mine))]

    @_view
    def against(self, name: str) -> list[models.RecordAnswer]:
        """The record of all versions of a team together by the opponent's team, most duels first."""
        names, first = self._state.names, dict[str, int]()
        # A team's number is that of its first version.
        numbers = (first.setdefault(self._team(version_name), at) for at, version_name in enumerate(names))
        teams = self._unchanged("teams", len(names), lambda: np.fromiter(numbers, np.int64, len(names)))
        records = self._state.against(self._positions(name, None), teams)
        played = [(self._team(names[at]), won, tied, lost) for at, (lost, tied, won) in records.items()]
        ordered = sorted((record for record in played if record[0] != name), key=lambda record: (-sum(record[1:]), record[0]))
        return [models.RecordAnswer(team=team, won=won, tied=tied, lost=lost, duels=won + tied + lost) for team, won, tied, lost in ordered]

    def _version(self, version: Version, *, sees_all: bool) -> models.VersionAnswer:
        is_rated = version.name in self._elo
        rating, low, high = self._interval(version.name) if is_rated else (None, None, None)
        return models.VersionAnswer(
            version=version.number,
            status=version.status,
            note=version.note,
            submitted=moment(version.submitted),
            is_active=version.is_active,
            rating=rating,
            low=low,
            high=high,
            duels=self._duels(version) if is_rated else 0,
            report=dict(version.report) if sees_all else None,
        )

    @_view
    def matches(self, query: models.MatchesQuery) -> models.MatchesAnswer:
        """Return the last matches that are done: of a team, of one of its versions, against another team; before the value of ``next``.

        UsageError if there is no such team or version, or if a version or an opponent is given without a team.
        """
        team, before, limit = query.team, query.before, query.limit
        if team is None and (query.version is not None or query.opponent is not None):
            raise UsageError("Name the team whose version or opponent is given.")
        mine = None if team is None else self._positions(team, query.version)
        others = None if query.opponent is None else self._positions(query.opponent, None)
        # An order of 2 d + g is that of game g of the duel d.
        end = None if before is None else (before + 1) // 2
        settled = len(self._state)
        numbers = []
        if end is None or end > settled:
            for duel in reversed(self._open()):
                pair = [self._state.positions.get(name, -1) for name in (duel.a, duel.b)]
                if (end is None or duel.number < end) and _is_wanted(pair, mine, others):
                    numbers.append(duel.number)
        numbers += self._state.duels_of(mine, others, settled if end is None else end, limit + 1)
        matches: list[models.MatchAnswer] = []
        # Most duels have two matches, but those without a certain result may have none yet.
        size = len(self._open()) + limit // 2 + 1
        for first in range(0, len(numbers), size):
            matches += [match for match in self._of(numbers[first : first + size]) if before is None or match.order < before]
            if len(matches) > limit:
                break
        return models.MatchesAnswer(matches=matches[:limit], next=matches[limit - 1].order if len(matches) > limit else None)

    def _open(self) -> list[ArenaDuel]:
        if self._unsettled is None:
            self._unsettled = self._store.duels.since(len(self._state))
        return self._unsettled

    def _of(self, duels: Sequence[int]) -> list[models.MatchAnswer]:
        """Return the matches of some duels that are done, in the order of the duels and the last one of each first."""
        new: dict[int, list[models.MatchAnswer]] = {number: [] for number in duels if number not in self._matches}
        for match in self._store.duels.matches_of(list(new)) if new else ():
            new[match.duel].append(self._match(match))
        matches: list[models.MatchAnswer] = []
        for number in duels:
            mine = new[number] if number in new else self._matches.pop(number)
            self._matches[number] = mine
            matches += mine
        while len(self._matches) > _KEPT_DUELS:
            self._matches.popitem(last=False)
        return matches

    @_shared()
    def workers(self) -> WorkersNow:
        """Return the workers with their running matches. The "seconds" of a match are those so far."""
        playing, now = self._store.playing.get(0), time.time()
        if playing is None or now - playing.time > _TOLD_SECONDS:
            return WorkersNow(None, None, [])
        running = [
            models.MatchAnswer(
                id=match.key,
                order=0,
                seats=self._sides(match.seats),
                winner=None,
                reason="",
                scores={},
                steps=0,
                faults={},
                seconds=now - match.since,
                ended=None,
            )
            for match in playing.matches
        ]
        return WorkersNow(playing.host, playing.slots, running)

    @_view
    def match(self, key: str) -> tuple[models.MatchAnswer, str] | None:
        """A match that is done, and its replay's path in the arena's folder; None if there is none."""
        match = self._store.duels.match(key)
        return None if match is None else (self._match(match), match.record.replay)

    def _positions(self, team: str, number: int | None) -> list[int]:
        mine = named(self._versions, team)
        if number is not None and number not in {version.number for version in mine}:
            raise UsageError(f"The team has no version {number}.")
        chosen = [version.name for version in mine if number in (None, version.number)]
        return [self._state.positions[name] for name in chosen if name in self._state.positions]

    def _match(self, match: DuelMatch) -> models.MatchAnswer:
        task, record = match.task, match.record
        # The text of a result may quote what a bot wrote to its log.
        return models.MatchAnswer(
            id=task.key,
            order=2 * match.duel + match.game_number,
            seats=self._sides(task.names),
            winner=record.winner,
            reason=record.reason,
            scores=dict(record.scores),
            steps=record.steps,
            faults=dict(record.fault_kinds),
            seconds=round(record.wall_seconds, 3),
            ended=moment(match.ended),
        )

    def _sides(self, seats: Mapping[str, str]) -> dict[str, models.SeatAnswer]:
        # References that versions play against in one role are no versions.
        numbers = {name: self._by_name[name].number if name in self._by_name else None for name in seats.values()}
        return {seat: models.SeatAnswer(team=self._team(name), version=numbers[name]) for seat, name in seats.items()}

    def _team(self, name: str) -> str:
        return self._by_name[name].team if name in self._by_name else name


def _is_wanted(pair: Sequence[int], mine: Sequence[int] | None, others: Sequence[int] | None) -> bool:
    """True if one of a duel is among ``mine`` and the other one among ``others``; None: anybody."""
    return any((mine is None or version in mine) and (others is None or other in others) for version, other in (pair, pair[::-1]))


def _point(number: int, point: RatingPoint) -> models.RatingPointAnswer:
    rating, low, high = (round(value, 2) for value in (point.elo, point.low, point.high))
    return models.RatingPointAnswer(version=number, duels=point.duels, time=moment(point.time), rating=rating, low=low, high=high)
