"""The pages of one match, for spectators and for people who play: the match's side of them.

It starts the process that serves them, reports new data in the replay, and holds the pipes to the people.
"""

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
from referee.replay.events import Listener, MatchBegun, MatchResult, Saves
from referee.replay.paths import log_path
from referee.support.processes import start_module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from referee.games.game import Game, Json, Seat
    from referee.match.start import Start
    from referee.pages.show import Show

#: Seconds that the server may take to start.
_PATIENCE = 30.0
#: Seconds between two writes of the replay while pages show it.
_LIVE_SECONDS = 0.04


class MatchPages(Listener):
    """The pages of a match that isn't there yet, as a context manager. After the match they are served until it exits.

    They show the ``start`` before the match begins. ``players`` are the names by seat; ``people`` play on pages, ``programs`` have logs.
    ``connections`` are the people's. ``addresses`` has one address for each seat of a person, and under None that for spectators.
    """

    def __init__(
        self,
        game: Game,
        settings: Any,
        start: Start,
        replay: Path,
        players: Mapping[Seat, str],
        people: Sequence[Seat],
        programs: Sequence[Seat],
        show: Show,
    ) -> None:
        # With a person, write the replay after every step, because they wait to see it; spectators can see steps in groups.
        self.saves = Saves(1 if people else 100, _LIVE_SECONDS)
        self._stays = show.stays
        self._process: subprocess.Popen[bytes] | None = None
        listener = bind(show.host, show.port)
        tokens = {seat: new_token() for seat in (None, *people)}
        self.port: int = listener.getsockname()[1]
        address = f"http://{shown_host(show.host)}:{self.port}"
        self.addresses = {seat: f"{address}/{token}/" for seat, token in tokens.items()}
        names, takes_addresses = names_of(show.host, show.names)
        news, self._news = os.pipe()
        announced, announce = os.pipe()
        self.connections, pipes = _connected(people)
        os.set_blocking(self._news, False)
        is_paced = game.human_play is not None and game.human_play.is_paced
        task: dict[str, Json] = {
            "folder": str(Path.cwd()),
            "replay": str(replay.absolute()),
            "logs": {seat: str(log_path(replay, seat).absolute()) for seat in programs},
            "tokens": {token: seat for seat, token in tokens.items()},
            "pipes": pipes,
            "config": {
                "name": replay.name,
                "server": True,
                "settings": _head(game, settings, players),
                "start": {"turn": start.turn, "state": json.loads(game.codec.view_text(start.state, None))},
                "timed": show.is_timed,
                "people": list(people),
                "pace": show.bots_pace,
            },
            "join": self.addresses[None] if is_for_others(show.host) else None,
            "pace": show.pace if is_paced else None,
            "names": names,
            "takes_addresses": takes_addresses,
            "news": news,
            "announce": announce,
            "listener": listener.fileno(),
        }
        theirs = [news, announce, *(fd for ends in pipes.values() for fd in ends)]
        try:
            self._start(task, [*theirs, listener.fileno()])
        finally:
            listener.close()
            # Close the other side's ends here, so that its closing of them is noticed.
            for fd in theirs:
                os.close(fd)
        self._wait_for_start(announced)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait_for_start(self, announced: int) -> None:
        with os.fdopen(announced, "rb", buffering=0) as news_of_start:
            ready, _, _ = select.select([news_of_start], [], [], _PATIENCE)
            if not ready or not news_of_start.read(1):
                self.close()
                raise MatchVoid("The server of the match's pages did not start; the lines above may say why.")

    def _start(self, task: dict[str, Json], descriptors: list[int]) -> None:
        self._process = start_module("referee.pages.serve", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=descriptors)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            # Secrets go over a pipe, so that no process list shows them.
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.close()

    def begun(self, event: MatchBegun) -> None:
        """Move the server off the core that the match has claimed."""
        if self._process is None or not hasattr(os, "sched_getaffinity"):
            return
        mine, all_cores = os.sched_getaffinity(0), set(range(os.cpu_count() or 1))
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._process.pid, (os.sched_getaffinity(self._process.pid) - mine) or all_cores)

    def saved(self) -> None:
        """Report that the replay has grown. This never blocks: one waiting report is enough."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._news, GROWN)

    def ended(self, event: MatchResult) -> None:
        """Report the end of the match. The server runs until ``close``, or until all spectators have seen the end."""
        with contextlib.suppress(OSError):
            os.set_blocking(self._news, True)
            os.write(self._news, ENDED + (STAY if self._stays else b""))

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


def _connected(people: Sequence[Seat]) -> tuple[dict[Seat, Connection], dict[Seat, tuple[int, int, int]]]:
    """Return the pipes to people: the ends of the match, and those of the server."""
    connections, pipes = {}, {}
    for seat in people:
        questions, answers, words = os.pipe(), os.pipe(), os.pipe()
        connections[seat] = Connection("human", questions[1], answers[0], words[0])
        pipes[seat] = (questions[0], answers[1], words[1])
    return connections, pipes


def _head(game: Game, settings: Any, players: Mapping[Seat, str]) -> dict[str, Json]:
    """Return what the pages know of the replay's head before the match begins."""
    return {
        "format": 1,
        "game": game.info.name,
        "version": game.info.version,
        "rules": settings.rules,
        "settings": game.codec.settings_json(settings),
        "players": {seat: {"name": name} for seat, name in players.items()},
        "clock": {},
    }
