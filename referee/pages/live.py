"""The match's side of its live pages: starts their process, reports new data in the replay, and holds the pipes to the people."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import MatchVoid
from referee.pages.security import new_token
from referee.pages.serve import ENDED, GROWN, STAY, bind, is_for_others, names_of, shown_host
from referee.players.player import Connection
from referee.replay.events import Listener, MatchBegun
from referee.support.processes import start_module

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat

#: Seconds that the server may take to start.
_PATIENCE = 30.0


class Pages(Listener):
    """The pages of one match. Create it before the bots start. ``addresses`` has one address for each seat of a person, and under None that
    for spectators. People play at ``pace``; ``is_timed``: they have clocks as bots do. ``names`` are further names of the server.

    ``start`` is the position in which the match begins, as spectators see it, with its turn: the pages show it before the match.
    ``bots_pace`` is the pace of a match between programs in steps a second, if there is one.
    """

    def __init__(
        self,
        replay: Path,
        logs: Mapping[Seat, Path],
        people: tuple[Seat, ...],
        head: Mapping[str, Json],
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        pace: float | None = 8,
        is_timed: bool = False,
        names: tuple[str, ...] = (),
        start: Mapping[str, Json] | None = None,
        bots_pace: float | None = None,
    ) -> None:
        self.connections: dict[Seat, Connection] = {}
        self._process: subprocess.Popen[bytes] | None = None
        listener = bind(host, port)
        tokens = {seat: new_token() for seat in (None, *people)}
        self.port: int = listener.getsockname()[1]
        address = f"http://{shown_host(host)}:{self.port}"
        self.addresses = {seat: f"{address}/{token}/" for seat, token in tokens.items()}
        own_names, takes_addresses = names_of(host, names)
        news, self._news = os.pipe()
        announced, announce = os.pipe()
        theirs = [news, announce, listener.fileno()]
        pipes = {}
        for seat in people:
            questions, answers, words = os.pipe(), os.pipe(), os.pipe()
            self.connections[seat] = Connection("human", questions[1], answers[0], words[0])
            pipes[seat] = (questions[0], answers[1], words[1])
            theirs += pipes[seat]
        os.set_blocking(self._news, False)
        given: dict[str, Any] = {
            "folder": str(Path.cwd()),
            "replay": str(replay.absolute()),
            "logs": {seat: str(path.absolute()) for seat, path in logs.items()},
            "tokens": {token: seat for seat, token in tokens.items()},
            "pipes": pipes,
            "config": {
                "name": replay.name,
                "server": True,
                "settings": head,
                "start": start,
                "timed": is_timed,
                "pace": bots_pace,
            },
            "join": self.addresses[None] if is_for_others(host) else None,
            "pace": pace,
            "names": own_names,
            "takes_addresses": takes_addresses,
            "news": news,
            "announce": announce,
            "listener": listener.fileno(),
        }
        try:
            self._start(given, theirs)
        finally:
            listener.close()
            # Close the other side's ends here, so that its closing of them is noticed.
            for fd in (news, announce, *(fd for ends in pipes.values() for fd in ends)):
                os.close(fd)
        with os.fdopen(announced, "rb", buffering=0) as news_of_start:
            ready, _, _ = select.select([news_of_start], [], [], _PATIENCE)
            if not ready or not news_of_start.read(1):
                self.close()
                raise MatchVoid("The server of the match's pages did not start; the lines above may say why.")

    def _start(self, given: dict[str, Any], theirs: list[int]) -> None:
        self._process = start_module("referee.pages.serve", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=theirs)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            # Secrets go over a pipe, so that no process list shows them.
            self._process.stdin.write(json.dumps(given).encode() + b"\n")
            self._process.stdin.close()

    def begun(self, event: MatchBegun) -> None:
        """Move the server off the core that the match has claimed."""
        if self._process is None or not hasattr(os, "sched_getaffinity"):
            return
        mine, all_cores = os.sched_getaffinity(0), set(range(os.cpu_count() or 1))
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._process.pid, (os.sched_getaffinity(self._process.pid) - mine) or all_cores)

    def grown(self) -> None:
        """Report that the replay has grown. This never blocks: one waiting report is enough."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._news, GROWN)

    def end(self, *, stays: bool) -> None:
        """Report the end of the match. With ``stays`` the server runs until ``close``, else until all spectators have seen the end."""
        with contextlib.suppress(OSError):
            os.set_blocking(self._news, True)
            os.write(self._news, ENDED + (STAY if stays else b""))

    def wait(self) -> None:
        """Wait until the server has exited."""
        if self._process is not None:
            self._process.wait()

    def close(self) -> None:
        """End the server, if it is still there."""
        if self._news >= 0:
            os.close(self._news)
        self._news = -1
        if self._process is not None:
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
