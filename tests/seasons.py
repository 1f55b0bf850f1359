"""What the tests of an arena's server share: a small arena with invited teams, and requests to its server without a network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from arenas import begin
from serving import asked

from referee.arena.arena import open_arena
from referee.arena.player import arena_pool, play_batches
from referee.arena.server import ArenaServer
from referee.tournament.progress import ProgressLines
from referee.tournament.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import ASGIApp

    from referee.arena.arena import OpenArena
    from referee.arena.store import ArenaStore

TOKENS = {"Ada": "tada", "Bob": "tbob", None: "tstaff"}


class Answer(NamedTuple):
    """An answer. ``json`` is its value, None if it is no JSON."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        with contextlib.suppress(ValueError):
            return json.loads(self.body)
        return None


class Season(NamedTuple):
    """An arena with its server."""

    arena: OpenArena
    store: ArenaStore
    app: ASGIApp
    #: Names of things in the season, for tests that ask for them.
    names: dict[str, str]

    def ask(
        self,
        path: str,
        token: str | None = None,
        body: bytes | None = b"",
        headers: dict[str, str] | None = None,
        method: str | None = None,
    ) -> Answer:
        """Ask with the token of a team."""
        given = {**({} if token is None else {"authorization": f"Bearer {token}"}), **(headers or {})}
        return Answer(*asyncio.run(asked(self.app, path, body=body, headers=given, method=method)))

    def post(self, path: str, value: Any, token: str | None = None) -> Answer:
        """Post JSON."""
        return self.ask(path, token, json.dumps(value).encode(), {"content-type": "application/json"})

    def hand_in(self, data: bytes, token: str | None = TOKENS["Ada"], name: str = "bot.py", note: str = "") -> Answer:
        """Hand in a file."""
        return self.ask("/api/submissions", token, form(data, name, note), FORM, "POST")


FORM = {"content-type": "multipart/form-data; boundary=B"}


def form(data: bytes, name: str = "bot.py", note: str = "") -> bytes:
    """The body of a hand-in."""
    parts = [f'--B\r\nContent-Disposition: form-data; name="note"\r\n\r\n{note}\r\n'.encode()]
    parts += [f'--B\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode(), data, b"\r\n--B--\r\n"]
    return b"".join(parts)


@contextlib.contextmanager
def season(folder: Path, more: str = "") -> Iterator[Season]:
    """Begin an arena with a reference and two teams, and its server."""
    begin(folder / "arena", 1, more).close()
    with _reopened(folder) as begun:
        begun.store.tokens.put((token, team) for team, token in TOKENS.items())
        yield begun


@contextlib.contextmanager
def copied(old: Path, folder: Path) -> Iterator[Season]:
    """Copy a season that was closed, and open the copy with a server of its own: less than a third of the work of another season."""
    shutil.copytree(old / "arena", folder / "arena")
    with contextlib.closing(sqlite3.connect(folder / "arena" / "arena.sqlite")) as database, database:
        for column in ("players", "home"):
            database.execute(f"update programs set {column} = replace({column}, ?, ?)", (str(old), str(folder)))
    with _reopened(folder) as found:
        yield found


@contextlib.contextmanager
def _reopened(folder: Path) -> Iterator[Season]:
    with contextlib.closing(open_arena(folder / "arena")) as arena, contextlib.closing(ArenaServer(arena, stale_seconds=0.0)) as server:
        yield Season(arena, arena.store, server.app(), {})


def play(running: Season, duels: int) -> None:
    """Play this number of duels."""
    running.arena.plan(duels)
    with contextlib.closing(arena_pool(running.arena, Workers(1), lambda _: None)) as pool:
        play_batches(running.arena, pool, ProgressLines(running.arena.counts, print))
