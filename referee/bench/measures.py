"""The measures: each alternates its workload and its floor several times, and reports medians.

Absolute times mean little on a shared machine; the ratio to a floor measured in between is meaningful.
"""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from operator import sub, truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.errors import RefereeError
from referee.games.evasion import GAME
from referee.games.evasion.board.walls import HORIZONTAL, VERTICAL, Kind, Wall, Walls, trace
from referee.games.evasion.forward import Forward, Room
from referee.games.evasion.game import Evasion
from referee.isolation.level import Isolation
from referee.isolation.program import Program
from referee.match.clock import CPU, WALL, TimeControl
from referee.match.events import Listener, MatchBegun, StepTaken
from referee.match.loop import Entrant, Match, Options
from referee.players.io import PlayerIO
from referee.players.log import Log
from referee.players.process import BotProcesses
from referee.players.spec import environment, resolve
from referee.replay.reader import verify
from referee.replay.writer import ReplayWriter
from referee.support.processes import module_command
from referee.wire import encode
from referee.wire.escape import escape
from sdk.evasion import Build
from sdk.evasion import State as SdkState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.evasion.state import Settings, State
    from referee.replay.reader import Step


#: Parses each question and answers, as the bot of floor.py does.
PARSING = """
import json, sys
read, write, flush = sys.stdin.readline, sys.stdout.write, sys.stdout.flush
seat = json.loads(read())["seat"]
write('{"type":"ready","protocol":1}\\n')
flush()
while True:
    line = read()
    if not line:
        break
    question = json.loads(line)
    if question["type"] == "end":
        break
    move = '{}' if 'h' in seat else '{"go":[0,1]}'
    write('{"type":"move","turn":%d,"move":%s}\\n' % (question["turn"], move))
    flush()
"""

#: The same moves, with the SDK.
IDLE_SDK = """
from sdk import HunterBot, PreyBot
class Idle(HunterBot, PreyBot):
    def hunt(self, state):
        return None
    def flee(self, state):
        return (0, 1)
Idle.main()
"""

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


def entrants(source: str, seats: tuple[str, ...] = ("hunter", "prey")) -> Mapping[str, Entrant]:
    """A program text as the player of every seat."""
    line = (sys.executable, "-c", source)
    program = Program(line, tempfile.gettempdir(), environment(), "bench", (), line)
    return {seat: Entrant("bench", {"program": "bench"}, program) for seat in seats}


class Figure(NamedTuple):
    """One measure: the ``values`` of all rounds, those of its floor if there is one, and the ``budget``, a bound on ``measured``.

    ``compared`` is what the budget is about: "value", "ratio" (value over floor) or "excess" (value less floor).
    """

    name: str
    unit: str
    values: list[float]
    floors: list[float] | None
    compared: str
    budget: float
    at_least: bool = False

    @property
    def value(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.values)

    @property
    def floor(self) -> float | None:
        """The median of the floor over the rounds."""
        return None if self.floors is None else statistics.median(self.floors)

    @property
    def measured(self) -> float:
        """The number that the budget bounds: the median of what each round gave, measure and floor taken one after the other."""
        if self.floors is None or self.compared == "value":
            return self.value
        compare = truediv if self.compared == "ratio" else sub
        return float(statistics.median(map(compare, self.values, self.floors)))

    @property
    def is_met(self) -> bool:
        """Whether the budget is kept."""
        return self.measured >= self.budget if self.at_least else self.measured <= self.budget

    def to_json(self) -> dict[str, Any]:
        """The figure as ``--json`` prints it."""
        record = {name: getattr(self, name) for name in ("name", "unit", "value", "floor", "compared", "measured", "budget")}
        record["budget"] = None if math.isinf(self.budget) else self.budget
        return {**record, "met": self.is_met, "values": self.values, "floors": self.floors}


class _FloorGame(Evasion):
    """Evasion with five walls as long as those in the floor's questions, so that both send as many bytes; out of the hunter's way."""

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        walls = [Wall(index, HORIZONTAL, 0, 95 + index, 299, 95 + index) for index in range(5)]
        return super().start(settings, secret)._replace(walls=Walls(settings.width, settings.height, walls), next_id=5)


def child(command: list[str], *, env: Mapping[str, str] | None = None) -> str:
    """Run a program of the benchmark and return its output. Raises RefereeError with the last line of its stderr if it fails."""
    # In this folder they can't import the user's files by mistake.
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=env)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RefereeError(f"A program of the benchmark failed: {escape(last, 300)}")
    return done.stdout


