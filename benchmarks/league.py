"""What many matches cost: a machine full of matches, the part of the time that is the bots', and the memory of a league's coordinator.

python benchmarks/league.py [--rounds 7] [--steps 300] [--matches 400] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import psutil
from harness import Figure, child, number, open_folder, run
from matches import PARSING, SEATS

from example_bots import BOTS
from referee.handins.values import Entry
from referee.isolation.limits import Limits
from referee.league import config
from referee.tournament.progress import ProgressListener
from referee.league.league import begin
from referee.league.playing import LeaguePlay
from referee.tournament.local import Finished, LocalPool, free_slots
from referee.tournament.many import played
from referee.tournament.pool import WorkerPool
from referee.tournament.values import Task, Record, Task, Team
from referee.tournament.worker import Completed, Terms
from referee.match.options import WALL, MatchOptions

#: The budgets: the time of many matches beside their share of one, busy cores in percent, those busy with the matches, memory in MiB.
LONGER, BUSY, PLAYING, GROWTH = 1.1, 92.0, 88.0, 20.0
#: The least part of the processor time of a league of example bots that is the bots' own, in percent.
IN_BOTS = 85.0
#: An example bot that writes the processor time of its whole life to its log when it ends.
NOTING = """
import atexit, resource, runpy, sys
def note():
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, file=sys.stderr)
atexit.register(note)
runpy.run_path({program!r}, run_name="__main__")
"""
#: How often one match is played alone.
ALONE = 15
#: Pretended matches before the first reading of the memory, and between two readings.
INTERVAL = 100


def terms(level: str = "strict", *, startup: float = 60.0, move: float = 60.0, lateness: float = 60.0, kind: str = WALL) -> Terms:
    """Return what all matches have in common. By default nothing ends one before its last step: other programs may slow the machine down."""
    time = {"startup": startup, "move": move, "bank": None, "kind": kind}
    return Terms("evasion", None, MatchOptions.model_validate({"time": time, "run": {"max_lateness": lateness}, "isolation": level}))


def teams(bot: Path) -> dict[str, Team]:
    """Two teams of one bot."""
    return {name: Team(name, dict.fromkeys(SEATS, str(bot))) for name in "AB"}


def tasks(count: int, steps: int) -> Iterator[Task]:
    """Matches of these steps, each with a key of its own."""
    for number in range(count):
        key = f"{time.monotonic_ns():x}-{number}"
        yield Task(key, {seat: Entry(name, {}) for seat, name in zip(SEATS, "AB", strict=True)}, {"max_steps": steps}, number)


def records(pool: LocalPool, matches: Iterable[Task]) -> Iterator[Record]:
    """Play matches as referee play --games does; their records as they come."""
    for ended, _ in played(matches, WorkerPool(pool), 100 * pool.slots):
        yield from (record for _, record in ended)


def full_machine(rounds: int, steps: int, matches: int, folder: Path) -> list[Figure]:
    """Many matches on all cores beside their share of one match that is played alone on one core, and how busy the cores are."""
    slots = free_slots(Limits())
    measured = [(_alone(steps, folder) * matches / slots, *_many(steps, matches, slots, folder)) for _ in range(rounds)]
    shares, seconds, busy, own = (list(values) for values in zip(*measured, strict=True))
    return [
        Figure(f"{matches} matches, {slots} at once", "s", seconds, shares, "ratio", LONGER),
        Figure("cores busy, whole machine", "%", busy, None, "value", BUSY, at_least=True),
        Figure("cores busy with the matches", "%", own, None, "value", PLAYING, at_least=True),
    ]


def _alone(steps: int, folder: Path) -> float:
    """Seconds of one match when nothing else is played: the median of several. It has one core, as each of many matches at once has."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    try:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
        with contextlib.closing(LocalPool(terms(), teams(folder / "bot.py"), folder / "replays", 1)) as pool:
            play(pool, 1, steps)
            return statistics.median(play(pool, 1, steps) for _ in range(ALONE))
    finally:
        if cores:
            os.sched_setaffinity(0, cores)


def _many(steps: int, matches: int, slots: int, folder: Path) -> tuple[float, float, float]:
    """The seconds of many matches; the percentage of busy cores, with everything on this machine, and with the matches alone.

    The workers have started and have proved their sandbox before the time begins.
    """
    used, opened = _children_seconds(), time.perf_counter()
    with contextlib.closing(LocalPool(terms(), teams(folder / "bot.py"), folder / "replays", slots)) as pool:
        play(pool, slots, steps)
        psutil.cpu_times_percent(percpu=True)
        seconds = play(pool, matches, steps)
        idle = [core.idle + getattr(core, "iowait", 0.0) for core in psutil.cpu_times_percent(percpu=True)]
    # The workers have been waited for, so that the time of everything below them is known: that of their start, too.
    own = 100 * (_children_seconds() - used) / ((time.perf_counter() - opened) * slots)
    return seconds, 100 - statistics.mean(idle), own


