"""The boards on the pages of an arena.

One is drawn at a time, in a thread: it takes nobody's turn who asks for a page, and leaves a core to the matches.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from referee.gallery.listing import Found
from referee.gallery.thumbnails import NO_PICTURE, Thumbnails
from referee.web.kept_replay import worked

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.api_models import MatchAnswer
    from referee.arena.arena import OpenArena

#: The board of a match that is played is drawn again at most so often, in seconds.
BOARD_SECONDS = 3


class ArenaPictures:
    """Draws and keeps the pictures of an arena. It is used in one event loop."""

    def __init__(self, arena: OpenArena) -> None:
        self._arena = arena
        self._thumbnails = Thumbnails()
        self._turn = asyncio.Lock()

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
