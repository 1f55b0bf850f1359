"""The pages of many replays below one address: each replay has a site of its own, and only the latest ones are kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from referee.replay.paths import log_path
from referee.web.app import ReplaySession, Site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from referee.games.game import Seat

#: How many replays are kept open at once.
_MOST_SITES = 8


class ReplaySites:
    """The sites of many replays, by keys. One replay is worked on at a time."""

    def __init__(self, token: str, names: Iterable[str], *, takes_addresses: bool) -> None:
        self._token = token
        self._names = tuple(names)
        self._takes_addresses = takes_addresses
        self._sites: dict[str, tuple[Site, ASGIApp]] = {}
        self._turn = threading.Lock()

    def open(self, key: str, path: Path, seats: Iterable[Seat], config: Mapping[str, Any] | None = None) -> ASGIApp:
        """Return the pages of a replay. ``config`` is what its viewer must know beside the replay."""
        found = self._sites.pop(key, None)
        if found is None:
            given = {"mode": "watch", "name": path.name, "server": True, **(config or {})}
            logs = {seat: log_path(path, seat) for seat in seats}
            site = Site(ReplaySession(path, turn=self._turn), given, {self._token: None}, logs)
            found = site, site.app(self._names, takes_addresses=self._takes_addresses)
        # The last one that was asked for is the last one that goes.
        self._sites[key] = found
        while len(self._sites) > _MOST_SITES:
            self.drop(next(iter(self._sites)))
        return found[1]

    def drop(self, key: str) -> None:
        """End the work on a replay, if it is open."""
        found = self._sites.pop(key, None)
        if found is not None:
            found[0].kept.recorded.cancel()
            found[0].close()

    def close(self) -> None:
        """End all work."""
        for key in list(self._sites):
            self.drop(key)


async def passed_on(site: ASGIApp, token: str, path: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request on to the pages of a replay; ``path`` is the rest of its address."""
    address = f"/{token}/{path}"
    await site({**scope, "path": address, "raw_path": address.encode()}, receive, send)
