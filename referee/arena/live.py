"""What is played in an arena now: the matches of this minute, and what the projector's page asks for."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from referee.arena.api_models import MatchesQuery
from referee.league.worker import replay_path
from referee.pages.folder_listing import ListedReplay

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.api import Api
    from referee.arena.api_models import MatchAnswer
    from referee.arena.arena import OpenArena
    from referee.arena.season_store import Holder
    from referee.arena.views import ArenaViews

#: The matches of this minute that are shown at most, and the seconds of a minute.
_MATCHES, _MINUTE = 24, 60.0
#: How many matches the projector's page may choose from when it is opened.
_PROJECTED = 10


class LiveMatches:
    """The matches of this minute, as somebody may see them. Several threads may ask."""

    def __init__(self, arena: OpenArena, views: ArenaViews, api: Api) -> None:
        self._arena = arena
        self._views = views
        self._api = api

    def now(self, holder: Holder | None) -> list[MatchAnswer]:
        """Return the matches that are played, and those that ended within the last minute."""
        since = time.time() - _MINUTE
        ended = [one for one in self._last(_MATCHES, holder) if one.ended and datetime.fromisoformat(one.ended).timestamp() > since]
        # What was told of as played half a second ago may be over.
        over = {one.id for one in ended}
        return [*(one for one in self._views.workers()["matches"] if one.id not in over and self._api.sees_replay(one, holder)), *ended]

    def _last(self, most: int, holder: Holder | None) -> list[MatchAnswer]:
        return [one for one in self._views.matches(MatchesQuery(limit=most)).matches if self._api.sees_replay(one, holder)]

    def seen(self, key: str, holder: Holder | None) -> tuple[MatchAnswer, Path]:
        """Return a match and its replay as ``found``. HTTPException if somebody may not see it."""
        found = self.found(key)
        self._api.check_replay(found[0], holder)
        return found

    def found(self, key: str) -> tuple[MatchAnswer, Path]:
        """Return a match that was played or is played, and its replay. HTTPException 404 if there is none."""
        found = self._views.match(key)
        playing = next((one for one in self._views.workers()["matches"] if one.id == key), None) if found is None else None
        if playing is not None:
            return playing, replay_path(self._arena.replays, key)
        match, replay = found or self._api.found_match(key)
        return match, self._arena.folder / replay

    def listed(self, after: int, holder: Holder | None) -> dict[str, Any]:
        """Return the newest match from a place on, as the page of a folder lists its replays; some more if ``after`` is 0."""
        last = sorted(self._last(_PROJECTED, holder), key=lambda one: one.order)
        new = [one for one in last if one.order >= after]
        shown = new[-1:] if after else new
        return {
            "entries": [(one.id, self._entry(one).to_json()) for one in shown],
            "next": max([after, *(one.order + 1 for one in new)]),
            "reading": False,
            "notes": [],
        }

    def _entry(self, match: MatchAnswer) -> ListedReplay:
        ended = datetime.fromisoformat(match.ended).timestamp() if match.ended else 0.0
        return ListedReplay(
            name=self._arena.league.name,
            size=0,
            modified=int(ended * 1e9),
            game=self._arena.league.game,
            rules=self._arena.league.rules,
            players={seat: who.team if who.version is None else f"{who.team} v{who.version}" for seat, who in match.seats.items()},
            teams={seat: who.team for seat, who in match.seats.items()},
            winner=match.winner,
            reason=match.reason,
            scores=match.scores,
            steps=match.steps,
            opens=True,
        )

    def standings(self) -> dict[str, Any]:
        """Return the standings for the projector's page."""
        done = self._views.played()
        rows = [
            {"place": one.rank, "team": one.team, "points": round(one.rating), "played": one.duels}
            for one in self._views.standings().entries
        ]
        return {"name": self._arena.league.name, "done": done, "total": done, "isRated": True, "rows": rows}
