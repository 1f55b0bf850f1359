"""The replays from which the pages of an arena draw small boards: the players' versions, even of running matches.

A thread makes one at a time, so that requests for pages don't wait, and the matches keep the other cores.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from referee.arena.players_version import players_version
from referee.pages.replay_session import worked

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.api_models import MatchAnswer

#: The least seconds between two drawings of a running match.
BOARD_SECONDS = 3
_MOST_KEPT = 64


class BoardReplays:
    """Makes and keeps these replays; ``folder`` is where the arena's are. It is used in one event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = asyncio.Lock()
        self._cache: OrderedDict[str, tuple[int, bytes]] = OrderedDict()

    async def get(self, match: MatchAnswer, path: Path) -> bytes:
        """Return the players' version of a match's replay, as far as it is written. HTTPException 404 if there is none."""
        try:
            return bytes(await worked(lambda: self._made(match, path), self._turn))
        except (OSError, ValueError, zlib.error):
            raise HTTPException(404, "The replay of this match can't be read.") from None

    def _made(self, match: MatchAnswer, path: Path) -> bytes:
        facts = path.stat()
        # The replay of a match that is played changes every second.
        changed = facts.st_mtime_ns if match.ended else int(facts.st_mtime // BOARD_SECONDS)
        entry = self._cache.pop(match.id, (0, b""))
        if entry[0] != changed:
            entry = changed, players_version(path, self._folder, is_whole=False)
        self._cache[match.id] = entry
        while len(self._cache) > _MOST_KEPT:
            self._cache.popitem(last=False)
        return entry[1]
