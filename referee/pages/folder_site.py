"""The server of a folder of replays: their list, the replays of its small boards, the viewer of each replay, and the projector's page."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from referee.pages import qr, render
from referee.pages.app import asset
from referee.pages.replay_session import in_thread, worked
from referee.pages.replay_sites import ReplaySites
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Scope

    from referee.games.game import Json
    from referee.pages.folder_index import FolderIndex
    from referee.pages.folder_listing import ShownStandings

#: The most bytes of a replay that are read for its small board.
_MOST_BYTES = 4 << 20
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_GONE = "The address is not complete, or this list is over; use the one that the referee printed, to the last sign.\n"


class FolderPages:
    """The pages of the replays of a folder. ``standings`` is called if the folder is that of a league.

    ``join`` is the address that the projector's page shows to phones, None if other machines can't open it.
    """

    def __init__(
        self, index: FolderIndex, token: str, name: str, standings: Callable[[], ShownStandings] | None = None, join: str | None = None
    ) -> None:
        self.index = index
        self._name = name
        self._standings = standings
        self._join = join
        self._asking = asyncio.Lock()
        self._sites = ReplaySites(token)

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the ASGI application; ``names`` and ``takes_addresses`` as for ``SecurityMiddleware``."""
        pages = {
            "": self._page("folder"),
            "projector": self._page("projector"),
            "list": self._list,
            "standings": self._table,
            "boards/{number}": self._board,
            "{path:path}": asset,
        }
        return self._sites.app(pages, "replay", self._site, _GONE, names, takes_addresses=takes_addresses)

    def has_token(self, scope: Scope) -> bool:
        """Return False: all visitors are spectators."""
        return False

    def close(self) -> None:
        """End all work on replays."""
        self._sites.close()

    def _page(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            config = {"name": self._name, "league": self._standings is not None, **(qr.join(self._join) if kind == "projector" else {})}
            return Response(render.served(kind, config, title=self._name), media_type="text/html; charset=utf-8")

        return answer

    async def _list(self, request: Request) -> Response:
        """Return the entries from an index on."""
        start = request.query_params.get("from", "")
        if not _NUMBER.fullmatch(start):
            return PlainTextResponse("from must be a whole number.\n", 400)
        return _json(await self.index.after(int(start)))

    async def _table(self, _: Request) -> Response:
        """Return the standings of the league; an empty object if there is no league."""
        if self._standings is None:
            return _json({})
        try:
            shown: ShownStandings = await worked(self._standings, self._asking)
            return _json(shown.to_json())
        except Exception as error:  # noqa: BLE001 - the page outlives moments in which the store can't be read, and says so
            return _json({"problem": f"The standings can't be read: {error}"})

    async def _board(self, request: Request) -> Response:
        """Return the replay from which the page draws a small board. Of a long one, only the beginning."""
        number = request.path_params["number"]
        file = self.index.file(int(number)) if _NUMBER.fullmatch(number) else None
        if file is None:
            return PlainTextResponse("There is no such replay.\n", 404)

        def read() -> bytes:
            with open_regular(file.path, file.below) as replay:
                return replay.read(_MOST_BYTES)

        try:
            return Response(await in_thread(read), media_type="application/gzip")
        except (OSError, ValueError):
            return PlainTextResponse("There is no such replay any more.\n", 404)

    def _site(self, number: str) -> ASGIApp | None:
        """Return the viewer of a replay; None if there is none."""
        file = self.index.file(int(number)) if _NUMBER.fullmatch(number) else None
        if file is None:
            return None
        # A replay that has grown or changed is another one.
        key = f"{number}.{file.modified}"
        return self._sites.open(key, file.path, file.below, self.index.entries[int(number)].players, {"listed": int(number)})


def _json(value: Json) -> Response:
    # Escaped, because names of files can hold what UTF-8 can't.
    return Response(json.dumps(value, allow_nan=False), media_type="application/json")
