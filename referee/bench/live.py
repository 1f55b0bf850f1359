"""The cost of spectators to a match: the same match without and with many spectators, in turn."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from referee import games
from referee.bench.measures import PARSING, Figure, Stopwatch, alternate, entrants
from referee.errors import RefereeError
from referee.match.clock import TimeControl
from referee.match.loop import Match, Options
from referee.replay.writer import ReplayWriter
from referee.support.processes import start_module
from referee.web.live import Pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.match.loop import Entrant

#: The share of its speed that a match may lose to its spectators.
BUDGET = 1.10
_PATIENT = TimeControl(60.0, 60.0, None)


def spectators(rounds: int, steps: int, count: int) -> list[Figure]:
    """Measure a step of a match with ``count`` spectators, and of the same match with a replay but no spectators, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        players = entrants(PARSING)
        place = Path(folder)
        alone, watched = alternate(rounds, lambda: _match(players, steps, place, 0), lambda: _match(players, steps, place, count))
    return [Figure(f"step, {count} spectators", "us", watched, alone, "ratio", BUDGET)]


def _match(players: Mapping[str, Entrant], steps: int, folder: Path, count: int) -> float:
    """Microseconds for a step of one match."""
    game = games.get("evasion")
    settings = game.codec.settings("classic", {"max_steps": steps})
    path = folder / "live.replay.jsonl.gz"
    stopwatch = Stopwatch()
    if not count:
        Match(game, settings, players, Options(_PATIENT), seed=1, listeners=[ReplayWriter(path), stopwatch]).run()
        return stopwatch.seconds / steps * 1e6
    head = {"game": "evasion", "rules": "classic", "settings": {}, "players": {}, "clock": {}}
    pages = Pages(path, {}, (), head, port=0)
    crowd = start_module("referee.bench.live", pages.addresses[None], str(count), stdout=subprocess.PIPE)
    try:
        assert crowd.stdout is not None
        if crowd.stdout.readline() != b"here\n":
            raise RefereeError("The spectators of the benchmark could not connect.")
        writer = ReplayWriter(path, seconds=0.04, on_flush=pages.grown)
        Match(game, settings, players, Options(_PATIENT), seed=1, listeners=[writer, pages, stopwatch]).run()
        pages.end(stays=False)
        seen, _ = crowd.communicate(timeout=60)
        if int(seen) != count:
            raise RefereeError(f"{count - int(seen)} of the {count} spectators of the benchmark did not see the end of the match.")
    finally:
        crowd.kill()
        crowd.wait()
        pages.close()
    return stopwatch.seconds / steps * 1e6


async def _crowd(address: str, count: int) -> None:
    """Connect the spectators, print "here", read to the end of the match, and print how many reached it."""
    from websockets.asyncio.client import ClientConnection, connect

    socket = address.replace("http", "ws", 1) + "socket?from=0"
    connections: list[ClientConnection] = [await connect(socket) for _ in range(count)]
    print("here", flush=True)  # noqa: T201 - to the process that measures

    async def see(connection: ClientConnection) -> bool:
        async for message in connection:
            if isinstance(message, str) and '"over"' in message:
                return True
        return False

    print(sum(await asyncio.gather(*map(see, connections))), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    # Real spectators use other machines, so these must not use the match's core, which is the last one.
    if hasattr(os, "sched_setaffinity") and len(cores := sorted(os.sched_getaffinity(0))) > 1:
        os.sched_setaffinity(0, cores[:-1])
    asyncio.run(_crowd(sys.argv[1], int(sys.argv[2])))
