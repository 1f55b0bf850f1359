"""Plays short matches and then a long one, all with the same supervisor, as a worker of a league does; ends with 4 if one is void.

Arguments: the bot, the folder for replays, the level, the value of --idle, the number of short matches, the steps of the last match.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.isolation.launcher import open_launcher
from referee.isolation.limits import Limits
from referee.match.match import Match
from referee.match.request import MatchRequest
from referee.players.names import resolve

if TYPE_CHECKING:
    from referee.isolation.bot import Bot
    from referee.isolation.process import Launcher


def main(bot: str, folder: str, level: str, idle: str, short_matches: int, steps: int) -> None:
    """Play; the replays of the short matches go into a folder of their own."""
    specs = {seat: resolve(bot, seat, "evasion") for seat in ("hunter", "prey")}
    launcher = open_launcher(level, Limits(), [*specs.values()])
    first = os.path.join(folder, "first", "")
    os.mkdir(first)
    try:
        for _ in range(short_matches):
            _play(specs, launcher, idle, 2, first)
        _play(specs, launcher, idle, steps, os.path.join(folder, ""))
    except MatchVoid as error:
        print(error, file=sys.stderr)
        sys.exit(4)
    finally:
        launcher.close()


def _play(bots: dict[str, Bot], launcher: Launcher, idle: str, steps: int, out: str) -> None:
    time = {"startup": None, "move": None, "bank": None}
    run = {"cores": 0, "idle": idle, "max_lateness": 3600.0}
    request = MatchRequest(time=time, run=run, settings={"max_steps": steps}, out=out)
    Match(request.spec(bots, request.reserve(["bot" for _ in bots], tuple(bots))), launcher=launcher).run()


def _terminate(number: int, _: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    # As the command line does: what a match has made is removed.
    signal.signal(signal.SIGTERM, _terminate)
    bot, folder, level, idle, short_matches, steps = sys.argv[1:]
    main(bot, folder, level, idle, int(short_matches), int(steps))