def _floor(steps: int) -> float:
    """Microseconds for a step of the bare loop."""
    places = (Path(__file__).with_name("floor.py"), Path(__file__).parents[2] / "benchmarks" / "floor.py")
    script = next((path for path in places if path.exists()), None)
    if script is None:
        raise RefereeError("floor.py, the bare loop that matches are measured against, is missing from this installation.")
    shown = child([sys.executable, str(script), str(steps)])
    found = re.match(r"([\d.]+) us a step", shown)
    assert found is not None, shown
    return float(found[1])


class Stopwatch(Listener):
    """Times a match from its ``start`` messages to its last step."""

    def __init__(self) -> None:
        self.begun_at = self.seconds = 0.0

    def begun(self, event: MatchBegun) -> None:
        """Start."""
        self.begun_at = time.perf_counter()

    def stepped(self, event: StepTaken) -> None:
        """Stop with the last step."""
        if event.after.ended:
            self.seconds = time.perf_counter() - self.begun_at


def _match(
    source: str, steps: int, game: Evasion, path: Path | None, idle: str, isolation: Isolation | None = None, clock: str = WALL
) -> float:
    """Microseconds for a step of a whole match between two programs, from the first question to the last step."""
    settings = game.codec.settings("classic", {"max_steps": steps})
    stopwatch = Stopwatch()
    listeners = [stopwatch] if path is None else [ReplayWriter(path), stopwatch]
    options = Options(TimeControl(bank=None, kind=clock), idle=idle, isolation=isolation or Isolation())
    Match(game, settings, entrants(source), options, seed=1, listeners=listeners).run()
    return stopwatch.seconds / steps * 1e6


