"""What a sandbox costs: the start of a bot, and a step of a match. ``short_matches.py`` measures whole matches in it.

python benchmarks/isolation.py [--rounds 7] [--steps 10000] [--json]
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from harness import Figure, alternate, open_folder, run
from matches import IDLE_SDK, PARSING, FloorGame, start_line, step_of_match, written

from referee.errors import RefereeError
from referee.isolation.choose import choose
from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.isolation.limits import Limits
from referee.isolation.log import Log
from referee.match.options import CPU, WALL
from referee.players.clock import Clock, TimeControl
from referee.players.exchange import Exchange
from referee.players.names import resolve


def start(bot: Path, level: Level) -> float:
    """Return the milliseconds from the request for a bot to its ``ready`` message."""
    program = resolve(str(bot), "hunter", "evasion")
    launcher = BotLauncher(lambda _: level)
    launcher.settle([program])
    exchange = Exchange({"hunter": program}, {"hunter": Log(None, 0)}, launcher, max_lateness=60.0)
    begun = time.perf_counter()
    try:
        exchange.open()
        clock = Clock(TimeControl(move=60.0, kind=WALL))
        reply = exchange.ask_all({"hunter": (start_line("hunter"), clock)})["hunter"]
        taken = time.perf_counter() - begun
    finally:
        exchange.close()
        launcher.close()
    if reply.line is None:
        raise RefereeError(f"The bot of the benchmark did not start: {reply.failure}")
    return taken * 1e3


def everything(options: argparse.Namespace) -> list[Figure]:
    """A start and a step in the sandbox and without, with bots that are stopped and without, by both clocks.

    UsageError if this machine has no sandbox.
    """
    none, strict = Level(), choose("strict", Limits())._replace(is_strict=False)
    with open_folder() as folder:
        bot, sdk = written(folder, "bot", PARSING), written(folder, "idle_sdk", IDLE_SDK)
        start(bot, strict)
        bare, inside, with_sdk = alternate(
            4 * options.rounds, partial(start, bot, none), partial(start, bot, strict), partial(start, sdk, strict)
        )
        step = partial(step_of_match, bot, options.steps, game=FloorGame())
        kinds = [{"clock": WALL, "idle": "run"}, {"clock": WALL}, {"clock": CPU}]
        measures = [partial(step, **kind, level=level) for kind in kinds for level in (none, strict)]
        runs, runs_inside, plain, stopped, billed, billed_inside = alternate(options.rounds, *measures)
    return [
        Figure("start of a bot, isolated", "ms", inside, bare, "excess", 25.0),
        Figure("start of an SDK bot, isolated", "ms", with_sdk, inside, "ratio", 1.15),
        Figure("match step, isolated, idle = run", "us", runs_inside, runs, "ratio", 1.05),
        Figure("match step, isolated", "us", stopped, plain, "ratio", 1.1),
        Figure("the same with the cpu clock", "us", billed_inside, billed, "ratio", 1.1),
        Figure("the cpu clock, isolated", "us", billed_inside, stopped, "ratio"),
    ]


if __name__ == "__main__":
    run(__doc__, everything, steps=(10_000, "steps of each match"))
