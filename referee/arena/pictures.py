"""Pictures of an arena: the boards of its pages, and the cards that messengers show of links to them (Open Graph).

One is drawn at a time, in a thread: it takes nobody's turn who asks for a page, and leaves a core to the matches.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from referee.errors import RefereeError
from referee.gallery.listing import Found
from referee.gallery.thumbnails import NO_PICTURE, Thumbnails
from referee.support.words import counted
from referee.web.kept_replay import worked

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.api_models import MatchAnswer
    from referee.arena.arena import OpenArena
    from referee.arena.views import ArenaViews

#: The board of a match that is played, and the card of the leaderboard, are drawn again at most so often, in seconds.
BOARD_SECONDS, _TABLE_SECONDS = 3, 60.0
#: How many cards of matches are kept, and the lines of the leaderboard's card.
_MOST_CARDS, _LINES = 64, 8
#: The key of the leaderboard's card.
_TABLE = ""


class ArenaPictures:
    """Draws and keeps the pictures of an arena. It is used in one event loop."""

    def __init__(self, arena: OpenArena, views: ArenaViews) -> None:
        self._arena = arena
        self._views = views
        #: False if Pillow is missing, which draws cards.
        self.has_cards = find_spec("PIL") is not None
        self._thumbnails = Thumbnails()
        self._turn = asyncio.Lock()
        self._cards: OrderedDict[str, bytes] = OrderedDict()
        self._due = 0.0
        self._renewing: asyncio.Task[bytes] | None = None

    async def board(self, match: MatchAnswer, path: Path) -> str:
        """Return the last position of a match as SVG, an empty picture if there is none."""
        return str(await worked(lambda: self._board(match, path), self._turn))

    def _board(self, match: MatchAnswer, path: Path) -> str:
        try:
            facts = path.stat()
        except OSError:
            return NO_PICTURE
        # The replay of a match that is played changes every second.
        changed = facts.st_mtime_ns if match.ended else int(facts.st_mtime // BOARD_SECONDS)
        return self._thumbnails.get(Found(path, facts.st_size, changed, self._arena.replays)) or NO_PICTURE

    async def table_card(self) -> bytes:
        """Return the leaderboard's card as PNG. One that is older than a minute is sent once more while the next one is drawn."""
        if monotonic() >= self._due:
            self._due = monotonic() + _TABLE_SECONDS
            self._renewing = asyncio.create_task(self._drawn(_TABLE, None))
        if _TABLE not in self._cards and self._renewing is not None:
            return await self._renewing
        return self._cards[_TABLE]

    async def match_card(self, match: MatchAnswer, path: Path) -> bytes:
        """Return a match's card as PNG: both names, the result and the final board. HTTPException 404 if there is none."""
        return self._cards.get(match.id) or await self._drawn(match.id, path)

    async def _drawn(self, key: str, path: Path | None) -> bytes:
        from referee.export.stills import card_of

        try:
            made: bytes = await worked(self._table if path is None else lambda: card_of(path), self._turn)
        except (RefereeError, OSError, ImportError):
            raise HTTPException(404, "There is no such picture.") from None
        self._cards[key] = made
        while len(self._cards) > _MOST_CARDS:
            del self._cards[next(one for one in self._cards if one != _TABLE)]
        return made

    def _table(self) -> bytes:
        from referee.export.card import table_png

        league, entries = self._arena.league, self._views.standings().entries
        # The font has no minus sign.
        rows = [(f"{one.rank}", one.team, f"{round(one.rating):+,}") for one in entries[:_LINES]]
        return table_png(league.name, f"{league.game} {league.rules} · {counted(self._views.played(), 'match')}", rows)
