"""A step of a match beside a bare loop, and the parts of the referee that every match uses: engine, replays, the start.

python benchmarks/match_step.py [--rounds 7] [--steps 10000] [--json]

docs/speed.md has the budgets.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from harness import Figure, alternate, child, run
from matches import IDLE_SDK, PARSING, FloorGame, floor, step_of_match

from referee.games.evasion.game import GAME
from referee.match.options import CPU, WALL
from referee.replay.reader import verify
from referee.support.processes import module_command

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


def match_steps(rounds: int, steps: int) -> list[Figure]:
    """A match step beside the floor, by each clock and with bots that run between turns; the SDK beside a bot that only parses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.replay.jsonl.gz"
        floors, stop, wall, cpu, run, sdk = alternate(
            rounds,
            lambda: floor(steps),
            lambda: step_of_match(PARSING, steps, FloorGame(), path, "stop"),
            lambda: step_of_match(PARSING, steps, FloorGame(), path, "stop", clock=WALL),
            lambda: step_of_match(PARSING, steps, FloorGame(), path, "stop", clock=CPU),
            lambda: step_of_match(PARSING, steps, FloorGame(), path, "run"),
            lambda: step_of_match(IDLE_SDK, steps, FloorGame(), path, "stop"),
        )
    return [
        Figure("match step, trivial bots", "us", stop, floors, "ratio", 2.2),
        Figure("the same with the wall clock", "us", wall, floors, "ratio", 2.2),
        Figure("the same with the cpu clock", "us", cpu, floors, "ratio", 2.2),
        Figure("the same with idle = run", "us", run, floors, "ratio", 2.2),
        Figure("match step, idle SDK bots", "us", sdk, stop, "excess", 20.0),
    ]


def engine_step(rounds: int, steps: int) -> Figure:
    """Measure one engine step in this process, without players."""
    game = GAME
    start = game.start(game.codec.settings("classic", {}), b"")
    moves = {"hunter": game.codec.parse(start, "hunter", {}), "prey": game.codec.parse(start, "prey", {"go": [0, 1]})}

    def steps_in_process() -> float:
        state = game.start(game.codec.settings("classic", {"max_steps": steps}), b"")
        begun = time.perf_counter()
        for _ in range(steps):
            state, _ = game.step(state, moves)
        return (time.perf_counter() - begun) / steps * 1e6

    return Figure("engine step, in process", "us", alternate(rounds, steps_in_process)[0], None, "value", 6.0)


def replays(rounds: int, steps: int) -> list[Figure]:
    """Verification and size of a replay of two moving bots."""
    from referee.api import play

    with tempfile.TemporaryDirectory() as folder:
        played = play("straight", "evader", max_steps=steps, seed=1, out=folder + os.sep)
        count = played.steps

        def verified() -> float:
            begun = time.perf_counter()
            assert verify(played.replay).problem is None
            return count / (time.perf_counter() - begun)

        speed = alternate(rounds, verified)[0]
        size = [played.replay.stat().st_size / count]
    return [
        Figure("verify", "steps/s", speed, None, "value", 90_000.0, at_least=True),
        Figure("replay", "bytes/step", size, None, "value", 20.0),
    ]


def _milliseconds(command: list[str]) -> float:
    begun = time.perf_counter()
    child(command)
    return (time.perf_counter() - begun) * 1e3


def starts(rounds: int) -> list[Figure]:
    """Command to first question, and the import of the SDK for each game, beside bare Python."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder) / "stamping.py"
        bot.write_text(STAMPING)
        command = module_command("referee", "play", str(bot), str(bot), "--max-steps", "1", "--json", "--out", folder + os.sep)

        def first_question() -> float:
            begun = time.monotonic()
            told = json.loads(child(command))
            return (float(Path(told["logs"]["hunter"]).read_text()) - begun) * 1e3

        bare = [sys.executable, "-c", "pass"]
        imports = ["import sdk", *(f"from sdk import {name}" for name in ("HunterBot", "RectangleBot", "ThiefBot"))]
        sdk = [partial(_milliseconds, [sys.executable, "-c", statement]) for statement in imports]
        first_question()
        for importing in sdk:
            importing()
        floor, question, *imported = alternate(rounds, lambda: _milliseconds(bare), first_question, *sdk)
    return [
        Figure("command to first question", "ms", question, floor, "value", 400.0),
        Figure("import sdk", "ms", imported[0], floor, "excess", 20.0),
        *(Figure(name, "ms", values, floor, "excess") for name, values in zip(imports[1:], imported[1:], strict=True)),
    ]


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    rounds, steps = options.rounds, options.steps
    return [
        *match_steps(rounds, steps),
        engine_step(rounds, steps),
        *replays(rounds, steps),
        *starts(2 * rounds + 1),
    ]


if __name__ == "__main__":
    run(__doc__, everything)
