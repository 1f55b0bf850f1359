"""The live report of a running league: writes and serves it every few seconds, so that its page can update its parts.

Serves only the files of the report, and only below the secret part of the address. They have security policies of their own.
"""

from __future__ import annotations

import asyncio
import hmac
from time import monotonic
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Route

from referee.errors import RefereeError
from referee.league import report_folder
from referee.league.report import RUNNING, of_league
from referee.pages.replay_scripts import is_served
from referee.pages.replay_session import in_thread
from referee.pages.security import SecurityMiddleware
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from referee.league.league import OpenLeague

#: The shortest interval between two reports in seconds, and at least this multiple of the time that one takes.
WRITE_SECONDS = 3.0
_PAUSE_FACTOR = 5.0
_GONE = "The address is not complete, or this league's report is over; use the one that the referee printed, to the last sign.\n"


def written(opened: OpenLeague, most_bytes: int, out: Path | None) -> bool:
    """Write the report of a league. True while the league is running."""
    data = of_league(opened, is_running=opened.store.database.is_claimed())
    report_folder.write(data, opened.folder, most_bytes, out)
    return data.progress.state == RUNNING


def rewritten(opened: OpenLeague, most_bytes: int, out: Path | None, tell: Callable[[str], None]) -> bool:
    """Do what ``written`` does; an error is told, and the league counts as running."""
    try:
        return written(opened, most_bytes, out)
    except (RefereeError, OSError) as error:
        tell(f"note: the report could not be written: {error}")
        return True


class LiveReport:
    """The pages of one report in ``folder``. ``write`` writes it again and returns whether the league is running; it is called in a thread.

    Create it in a running event loop.
    """

    def __init__(self, write: Callable[[], bool], folder: Path, token: str, write_seconds: float = WRITE_SECONDS) -> None:
        self._write = write
        self._folder = folder.resolve()
        self._token = token
        self._write_seconds = write_seconds
        self._writing = asyncio.get_running_loop().create_task(self._write_again())

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the ASGI application; ``names`` and ``takes_addresses`` as for ``SecurityMiddleware``."""
        routes = [Route("/{token}/{path:path}", self._file), Route("/{path:path}", _gone)]
        return SecurityMiddleware(Starlette(routes=routes), names, takes_addresses=takes_addresses, has_policy=True)

    def has_token(self, scope: Scope) -> bool:
        """Return False: all visitors are readers."""
        return False

    def close(self) -> None:
        """Stop writing."""
        self._writing.cancel()

    async def _write_again(self) -> None:
        is_running, seconds = True, 0.0
        while is_running:
            await asyncio.sleep(max(self._write_seconds, _PAUSE_FACTOR * seconds))
            begun = monotonic()
            is_running = await in_thread(self._write)
            seconds = monotonic() - begun

    async def _file(self, request: Request) -> Response:
        path = self._folder / request.path_params["path"]
        if not hmac.compare_digest(request.path_params["token"].encode(), self._token.encode()):
            return await _gone(request)
        try:
            if not is_served(self._folder, request.path_params["path"]):
                return PlainTextResponse("There is no such page.\n", 404)
            open_regular(path, self._folder).close()
        except (OSError, ValueError):
            return PlainTextResponse("There is no such page.\n", 404)
        return FileResponse(path)


async def _gone(_: Request) -> Response:
    return PlainTextResponse(_GONE, 404, {"Connection": "close"})
