"""A step of a match beside a bare loop, and the parts of the referee that every match uses: engine, environment, replays, the start.

python benchmarks/match_step.py [--rounds 7] [--steps 10000] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from functools import partial
from pathlib import Path

from harness import ROOT, Figure, alternate, child, open_folder, run, timed
from matches import IDLE_SDK, PARSING, FloorGame, step_of_match, written

from referee.api import play
from referee.games.evasion.game import GAME
from referee.match.options import CPU, WALL
from referee.replay.reader import verify
from sdk.env import EvasionEnv

#: Writes the time of its first question to its log, by the system-wide monotonic clock.
STAMPING = """
import sys, time
from sdk import HunterBot, PreyBot
class Stamping(HunterBot, PreyBot):
    def hunt(self, state):
        if self.turn == 0:
            print(time.monotonic(), file=sys.stderr)
    def flee(self, state):
        pass
Stamping.main()
"""


def floor(steps: int) -> float:
    """Return the microseconds for a step of the bare loop."""
    output = child(sys.executable, str(ROOT / "benchmarks" / "floor.py"), str(steps))
    step = re.match(r"([\d.]+) us a step", output)
    assert step is not None, output
    return float(step[1])


def match_steps(rounds: int, steps: int, folder: Path) -> list[Figure]:
    """A match step beside the floor, by each clock and with bots that run between turns; the SDK beside a bot that only parses."""
    parsing, sdk = written(folder, "parsing", PARSING), written(folder, "idle_sdk", IDLE_SDK)
    step = partial(step_of_match, steps=steps, game=FloorGame(), replay=folder / "bench.replay.jsonl.gz")
    floors, fair, wall, cpu, runs, idle = alternate(
        rounds,
        partial(floor, steps),
        partial(step, parsing),
        partial(step, parsing, clock=WALL),
        partial(step, parsing, clock=CPU),
        partial(step, parsing, idle="run"),
        partial(step, sdk),
    )
    return [
        Figure("match step, trivial bots", "us", fair, floors, "ratio", 2.2),
        Figure("the same with the wall clock", "us", wall, floors, "ratio", 2.2),
        Figure("the same with the cpu clock", "us", cpu, floors, "ratio", 2.2),
        Figure("the same with idle = run", "us", runs, floors, "ratio", 2.2),
        Figure("match step, idle SDK bots", "us", idle, fair, "excess", 20.0),
    ]


def engine(rounds: int, steps: int) -> list[Figure]:
    """Steps in this process without players, and those of Gymnasium's environment with random actions against ``runner``."""
    start = GAME.start(GAME.codec.settings("classic", {"max_steps": steps}), b"")
    moves = {"hunter": GAME.codec.parse(start, "hunter", {}), "prey": GAME.codec.parse(start, "prey", {"go": [0, 1]})}
    environment = EvasionEnv(max_steps=10 * steps, max_walls=4)
    environment.action_space.seed(1)
    actions = [environment.action_space.sample() for _ in range(steps)]

    def in_process() -> None:
        state = start
        for _ in range(steps):
            state, _ = GAME.step(state, moves)

    def learning() -> None:
        environment.reset(seed=1)
        for action in actions:
            if environment.step(action)[2]:
                environment.reset()

    bare, env = alternate(rounds, lambda: timed(in_process) / steps * 1e3, lambda: timed(learning) / steps * 1e3)
    return [
        Figure("engine step, in process", "us", bare, None, "value", 6.0),
        Figure("sdk.env, step of one seat", "us", env, bare, "ratio"),
        Figure("sdk.env, steps a second", "/s", [1e6 / each for each in env]),
    ]


def replays(rounds: int, steps: int, folder: Path) -> list[Figure]:
    """Verification and size of a replay of two moving bots."""
    played = play("straight", "evader", max_steps=steps, seed=1, out=f"{folder}{os.sep}")

    def verified() -> None:
        assert verify(played.replay).problem is None

    (speed,) = alternate(rounds, lambda: played.steps / timed(verified) * 1e3)
    return [
        Figure("verify", "steps/s", speed, None, "value", 90_000.0, at_least=True),
        Figure("replay", "bytes/step", [played.replay.stat().st_size / played.steps], None, "value", 20.0),
    ]


def starts(rounds: int, folder: Path) -> list[Figure]:
    """Command to first question, and the import of the SDK for each game, beside bare Python."""
    bot = str(written(folder, "stamping", STAMPING))
    command = [sys.executable, "-m", "referee", "play", bot, bot, "--max-steps", "1", "--json", "--out", f"{folder}{os.sep}"]

    def first_question() -> float:
        begun = time.monotonic()
        log = json.loads(child(*command))["logs"]["hunter"]
        return (float(Path(log).read_text()) - begun) * 1e3

    def python(statement: str) -> float:
        return timed(partial(child, sys.executable, "-c", statement))

    imports = ["import sdk", *(f"from sdk import {name}" for name in ("HunterBot", "RectangleBot", "ThiefBot"))]
    measures = [partial(python, "pass"), first_question, *(partial(python, statement) for statement in imports)]
    for measure in measures:
        measure()
    bare, question, *imported = alternate(rounds, *measures)
    return [
        Figure("command to first question", "ms", question, bare, "value", 400.0),
        *(
            Figure(name, "ms", values, bare, "excess", 20.0 if name == "import sdk" else None)
            for name, values in zip(imports, imported, strict=True)
        ),
    ]


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    rounds, steps = options.rounds, options.steps
    with open_folder() as folder:
        return [
            *match_steps(rounds, steps, folder),
            *engine(rounds, steps),
            *replays(rounds, steps, folder),
            *starts(2 * rounds + 1, folder),
        ]


if __name__ == "__main__":
    run(__doc__, everything, steps=(10_000, "steps of each match"))
