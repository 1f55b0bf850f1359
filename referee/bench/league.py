"""What many matches cost: the fixed cost of a strict match, a machine full of matches, and the coordinator's memory."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import resource
import select
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee.bench.measures import PARSING, Figure, alternate, child, start_line
from referee.errors import RefereeError
from referee.isolation import bubblewrap, submission
from referee.isolation.choose import choose
from referee.isolation.limits import ISOLATED, Limits
from referee.league.local import LocalPool, free_slots
from referee.league.stream import play_stream
from referee.league.values import MatchTask, Team
from referee.league.worker import Played, Terms, Worker
from referee.match.clock import TimeControl
from referee.players.spec import resolve
from referee.support.processes import module_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.isolation.level import Isolation
    from referee.isolation.program import Program

#: The budgets: a match beside the floor, the time of many matches beside their share of one, busy cores in percent, memory in MiB.
FIXED_COST, LONGER, BUSY, GROWTH = 2.0, 1.1, 92.0, 20.0
#: How many matches are played at once on all cores, and how many the coordinator sees.
MATCHES, PRETENDED = 400, 10_000
#: How often one match is played alone.
_ALONE = 15
_SEATS = ("hunter", "prey")
#: Nothing ends these matches before their last step but a capture: other programs may slow the machine down.
_TERMS = Terms("evasion", None, TimeControl(60.0, 60.0, None), "strict", Limits(), {"max_lateness": 60.0})


def leagues(rounds: int, steps: int, matches: int = MATCHES, pretended: int = PRETENDED) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The sandbox's user reads the program of the floor here.
        folder.chmod(0o755)
        program = folder / "bot.py"
        program.write_text(PARSING)
        return [*fixed_cost(rounds, folder), *_full_machine(rounds, steps, matches, folder), memory(pretended)]


def _teams(folder: Path) -> dict[str, Team]:
    return {name: Team(name, dict.fromkeys(_SEATS, str(folder / "bot.py"))) for name in ("A", "B")}


def _tasks(count: int, steps: int) -> Iterator[MatchTask]:
    """Matches of these steps, each with a key of its own."""
    for number in range(count):
        key = f"{time.monotonic_ns():x}-{number}"
        yield MatchTask(key, number, 0, dict(zip(_SEATS, "AB", strict=True)), {"max_steps": steps}, number)


def fixed_cost(rounds: int, folder: Path) -> list[Figure]:
    """A match of one step in a worker that has played before, beside the start of the same two programs in bare sandboxes."""
    programs = [resolve(str(folder / "bot.py"), seat, "evasion").program for seat in _SEATS]
    isolation = choose("strict", Limits(), programs)
    with contextlib.closing(Worker(_TERMS, _teams(folder), folder / "replays")) as worker:

        def match() -> float:
            begun = time.perf_counter()
            report = worker.play(next(_tasks(1, 1)))
            taken = time.perf_counter() - begun
            if not isinstance(report, Played):
                raise RefereeError(f"A match of the benchmark was not played: {report.text}")
            return taken * 1e3

        match()
        values, floors = alternate(8 * rounds, match, lambda: _bare(programs, isolation))
    return [Figure("strict match of one step", "ms", values, floors, "ratio", FIXED_COST)]


def _bare(programs: Sequence[Program], isolation: Isolation) -> float:
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

    def __init__(self, program: Program, isolation: Isolation) -> None:
        self._folders: list[str] = []
        bare = isolation._replace(level=ISOLATED)
        self._sandbox = bare.sandbox(program, announce=lambda cleaning: self._folders.extend(cleaning.trees))
        self._stdin, self._question = os.pipe()
        self._answer, self._stdout = os.pipe()
        self._theirs = [self._stdin, self._stdout, *self._sandbox.start.fds]
        self._pid = 0

    def start(self) -> None:
        """Start the sandbox; its stderr is this process's."""
        start = self._sandbox.start
        numbers = (0, 1, *range(bubblewrap.FILTER_FD, bubblewrap.FILTER_FD + len(start.fds)))
        # Duplicates above all of these numbers: none is overwritten before it is in its place.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in self._theirs]
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(high, numbers, strict=True)]
        self._pid = os.posix_spawn(start.argv[0], start.argv, start.env, file_actions=actions, setsid=True)
        self._sandbox.begun(self._pid)
        for fd in (*high, *self._theirs):
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


def _full_machine(rounds: int, steps: int, matches: int, folder: Path) -> list[Figure]:
    """Many matches on all cores beside their share of one match that is played alone on one core, and how busy the cores are."""
    slots = free_slots(Limits())
    measured = [(_alone(steps, folder) * matches / slots, *_many(steps, matches, slots, folder)) for _ in range(rounds)]
    shares, seconds, busy, own = (list(values) for values in zip(*measured, strict=True))
    return [
        Figure(f"{matches} matches, {slots} at once", "s", seconds, shares, "ratio", LONGER),
        Figure("cores busy, whole machine", "%", busy, None, "value", BUSY, at_least=True),
        Figure("cores busy with the matches", "%", own, None, "value", math.inf),
    ]


def _alone(steps: int, folder: Path) -> float:
    """Seconds of one match when nothing else is played: the median of several. It has one core, as each of many matches at once has."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    try:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
        with contextlib.closing(LocalPool(_TERMS, _teams(folder), folder / "replays", 1)) as pool:
            _play(pool, 1, steps)
            return statistics.median(_play(pool, 1, steps) for _ in range(_ALONE))
    finally:
        if cores:
            os.sched_setaffinity(0, cores)


def _many(steps: int, matches: int, slots: int, folder: Path) -> tuple[float, float, float]:
    """The seconds of many matches; the percentage of busy cores, with everything on this machine, and with the matches alone.

    The workers have started and have proved their sandbox before the time begins.
    """
    import psutil

    used, opened = _children_seconds(), time.perf_counter()
    with contextlib.closing(LocalPool(_TERMS, _teams(folder), folder / "replays", slots)) as pool:
        _play(pool, slots, steps)
        psutil.cpu_times_percent(percpu=True)
        seconds = _play(pool, matches, steps)
        idle = [core.idle + getattr(core, "iowait", 0.0) for core in psutil.cpu_times_percent(percpu=True)]
    # The workers have been waited for, so that the time of everything below them is known: that of their start, too.
    own = 100 * (_children_seconds() - used) / ((time.perf_counter() - opened) * slots)
    return seconds, 100 - statistics.mean(idle), own


def _children_seconds() -> float:
    """Processor time of all processes below this one that have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def _play(pool: LocalPool, matches: int, steps: int) -> float:
    """Play matches; the seconds that they took."""
    begun = time.perf_counter()
    for _ in play_stream(pool, _tasks(matches, steps)):
        pass
    return time.perf_counter() - begun


def memory(matches: int) -> Figure:
    """How much the coordinator's memory grows. The workers only pretend to play, so that ten thousand matches take seconds."""
    with tempfile.TemporaryDirectory() as folder:
        grown = float(child(module_command("referee.bench.coordinator", str(matches), folder)))
    return Figure(f"coordinator, {matches:,} pretended", "MiB", [grown], None, "value", GROWTH)
