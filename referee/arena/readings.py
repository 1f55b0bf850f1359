"""What the server of an arena answers about versions, teams and matches, and to whom."""

from __future__ import annotations

import threading
from time import monotonic, time
from typing import TYPE_CHECKING, Any, TypeVar

from referee.arena.api_models import MatchAnswer, MatchesAnswer, StandingsAnswer, TeamAnswer
from referee.arena.store import ACCEPTED
from referee.arena.views import ArenaViews
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.arena.api_models import MatchesQuery
    from referee.arena.arena import OpenArena
    from referee.arena.season_store import Holder, SeasonStore
    from referee.arena.store import RatingPoint

_T = TypeVar("_T")
#: What takes longer to read is good for so many times as long.
_LONG = 20.0


class Readings:
    """Answers about an open arena. Several threads may ask. What others have changed is seen after ``stale_seconds``."""

    def __init__(self, arena: OpenArena, store: SeasonStore, stale_seconds: float) -> None:
        self.arena = arena
        self.store = store
        self._views = ArenaViews(store, stale_seconds=stale_seconds)
        self._lock = threading.RLock()
        self._stale_seconds = stale_seconds
        #: The answers that are the same for everybody, each with the time until which it is good.
        self._kept: dict[str, tuple[float, Any]] = {}
        #: Those that are good until something changes, each with what says so.
        self._lasting: dict[str, tuple[object, Any]] = {}

    def standings(self) -> StandingsAnswer:
        """Return the active versions, the best first."""
        return self.shared("standings", lambda: StandingsAnswer.model_validate({"entries": self._views.standings()}))

    def played(self) -> int:
        """Return how many matches were played."""
        return self.shared("played", self._views.played)

    def trends(self) -> dict[str, float]:
        """Return how ratings have changed, as ``ArenaViews.trends``."""
        return self.shared("trends", self._views.trends, 6 * _LONG)

    def by_seat(self, team: str) -> dict[str, dict[str, list[int]]]:
        """Return a team's record by opponent and seat, as ``ArenaViews.by_seat``."""
        with self._lock:
            return self._views.by_seat(team)

    def recent(self) -> dict[str, Any]:
        """Return the faults and hosts of the last duels, as ``ArenaViews.recent``."""
        return self.shared("recent", self._views.recent, _LONG)

    def renew(self) -> None:
        """Read everything anew: something was changed here."""
        with self._lock:
            self._views.renew()
            self._kept.clear()
            self._lasting.clear()

    def shared(self, name: str, read: Callable[[], _T], factor: float = 1.0) -> _T:
        """Return what ``read`` has returned lately: it is the same for everybody."""
        with self._lock:
            due, value = self._kept.get(name, (0.0, None))
            if monotonic() >= due:
                value = read()
                self._kept[name] = (monotonic() + factor * self._stale_seconds, value)
            found: _T = value
            return found

    def lasting(self, name: str, read: Callable[[], _T]) -> _T:
        """Return what ``read`` has returned since there were new results, versions or ratings."""
        with self._lock:
            # Ages are told to the minute.
            return self._unchanged(name, (self._views.mark(), time() // 60), read)

    def of_results(self, kind: str, team: str, read: Callable[[], _T]) -> _T:
        """Return what ``read`` has returned since a team had new results or versions. UsageError if there is no such team."""
        with self._lock:
            return self._unchanged(f"{kind} {team}", self._views.mark_of(team), read)

    def rating_points(self, team: str, read: Callable[[list[tuple[int, RatingPoint]]], _T]) -> _T:
        """Return what ``read`` makes of a team's ratings, as ``ArenaViews.rating_points``: once, until there are new ones."""
        with self._lock:
            return self._unchanged(f"ratings {team}", self._views.rated_of(team), lambda: read(self._views.rating_points(team)))

    def _unchanged(self, name: str, mark: object, read: Callable[[], _T]) -> _T:
        known = self._lasting.get(name)
        if known is None or known[0] != mark:
            known = self._lasting[name] = (mark, read())
        found: _T = known[1]
        return found

    def against(self, name: str) -> list[dict[str, Any]]:
        """Return a team's record by opponent, as ``ArenaViews.against``. UsageError if there is no such team."""
        with self._lock:
            return self._views.against(name)

    def team(self, name: str, holder: Holder | None, *, is_whole: bool = True) -> TeamAnswer | None:
        """Return a team as somebody may see it; None if there is no such team. Without ``is_whole`` it has no ratings and no record."""
        disqualified = self.store.disqualified().get(name)
        try:
            with self._lock:
                found = self._views.team(name)
                ratings, against = (self._views.ratings(name), self._views.against(name)) if is_whole else ([], [])
        except UsageError:
            is_new = name in self.store.invited()
            return (
                TeamAnswer(team=name, is_reference=False, disqualified=disqualified, versions=[], ratings=[], against=[])
                if is_new
                else None
            )
        sees_all = holder is not None and holder.team in (None, name)
        own = self.store.versions(name)
        reports = {version.number: dict(version.report) for version in own if sees_all}
        versions = [{**one, "report": reports.get(one["version"])} for one in found["versions"] if sees_all or one["status"] == ACCEPTED]
        told: dict[str, Any] = {"is_reference": own[0].is_reference, "disqualified": disqualified, "versions": versions}
        told |= {"ratings": ratings, "against": against}
        return TeamAnswer.model_validate({**found, **told})

    def matches(self, asked: MatchesQuery) -> MatchesAnswer:
        """Return matches, the latest first. UsageError if there is no such team or version."""
        try:
            with self._lock:
                page = self._views.matches(**dict(asked))
        except UsageError:
            if asked.version is None and asked.team in self.store.invited() and not self.store.versions(asked.team):
                return MatchesAnswer(matches=[], next=None)
            raise
        return MatchesAnswer(matches=[_match(one) for one in page.matches], next=page.next)

    def playing(self) -> list[MatchAnswer]:
        """Return the matches that are played now: without a result, and "seconds" is how long each has been played so far."""
        none: dict[str, Any] = {"order": 0, "winner": None, "reason": "", "scores": {}, "steps": 0, "faults": {}, "ended": None}
        return [MatchAnswer.model_validate({**none, **one}) for one in self.workers().get("matches", ())]

    def workers(self) -> dict[str, Any]:
        """Return who plays what, as ``ArenaViews.playing``."""
        return self.shared("playing", self._views.playing)

    def match(self, key: str) -> tuple[MatchAnswer, str] | None:
        """Return a match that was played, and its replay's path in the arena's folder; None if there is none."""
        with self._lock:
            found = self._views.match(key)
        return None if found is None else (_match(found), found["replay"])


def _match(found: dict[str, object]) -> MatchAnswer:
    # The text of a result may quote what a bot wrote to its log.
    return MatchAnswer.model_validate({name: found[name] for name in MatchAnswer.model_fields})
