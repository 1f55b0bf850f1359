"""What a sandbox costs: the start of a bot, a step of a match, and a whole match in a worker that has played before.

python benchmarks/isolation.py [--rounds 7] [--steps 10000] [--json] [--against FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import select
import tempfile
import time
from referee.isolation.plan import bot_plan
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import Figure, alternate, open_folder, run
from league import tasks, teams, terms
from matches import IDLE_SDK, PARSING, SEATS, FloorGame, start_line, step_of_match

from referee.errors import RefereeError
from referee.isolation import bubblewrap, submission
from referee.isolation.choose import choose
from referee.isolation.copies import Copies
from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.isolation.processes import sandbox
from referee.isolation.limits import ISOLATED, Limits
from referee.isolation.bot import Bot
from referee.tournament.worker import Completed, Worker
from referee.match.options import CPU, WALL
from referee.players.clock import Clock, TimeControl
from referee.players.exchange import Exchange
from referee.isolation.log import Log
from referee.players.names import resolve

#: The budget of a whole match of one step, beside its floor.
FIXED_COST = 2.0


def _start(isolation: Level, bot_code: str = PARSING) -> float:
    """Return the milliseconds from the request for a bot to its ``ready`` message."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder) / "bot.py"
        bot.write_text(bot_code)
        spec = resolve(str(bot), "hunter", "evasion")
        launcher = BotLauncher(lambda _: isolation)
        launcher.settle([spec])
        exchange = Exchange({"hunter": spec}, {"hunter": Log(None, 0)}, launcher, max_lateness=60.0)
        clock = Clock(TimeControl(move=60.0, kind=WALL))
        begun = time.perf_counter()
        try:
            exchange.open()
            reply = exchange.ask_all({"hunter": (start_line("hunter"), clock)})["hunter"]
            taken = time.perf_counter() - begun
        finally:
            exchange.close()
            launcher.close()
    if reply.line is None:
        raise RefereeError(f"The bot of the benchmark did not start: {reply.failure}")
    return taken * 1e3


def isolation_costs(rounds: int, steps: int, isolation: Level) -> list[Figure]:
    """Measure the cost of a sandbox for a start and for a step, with bots that are stopped and without, by both clocks.

    The last figure is shown beside the one before it.
    """
    game = FloorGame()

    def step(idle: str, walls: Level | None = None, clock: str = WALL) -> Callable[[], float]:
        return lambda: step_of_match(PARSING, steps, game, None, idle, walls, clock)

    _start(isolation)
    bare, inside, with_sdk = alternate(4 * rounds, lambda: _start(Level()), lambda: _start(isolation), lambda: _start(isolation, IDLE_SDK))
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
        Figure("start of an SDK bot, isolated", "ms", with_sdk, inside, "ratio", 1.15),
        Figure("match step, isolated, idle = run", "us", walled, run, "ratio", 1.05),
        Figure("match step, isolated", "us", stopped, plain, "ratio", 1.1),
        Figure("the same with the cpu clock", "us", billed, plain_billed, "ratio", 1.1),
        Figure("the cpu clock, isolated", "us", billed, stopped, "ratio"),
    ]


def fixed_cost(rounds: int, folder: Path) -> list[Figure]:
    """A match of one step in a worker that has played before, beside the start of the same two programs in bare sandboxes."""
    programs = [resolve(str(folder / "bot.py"), seat, "evasion") for seat in SEATS]
    isolation = choose("strict", Limits(), programs)
    with contextlib.closing(Worker(terms(), teams(folder / "bot.py"), folder / "replays")) as worker:

        def match() -> float:
            begun = time.perf_counter()
            report = worker.play(next(tasks(1, 1)))
            taken = time.perf_counter() - begun
            if not isinstance(report, Completed):
                raise RefereeError(f"A match of the benchmark was not played: {report.text}")
            return taken * 1e3

        match()
        values, floors = alternate(8 * rounds, match, lambda: _bare(programs, isolation))
    return [Figure("strict match of one step", "ms", values, floors, "ratio", FIXED_COST)]


def _bare(programs: Sequence[Bot], isolation: Level) -> float:
    """Return the milliseconds from the start of these programs in bare sandboxes, all at once, to their ``ready`` messages.

    The sandboxes have no supervisor and no control groups. They are prepared before the time begins, and end after it.
    """
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(contextlib.closing(_BareBot(program, isolation))) for program in programs]
        begun = time.perf_counter()
        for call in (_BareBot.start, _BareBot.admit, _BareBot.greet, _BareBot.take_answer):
            for bot in found:
                call(bot)
        return (time.perf_counter() - begun) * 1e3


class _BareBot:
    """A program in a sandbox without a supervisor and without control groups."""

    def __init__(self, bot: Bot, isolation: Level) -> None:
        self._folders: list[str] = []
        copies = Copies(lambda cleaning: self._folders.extend(cleaning.trees))
        self._sandbox = sandbox(isolation._replace(name=ISOLATED), bot_plan(bot), None, copies)
        self._stdin, self._question = os.pipe()
        self._answer, self._stdout = os.pipe()
        self._theirs = self._sandbox.start.descriptors((self._stdin, self._stdout, os.dup(2)), os.open(os.devnull, os.O_RDWR))
        self._pid = 0

    def start(self) -> None:
        """Start the sandbox; its stderr is this process's."""
        start = self._sandbox.start
        # Duplicates above all of these numbers: none is overwritten before it is in its place.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in self._theirs]
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(high)]
        self._pid = os.posix_spawn(start.argv[0], start.argv, start.env, file_actions=actions, setsid=True)
        self._sandbox.begun(self._pid)
        for fd in {*high, *self._theirs}:
            os.close(fd)
        self._theirs.clear()
        self._sandbox.load_filter()

    def admit(self) -> None:
        """Let the bot start when its sandbox is there."""
        while not self._sandbox.admit():
            if not select.select([self._sandbox.news_fd], [], [], 60.0)[0]:
                raise RefereeError("A sandbox of the benchmark did not start; try: referee doctor")

    def greet(self) -> None:
        """Send the ``start`` message."""
        os.write(self._question, start_line("prey"))

    def take_answer(self) -> None:
        """Read the ``ready`` message."""
        if not os.read(self._answer, 1000):
            raise RefereeError("A bot of the benchmark did not answer; try: referee doctor")

    def close(self) -> None:
        """Give up everything."""
        self._sandbox.kill()
        if self._pid:
            os.waitpid(self._pid, 0)
        self._sandbox.close()
        for fd in (*self._theirs, self._question, self._answer):
            os.close(fd)
        for folder in self._folders:
            submission.remove(folder)


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    with open_folder() as folder:
        (folder / "bot.py").write_text(PARSING)
        best = choose("strict", Limits())._replace(is_strict=False)
        return [*isolation_costs(options.rounds, options.steps, best), *fixed_cost(options.rounds, folder)]


if __name__ == "__main__":
    run(__doc__, everything)
