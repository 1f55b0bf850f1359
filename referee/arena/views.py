"""What pages and the HTTP API show of an arena, within a few milliseconds at any size: standings, teams, and matches a page at a time.

All values are plain data, ready for JSON. They come from an ``ArenaState``, which reads only what is new, and from the ratings that the process
that plays records after each batch of duels.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.arena.arena import moment
from referee.arena.state import STRENGTHS, ArenaState
from referee.arena.store import PLAYING, named
from referee.errors import UsageError
from referee.league.elo import POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.store import ArenaStore, OpenDuel, RatingPoint, Version
    from referee.league.store import StoredMatch

#: The reach of the interval of a version that has no recorded rating yet, in Elo: that of a version which has played nothing.
_UNKNOWN = 1.96 * 2 * POINTS
#: What was played so many seconds ago is played no more: the process that plays tells of it all the time.
_TOLD_SECONDS = 15.0
#: The seconds of a day, for trends; and the last duels from which pages count by seat, faults and hosts.
_DAY, _RECENT = 86_400.0, 200
#: The matches of a page: by default, and at most.
PAGE, MOST = 50, 200
#: The duels whose matches are kept in memory.
_KEPT_DUELS = 2048


class MatchPage(NamedTuple):
    """Matches, the last one first. ``next`` is the value of ``before`` for the page after it, None if there is none."""

    matches: list[dict[str, Any]]
    next: int | None


class ArenaViews:
    """Views of an arena. Each call first takes what is new in the store, unless the last one did so within ``stale_seconds``.

    Calls from several threads need a lock.
    """

    def __init__(self, store: ArenaStore, *, stale_seconds: float = 0.0) -> None:
        self._store = store
        self._stale_seconds = stale_seconds
        self._due = 0.0
        self._state = ArenaState(store)
        self._versions: list[Version] = []
        self._by_name: dict[str, Version] = {}
        self._strengths: list[float] = []
        self._elo: dict[str, float] = {}
        self._mark: tuple[float, ...] | None = None
        #: The matches that are done of so many duels, whose results are certain.
        self._done, self._counted = 0, 0
        #: The duels without a certain result, as of the last refresh; None: not read since.
        self._unsettled: list[OpenDuel] | None = None
        #: What doesn't change again: matches of duels whose results are certain, by duel; the same of a team, each as the opponent's team, the
        #: own seat and whether it was won.
        self._matches: OrderedDict[int, list[dict[str, Any]]] = OrderedDict()
        self._seats: dict[str, dict[int, list[tuple[str, str, bool]]]] = {}

    def renew(self) -> None:
        """Take what is new with the next call."""
        self._due = 0.0

    def mark(self) -> tuple[object, ...]:
        """Return what changes whenever there are new results, versions or ratings: as long as it is the same, so is what they tell."""
        self._refresh()
        rated = max((point.duels for point in self._state.rated.values()), default=-1)
        return (len(self._state), self._mark, rated, self._strengths)

    def mark_of(self, name: str) -> int:
        """Return what changes whenever a team has new results. UsageError if there is no such team."""
        self._refresh()
        return int(self._state.planned[self._positions(name, None)].sum())

    def rated_of(self, name: str) -> int:
        """Return what changes whenever a team has new ratings. UsageError if there is no such team."""
        self._refresh()
        points = (self._state.rated.get(version.name) for version in named(self._versions, name))
        return max((point.duels for point in points if point is not None), default=-1)

    def _refresh(self) -> None:
        if monotonic() < self._due:
            return
        self._due = monotonic() + self._stale_seconds
        self._unsettled = None
        self._state.catch_up()
        mark = self._store.versions_mark()
        if mark != self._mark:
            self._versions = self._store.versions()
            self._by_name = {version.name: version for version in self._versions}
            self._mark = mark
        told = {"of": [], **(self._store.fact(STRENGTHS) or {})}
        known = told.get("now", told["of"])
        if known == self._strengths and len(self._elo) == len(self._state.names):
            return
        self._strengths = known
        strengths = [*known, *[0.0] * (len(self._state.names) - len(known))]
        mean = sum(strengths) / len(strengths) if strengths else 0.0
        self._elo = {name: (strength - mean) * POINTS for name, strength in zip(self._state.names, strengths, strict=False)}

    def _interval(self, name: str) -> tuple[float, float, float]:
        """Return the rating of today, with the reach of the last interval that was recorded."""
        elo, point = self._elo[name], self._state.rated.get(name)
        below, above = (_UNKNOWN, _UNKNOWN) if point is None else (point.elo - point.low, point.high - point.elo)
        return round(elo, 2), round(elo - below, 2), round(elo + above, 2)

    def played(self) -> int:
        """Return how many matches are done."""
        self._refresh()
        settled = len(self._state)
        if settled > self._counted:
            self._done += self._store.done(self._counted, settled)
            self._counted = settled
        return self._done + self._store.done(settled)

    def standings(self) -> list[dict[str, Any]]:
        """The active versions, best rating first: {"rank", "team", "version", "rating", "low", "high", "duels", "is_reference", "submitted"}.

        ``submitted`` is a time in the form of RFC 3339. A version without duels has the rating of an average one, and a wide interval.
        """
        self._refresh()
        active = [version for version in self._versions if version.is_active and version.name in self._elo]
        active.sort(key=lambda version: (-self._elo[version.name], version.name))
        found: list[dict[str, Any]] = []
        for rank, version in enumerate(active, 1):
            rating, low, high = self._interval(version.name)
            found.append(
                {
                    "rank": rank,
                    "team": version.team,
                    "version": version.number,
                    "rating": rating,
                    "low": low,
                    "high": high,
                    "duels": int(self._state.counted[self._state.positions[version.name]]),
                    "is_reference": version.is_reference,
                    "submitted": moment(version.submitted),
                }
            )
        return found

    def trends(self) -> dict[str, float]:
        """How the rating of each team's active version has changed since a day ago; that of a newer one, since the version before it."""
        self._refresh()
        rated = [version for version in self._versions if version.name in self._elo]
        earlier = self._store.ratings_at([version.name for version in rated if version.is_active], time.time() - _DAY)
        last: dict[str, float] = {}
        found: dict[str, float] = {}
        for version in sorted(rated, key=lambda one: one.number):
            before = earlier.get(version.name, last.get(version.team))
            if version.is_active and before is not None:
                found[version.team] = self._elo[version.name] - before
            last[version.team] = self._elo[version.name]
        return found

    def by_seat(self, name: str) -> dict[str, dict[str, list[int]]]:
        """The matches won and played of a team, by the opponent's team and the own seat, of its last 200 duels."""
        self._refresh()
        numbers = self._state.duels_of(self._positions(name, None), None, len(self._state), _RECENT)
        before, own = self._seats.get(name, {}), {version.name for version in named(self._versions, name)}
        known = {number: before.get(number, []) for number in numbers}
        for number, seats, winner in self._store.winners([number for number in numbers if number not in before]):
            pairs = [(seat, other) for seat, version in seats.items() if version in own for other in seats.values() if other not in own]
            known[number] += [(self._team(other), seat, winner == seat) for seat, other in pairs]
        self._seats[name] = known
        found: dict[str, dict[str, list[int]]] = {}
        for other, seat, is_won in (one for some in known.values() for one in some):
            counts = found.setdefault(other, {}).setdefault(seat, [0, 0])
            counts[0] += is_won
            counts[1] += 1
        return found

    def recent(self) -> dict[str, Any]:
        """Of the last 200 duels: how many "matches" there are, "faults" by team and kind, and by host the matches with the time of the last one."""
        self._refresh()
        end = len(self._state) + len(self._open())
        played = [(one, ended) for one, ended in self._store.matches_of(range(max(0, end - _RECENT), end)) if one.record is not None]
        faults: dict[str, Counter[str]] = {}
        hosts: dict[str, tuple[int, float]] = {}
        for stored, ended in played:
            assert stored.record is not None
            for seat, kind in stored.record.fault_kinds.items():
                faults.setdefault(self._side(stored.task.seats[seat])["team"], Counter())[kind] += 1
            count, last = hosts.get(stored.record.host, (0, 0.0))
            hosts[stored.record.host] = (count + 1, max(last, ended or 0.0))
        return {"matches": len(played), "faults": faults, "hosts": {host: (count, moment(last)) for host, (count, last) in hosts.items()}}

    def team(self, name: str) -> dict[str, Any]:
        """A team: {"team", "versions"}. UsageError if there is no such team.

        ``versions`` are {"version", "status", "note", "submitted", "is_active", "rating", "low", "high", "duels"}, the first one first, with
        None for the ratings of a version that was not accepted. Who may read ``note`` is for the caller to decide; reports are not here.
        """
        self._refresh()
        mine = sorted(named(self._versions, name), key=lambda version: version.number)
        return {"team": name, "versions": [self._version(version) for version in mine]}

    def rating_points(self, name: str) -> list[tuple[int, RatingPoint]]:
        """The ratings of a team's versions over time, each with the version's number."""
        self._refresh()
        mine = {version.name: version.number for version in named(self._versions, name)}
        return [(mine[point.name], point) for point in self._store.ratings(list(mine))]

    def ratings(self, name: str) -> list[dict[str, Any]]:
        """The same as {"version", "duels", "time", "rating", "low", "high"}: ``duels`` are the whole arena's."""
        return [_point(number, point) for number, point in self.rating_points(name)]

    def against(self, name: str) -> list[dict[str, Any]]:
        """The record of all versions of a team together, {"team", "won", "tied", "lost", "duels"}, by the opponent's team, most duels first."""
        self._refresh()
        found: dict[str, list[int]] = {}
        for other, (lost, tied, won) in self._state.against(self._positions(name, None)).items():
            sums = found.setdefault(self._by_name[self._state.names[other]].team, [0, 0, 0])
            for place, count in enumerate((won, tied, lost)):
                sums[place] += count
        ordered = sorted(found.items(), key=lambda item: (-sum(item[1]), item[0]))
        return [{"team": team, "won": won, "tied": tied, "lost": lost, "duels": won + tied + lost} for team, (won, tied, lost) in ordered]

    def _version(self, version: Version) -> dict[str, Any]:
        is_rated = version.name in self._elo
        rating, low, high = self._interval(version.name) if is_rated else (None, None, None)
        return {
            "version": version.number,
            "status": version.status,
            "note": version.note,
            "submitted": moment(version.submitted),
            "is_active": version.is_active,
            "rating": rating,
            "low": low,
            "high": high,
            "duels": int(self._state.counted[self._state.positions[version.name]]) if is_rated else 0,
        }

    def matches(
        self,
        team: str | None = None,
        version: int | None = None,
        opponent: str | None = None,
        limit: int = PAGE,
        before: int | None = None,
    ) -> MatchPage:
        """Return the last matches that are done: of a team, of one of its versions, against another team; before the value of ``MatchPage.next``.

        A match is {"id", "order", "seats", "winner", "reason", "text", "scores", "steps", "faults", "ended", "seconds"}. ``seats`` has
        {"team", "version"} by seat; ``winner`` is a seat or None; ``faults`` has the kind by seat. UsageError if there is no such team or
        version, or if a version or an opponent is given without a team.
        """
        self._refresh()
        if team is None and (version is not None or opponent is not None):
            raise UsageError("Name the team whose version or opponent is given.")
        mine = None if team is None else self._positions(team, version)
        others = None if opponent is None else self._positions(opponent, None)
        limit = max(1, min(limit, MOST))
        # An order of 2 d + g is that of game g of the duel d.
        end = None if before is None else (before + 1) // 2
        settled = len(self._state)
        numbers = []
        if end is None or end > settled:
            for duel in (one.duel for one in reversed(self._open())):
                pair = [self._state.positions.get(name, -1) for name in duel.teams]
                if (end is None or duel.number < end) and _is_wanted(pair, mine, others):
                    numbers.append(duel.number)
        numbers += self._state.duels_of(mine, others, settled if end is None else end, limit + 1)
        found: list[dict[str, Any]] = []
        # Most duels have two matches.
        some = limit // 2 + 1
        for first in range(0, len(numbers), some):
            found += [one for one in self._of(numbers[first : first + some]) if before is None or one["order"] < before]
            if len(found) > limit:
                break
        page = found[:limit]
        last = page[-1]["order"] if len(found) > limit else None
        return MatchPage(page, last)

    def _open(self) -> list[OpenDuel]:
        if self._unsettled is None:
            self._unsettled = self._store.open_duels(len(self._state))
        return self._unsettled

    def _of(self, duels: Sequence[int]) -> list[dict[str, Any]]:
        """Return the matches of some duels that are done, in the order of the duels and the last one of each first."""
        new: dict[int, list[dict[str, Any]]] = {number: [] for number in duels if number not in self._matches}
        for stored, ended in self._store.matches_of(list(new)) if new else ():
            if stored.record is not None:
                new[stored.task.duel].append(self._match(stored, ended))
        found: list[dict[str, Any]] = []
        for number in duels:
            mine = new[number] if number in new else self._matches.pop(number)
            if number < len(self._state):
                self._matches[number] = mine
            found += mine
        while len(self._matches) > _KEPT_DUELS:
            self._matches.popitem(last=False)
        return found

    def playing(self) -> dict[str, Any]:
        """What is played now: {"host", "slots", "matches"}; a match is {"id", "seats", "seconds"}. Empty if nobody plays."""
        told, now = self._store.fact(PLAYING), time.time()
        if told is None or now - told["time"] > _TOLD_SECONDS:
            return {}
        self._refresh()
        matches = [
            {"id": one["key"], "seats": {seat: self._side(name) for seat, name in one["seats"].items()}, "seconds": now - one["since"]}
            for one in told["matches"]
        ]
        return {**told, "matches": matches}

    def match(self, key: str) -> dict[str, Any] | None:
        """The match with an id, as in ``matches``, with the path of its "replay" in the arena's folder; None if there is none that is done."""
        found = self._store.match(key)
        if found is None or found[0].record is None:
            return None
        self._refresh()
        return {**self._match(*found), "replay": found[0].record.replay}

    def _positions(self, team: str, number: int | None) -> list[int]:
        mine = named(self._versions, team)
        if number is not None and number not in {version.number for version in mine}:
            raise UsageError(f"The team has no version {number}.")
        chosen = [version.name for version in mine if number in (None, version.number)]
        return [self._state.positions[name] for name in chosen if name in self._state.positions]

    def _match(self, stored: StoredMatch, ended: float | None) -> dict[str, Any]:
        task, record = stored.task, stored.record
        assert record is not None
        return {
            "id": task.key,
            "order": 2 * task.duel + task.game_number,
            "seats": {seat: self._side(name) for seat, name in task.seats.items()},
            "winner": record.winner,
            "reason": record.reason,
            "text": record.text,
            "scores": dict(record.scores),
            "steps": record.steps,
            "faults": dict(record.fault_kinds),
            "ended": None if ended is None else moment(ended),
            "seconds": round(record.wall_seconds, 3),
        }

    def _side(self, name: str) -> dict[str, Any]:
        # References that versions play against in one role are no versions.
        version = self._by_name.get(name)
        return {"team": self._team(name), "version": None if version is None else version.number}

    def _team(self, name: str) -> str:
        return self._by_name[name].team if name in self._by_name else name


def _is_wanted(pair: Sequence[int], mine: Sequence[int] | None, others: Sequence[int] | None) -> bool:
    """True if one of a duel is among ``mine`` and the other one among ``others``; None: anybody."""
    return any((mine is None or one in mine) and (others is None or other in others) for one, other in (pair, pair[::-1]))


def _point(number: int, point: RatingPoint) -> dict[str, Any]:
    ratings = {"rating": round(point.elo, 2), "low": round(point.low, 2), "high": round(point.high, 2)}
    return {"version": number, "duels": point.duels, "time": moment(point.time), **ratings}
