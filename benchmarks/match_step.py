"""A step of a match beside a bare loop, and the parts of the referee that every match uses: engine, searches, replays, the start.

python benchmarks/match_step.py [--rounds 7] [--steps 10000] [--json] [--against FILE]

docs/speed.md has the budgets.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness import Figure, alternate, child, run
from matches import IDLE_SDK, PARSING, FloorGame, floor, step_of_match

from referee.games.evasion.game import GAME
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Kind, Wall
from referee.games.evasion.board.walls import Walls, trace
from referee.games.evasion.forward import Forward, Room
from referee.match.options import CPU, WALL
from referee.replay.reader import verify
from referee.support.processes import module_command
from sdk.evasion import Build
from sdk.evasion import State as SdkState

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


_KINDS = (HORIZONTAL, VERTICAL)
_SECONDS = 0.05


def position() -> SdkState:
    """The middle of a game: some walls, a room of a third of the board, and the hunter in it."""
    settings = GAME.codec.settings("classic", {})
    start = GAME.start(settings)
    plan: tuple[tuple[Kind, int, int], ...] = ((VERTICAL, 90, 5), (HORIZONTAL, 120, 60), (VERTICAL, 280, 100))
    walls = Walls(settings.width, settings.height)
    for number, (kind, x, y) in enumerate(plan):
        wall = trace(walls, kind, x, y, None, number)
        assert isinstance(wall, Wall)
        walls = walls.adding(wall)
    return SdkState(*start._replace(walls=walls, hunter=start.hunter._replace(x=95, y=110), next_id=3))


def with_forward(state: SdkState, until: Callable[[], bool]) -> tuple[int, int]:
    """Search as ``searcher`` does; return the numbers of steps and walls."""
    forward = Forward(state)
    room = Room(forward)
    judged = 0
    while not until() and not forward.ended:
        for kind in _KINDS:
            room.left_by(forward, kind)
            judged += 1
        forward.step()
    return forward.looked_at, judged


def with_states(state: SdkState, until: Callable[[], bool]) -> tuple[int, int]:
    """Run the same search with the public SDK calls: ``can_build``, ``after`` and ``reach``."""
    steps = judged = 0
    while not until() and not state.is_over:
        for kind in _KINDS:
            if state.can_build(kind):
                len(state.after(Build(kind)).reach("prey"))
            judged += 1
        state = state.after()
        steps += 1
    return steps, judged


def looked_at(search: Callable[[SdkState, Callable[[], bool]], tuple[int, int]]) -> float:
    """Return the number of states that a search examines in ``_SECONDS`` of processor time: those after a step and those with a wall."""
    state = position()
    deadline = time.process_time() + _SECONDS
    return float(sum(search(state, lambda: time.process_time() > deadline)))


def searches(rounds: int, steps: int) -> list[Figure]:
    """The forward model beside the engine's plain step, and what a search looks at with each."""

    def timed(hundred: Callable[[], None]) -> float:
        start = time.perf_counter()
        for _ in range(steps // 100):
            hundred()
        return (time.perf_counter() - start) / (steps // 100 * 100) * 1e6

    def states() -> None:
        after = state
        for _ in range(100):
            after = after.after()

    def forward() -> None:
        for _ in range(100):
            model.step()
        for _ in range(100):
            model.undo()

    state = position()
    model = Forward(state)
    fast, slow = alternate(rounds, lambda: timed(forward), lambda: timed(states))
    by_model, by_states = alternate(rounds, lambda: looked_at(with_forward), lambda: looked_at(with_states))
    return [
        Figure("forward model, step and undo", "us", fast, slow, "ratio", 0.5),
        Figure("states looked at in 50 ms", "states", by_model, by_states, "ratio", 2.0, at_least=True),
    ]


def environment_steps(rounds: int, steps: int) -> Figure:
    """Steps a second of Gymnasium's environment with random actions against ``runner``, beside the engine's own over the same game."""
    from sdk.env import EvasionEnv, move

    environment = EvasionEnv(max_steps=10 * steps, max_walls=4)
    environment.action_space.seed(1)
    actions = [environment.action_space.sample() for _ in range(steps)]

    def learning() -> float:
        environment.reset(seed=1)
        begun = time.process_time()
        for action in actions:
            if environment.step(action)[2]:
                environment.reset()
        return steps / (time.process_time() - begun)

    start = GAME.start(GAME.codec.settings("classic", {"max_steps": 10 * steps, "max_walls": 4}))

    def engine() -> float:
        state = start
        begun = time.process_time()
        for action in actions:
            state, _ = GAME.step(state, {"hunter": move(state, "hunter", action)})
            if state.ended:
                state = start
        return steps / (time.process_time() - begun)

    speed, alone = alternate(rounds, learning, engine)
    return Figure("sdk.env, steps of one seat", "steps/s", speed, alone, "ratio", at_least=True)


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
        *searches(rounds, steps),
        environment_steps(rounds, steps),
        *replays(rounds, steps),
        *starts(2 * rounds + 1),
    ]


if __name__ == "__main__":
    run(__doc__, everything)
