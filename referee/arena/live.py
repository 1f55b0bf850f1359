"""The running and latest matches of an arena, for the front page and the projector's page."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from referee.arena.api_models import MatchesQuery
from referee.pages.folder_listing import ListedReplay, ShownPlace, ShownStandings
from referee.tournament.worker import replay_path

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.api import Api
    from referee.arena.api_models import MatchAnswer
    from referee.arena.arena import OpenArena
    from referee.arena.tokens import Holder
    from referee.arena.views import ArenaViews
    from referee.games.game import Json

#: The matches of this minute that are shown at most, and the seconds of a minute.
_MATCHES, _MINUTE = 24, 60.0
#: The matches on the front page.
_FRONT = 8
#: How many matches the projector's page may choose from when it is opened.
_PROJECTED = 10


class LiveMatches:
    """The matches of this minute, as somebody may see them. Several threads may ask."""

    def __init__(self, arena: OpenArena, views: ArenaViews, api: Api) -> None:
        self._arena = arena
        self._views = views
        self._api = api

    def now(self, holder: Holder | None) -> list[MatchAnswer]:
        """Return the running matches, and those that ended within the last minute."""
        since = time.time() - _MINUTE
        ended = [match for match in self._last(_MATCHES, holder) if match.ended and datetime.fromisoformat(match.ended).timestamp() > since]
        # A match that was stored as running half a second ago may have ended.
        over = {match.id for match in ended}
        return [
            *(match for match in self._views.workers().matches if match.id not in over and self._api.sees_replay(match, holder)),
            *ended,
        ]

    def front(self, holder: Holder | None) -> list[MatchAnswer]:
        """Return the matches for the front page: those of this minute, or else the last ones."""
        return (self.now(holder) or self._last(_FRONT, holder))[:_FRONT]

    def _last(self, most: int, holder: Holder | None) -> list[MatchAnswer]:
        return [match for match in self._views.matches(MatchesQuery(limit=most)).matches if self._api.sees_replay(match, holder)]

    def seen(self, key: str, holder: Holder | None) -> tuple[MatchAnswer, Path]:
        """Return a match and its replay as ``match_and_replay``. HTTPException if somebody may not see it."""
        match_and_replay = self.match(key)
        self._api.check_replay(match_and_replay[0], holder)
        return match_and_replay

    def match(self, key: str) -> tuple[MatchAnswer, Path]:
        """Return a finished or running match, and its replay. HTTPException 404 for an unknown match."""
        done = self._views.match(key)
        playing = (
            next((playing_match for playing_match in self._views.workers().matches if playing_match.id == key), None)
            if done is None
            else None
        )
        if playing is not None:
            return playing, replay_path(self._arena.replays, key)
        match, replay = done or self._api.get_match(key)
        return match, self._arena.folder / replay

    def listed(self, after: int, holder: Holder | None) -> dict[str, Json]:
        """Return the newest match from a place on, as the page of a folder lists its replays; some more if ``after`` is 0."""
        last = sorted(self._last(_PROJECTED, holder), key=lambda match: match.order)
        new = [match for match in last if match.order >= after]
        chosen = new[-1:] if after else new
        return {
            "entries": [(match.id, self._entry(match).to_json()) for match in chosen],
            "next": max([after, *(match.order + 1 for match in new)]),
            "reading": False,
            "notes": [],
        }

    def _entry(self, match: MatchAnswer) -> ListedReplay:
        ended = datetime.fromisoformat(match.ended).timestamp() if match.ended else 0.0
        return ListedReplay(
            name=self._arena.config.name,
            size=0,
            modified=int(ended * 1e9),
            game=self._arena.config.game.info.name,
            rules=self._arena.config.rules,
            players={seat: who.team if who.version is None else f"{who.team} v{who.version}" for seat, who in match.seats.items()},
            teams={seat: who.team for seat, who in match.seats.items()},
            winner=match.winner,
            reason=match.reason,
            scores=match.scores,
            steps=match.steps,
            opens=True,
        )

    def standings(self) -> ShownStandings:
        """Return the standings for the projector's page."""
        done = self._views.played()
        rows = [ShownPlace(entry.rank, entry.team, round(entry.rating), entry.duels) for entry in self._views.standings().entries]
        return ShownStandings(self._arena.config.name, done, done, rows, is_rated=True)