def alternate(count: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Run several measures in turn, and return the values of each."""
    return [list(values) for values in zip(*([measure() for measure in measures] for _ in range(count)), strict=True)]


def match_steps(rounds: int, steps: int) -> list[Figure]:
    """A match step beside the floor, with bots stopped between turns and without; the SDK beside a bot that only parses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.replay.jsonl.gz"
        floor, stop, cpu, run, sdk = alternate(
            rounds,
            lambda: _floor(steps),
            lambda: _match(PARSING, steps, _FloorGame(), path, "stop"),
            lambda: _match(PARSING, steps, _FloorGame(), path, "stop", clock=CPU),
            lambda: _match(PARSING, steps, _FloorGame(), path, "run"),
            lambda: _match(IDLE_SDK, steps, _FloorGame(), path, "stop"),
        )
    return [
        Figure("match step, trivial bots", "us", stop, floor, "ratio", 1.25),
        Figure("the same with the cpu clock", "us", cpu, floor, "ratio", 1.25),
        Figure("the same with idle = run", "us", run, floor, "ratio", 1.25),
        Figure("match step, idle SDK bots", "us", sdk, stop, "excess", 15.0),
    ]


def engine_step(rounds: int, steps: int) -> Figure:
    """Measure one engine step in this process, without players."""
    game = games.get("evasion")
    start = game.start(game.codec.settings("classic", {}), b"")
    moves = {"hunter": game.codec.parse(start, "hunter", {}), "prey": game.codec.parse(start, "prey", {"go": [0, 1]})}

    def run() -> float:
        state = game.start(game.codec.settings("classic", {"max_steps": steps}), b"")
        begun = time.perf_counter()
        for _ in range(steps):
            state, _ = game.step(state, moves)
        return (time.perf_counter() - begun) / steps * 1e6

    return Figure("engine step, in process", "us", alternate(rounds, run)[0], None, "value", 4.0)


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
    return tuple.__new__(SdkState, start._replace(walls=walls, hunter=start.hunter._replace(x=95, y=110), next_id=3))


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


def replays(rounds: int, steps: int) -> list[Figure]:
    """Verification and size of a replay of two moving bots; the engine takes the same steps from moves that are read already."""
    from referee.api.matches import play

    with tempfile.TemporaryDirectory() as folder:
        played = play("straight", "evader", max_steps=steps, seed=1, out=folder + os.sep)
        count = played.steps
        made: list[dict[str, Any]] = []

        def keep(step: Step) -> None:
            given: dict[str, Any] = step.record.get("moves", {})
            made.append({seat: GAME.codec.parse(step.before, seat, given.get(seat, {})) for seat in GAME.movers(step.before)})

        verify(played.replay, keep)
        start = GAME.start(GAME.codec.settings(None, {"max_steps": steps}))

        def run() -> float:
            begun = time.perf_counter()
            assert verify(played.replay).problem is None
            return count / (time.perf_counter() - begun)

        def engine() -> float:
            state = start
            begun = time.perf_counter()
            for moves in made:
                state, _ = GAME.step(state, moves)
            return count / (time.perf_counter() - begun)

        speed, alone = alternate(rounds, run, engine)
        size = [played.replay.stat().st_size / count]
    # Half the speed of the engine, or 100,000 steps a second where the engine takes more than 200,000.
    share = min(0.5, 100_000.0 / statistics.median(alone))
    return [
        Figure("verify", "steps/s", speed, None, "value", 100_000.0, at_least=True),
        Figure("verify beside the engine", "steps/s", speed, alone, "ratio", share, at_least=True),
        Figure("replay", "bytes/step", size, None, "value", 20.0),
    ]


def _milliseconds(command: list[str]) -> float:
    begun = time.perf_counter()
    child(command)
    return (time.perf_counter() - begun) * 1e3


def starts(rounds: int) -> list[Figure]:
    """Command to first question, and ``import sdk``, each beside bare Python."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder) / "stamping.py"
        bot.write_text(STAMPING)
        command = module_command("referee", "play", str(bot), str(bot), "--max-steps", "1", "--json", "--out", folder + os.sep)

        def first_question() -> float:
            begun = time.monotonic()
            told = json.loads(child(command))
            return (float(Path(told["logs"]["hunter"]).read_text()) - begun) * 1e3

        bare = [sys.executable, "-c", "pass"]
        sdk = [sys.executable, "-c", "import sdk"]
        first_question()
        floor, imported, question = alternate(rounds, lambda: _milliseconds(bare), lambda: _milliseconds(sdk), first_question)
    return [
        Figure("command to first question", "ms", question, floor, "value", 250.0),
        Figure("import sdk", "ms", imported, floor, "excess", 15.0),
    ]


def start_line(seat: str) -> bytes:
    """Return a start message for the trivial bots, which read their seat alone."""
    return encode.start(games.info("evasion"), "classic", seat, {}, clock={}, seed=0, match="")


def _start(isolation: Isolation) -> float:
    """Return the milliseconds from the request for a bot to its ``ready`` message."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder) / "bot.py"
        bot.write_text(PARSING)
        spec = resolve(str(bot), "hunter", "evasion")
        processes = BotProcesses()
        begun = time.perf_counter()
        try:
            processes.launch({"hunter": spec.program}, {"hunter": Log(None, 0)}, isolation)
            processes.wait()
            player_io = PlayerIO(processes.players, processes, stop_idle=False, max_lateness=60.0, on_tick=lambda: None)
            reply = player_io.ask_together({"hunter": (start_line("hunter"), 60.0, None)})["hunter"]
            taken = time.perf_counter() - begun
        finally:
            processes.close()
    if reply.line is None:
        raise RefereeError(f"The bot of the benchmark did not start: {reply.failure}")
    return taken * 1e3


def isolation_costs(rounds: int, steps: int, isolation: Isolation) -> list[Figure]:
    """Measure the cost of a sandbox for a start and for a step, with bots that are stopped and without, by both clocks.

    The last figure is shown beside the one before it.
    """
    game = _FloorGame()

    def step(idle: str, walls: Isolation | None = None, clock: str = WALL) -> Callable[[], float]:
        return lambda: _match(PARSING, steps, game, None, idle, walls, clock)

    _start(isolation)
    bare, inside = alternate(4 * rounds, lambda: _start(Isolation()), lambda: _start(isolation))
    run, walled, plain, stopped, plain_billed, billed = alternate(
        rounds,
        step("run"),
        step("run", isolation),
        step("stop"),
        step("stop", isolation),
        step("stop", None, CPU),
        step("stop", isolation, CPU),
    )
    return [
        Figure("start of a bot, isolated", "ms", inside, bare, "excess", 25.0),
        Figure("match step, isolated, idle = run", "us", walled, run, "ratio", 1.05),
        Figure("match step, isolated", "us", stopped, plain, "ratio", 1.15),
        Figure("the same with the cpu clock", "us", billed, plain_billed, "ratio", 1.15),
        Figure("the cpu clock, isolated", "us", billed, stopped, "ratio", math.inf),
    ]


def everything(rounds: int, steps: int) -> list[Figure]:
    """All figures."""
    return [
        *match_steps(rounds, steps),
        engine_step(rounds, steps),
        *searches(rounds, steps),
        *replays(rounds, steps),
        *starts(2 * rounds + 1),
    ]