def _children_seconds() -> float:
    """Processor time of all processes below this one that have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def example_bots(steps: int, folder: Path) -> Figure:
    """The share of a league's processor time that is the bots' own, their start included: each example hunter against each prey, no sandbox."""
    lineups: dict[str, dict[str, str]] = {}
    for seat in SEATS:
        for number, bot in enumerate(bot for bot in BOTS if bot.game == "evasion" and bot.plays(seat)):
            program = folder / f"{seat}-{bot.name}.py"
            program.write_text(NOTING.format(program=str(bot.path)))
            lineups.setdefault(str(number), {})[seat] = str(program)
    league = {name: Team(name, lineup) for name, lineup in lineups.items()}
    pairs = [dict(zip(SEATS, both, strict=True)) for both in itertools.product(league.values(), repeat=2)]

    def share() -> float:
        used = _children_seconds()
        with contextlib.closing(LocalPool(terms("none"), league, folder / "examples", free_slots(Limits()))) as pool:
            drawn = (task._replace(seats=pair) for task, pair in zip(tasks(len(pairs), steps), pairs, strict=True))
            for _ in records(pool, drawn):
                pass
        logs = list(folder.glob("examples/**/*.log"))
        seconds = sum(float(log.read_text().split()[-1]) for log in logs)
        for log in logs:
            log.unlink()
        return 100 * seconds / (_children_seconds() - used)

    return Figure("processor time in the bots", "%", [share()], None, "value", IN_BOTS, at_least=True)


def play(pool: LocalPool, matches: int, steps: int) -> float:
    """Play matches; the seconds that they took."""
    begun = time.perf_counter()
    for _ in records(pool, tasks(matches, steps)):
        pass
    return time.perf_counter() - begun


def pretended(task: Task) -> Record:
    """A result in which the hunter needs a number of steps that the match decides."""
    steps = 1 + int(task.key[-6:], 36) % 3000
    used = dict.fromkeys(task.seats, steps * 1e-4)
    text = f"The hunter caught the prey in step {steps}."
    replay = f"replays/{task.key[:2]}/{task.key}.replay.jsonl.gz"
    scores = {"hunter": float(steps), "prey": None}
    return Record(task.key, "hunter", "caught", text, scores, steps, {}, {}, used, used, replay, "0" * 64, 0.6, "here", "0" * 16)


class PretendPool:
    """Workers that make results up, and readings of this process's memory, in bytes."""

    has_workers = True

    def __init__(self, slots: int = 8) -> None:
        self.slots = slots
        self.readings: list[int] = []
        self._ended = 0
        self._running: list[Task] = []
        self._random = random.Random(1)

    @property
    def room(self) -> int:
        """The slots that are free."""
        return self.slots - len(self._running)

    def submit(self, task: Task) -> None:
        """Begin a match."""
        self._running.append(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        """End one of the matches."""
        del seconds
        if not self._running:
            return []
        task = self._running.pop(self._random.randrange(len(self._running)))
        self._ended += 1
        if self._ended % INTERVAL == 0:
            self.read_memory()
        return [Finished(task, Completed(pretended(task)))]

    def read_memory(self) -> None:
        """Take a reading."""
        self.readings.append(psutil.Process().memory_info().rss)

    def close(self) -> None:
        """There is nothing to close."""


def growth(matches: int, folder: Path) -> float:
    """Play at least this number of pretended matches of a round-robin. Return how much the coordinator's memory grew, in MiB."""
    teams = math.ceil((1 + math.sqrt(1 + 4 * matches)) / 2)
    for number in range(teams):
        (folder / f"bot{number}.py").write_text(f"# {number}\n")
    tables = "".join(f'[[teams]]\nname = "T{number}"\nprogram = "bot{number}.py"\n' for number in range(teams))
    file = folder / "league.toml"
    file.write_text(f'name = "bench"\nseed = 1\nisolation = "none"\n{tables}')
    opened = begin(config.load(file), folder / "out")
    pool = PretendPool()
    try:
        LeaguePlay(opened, pool).run(ProgressListener())
    finally:
        opened.close()
    return (max(pool.readings) - pool.readings[0]) / (1 << 20)


def memory(matches: int) -> Figure:
    """How much the coordinator's memory grows. The workers only pretend to play, so that ten thousand matches take seconds."""
    with tempfile.TemporaryDirectory() as folder:
        grown = float(child([sys.executable, __file__, "--coordinator", str(matches), folder]))
    return Figure(f"coordinator, {matches:,} pretended", "MiB", [grown], None, "value", GROWTH)


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    with open_folder() as folder:
        (folder / "bot.py").write_text(PARSING)
        full = full_machine(options.rounds, options.steps, options.matches, folder)
        return [*full, example_bots(10 * options.steps, folder), memory(options.pretended)]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--matches", type=number(1), default=400, help="matches on all cores")
    parser.add_argument("--pretended", type=number(1_000), default=10_000, help="pretended matches of the coordinator")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--coordinator"]:
        print(growth(int(sys.argv[2]), Path(sys.argv[3])))
    else:
        run(__doc__, everything, add, steps=300)
