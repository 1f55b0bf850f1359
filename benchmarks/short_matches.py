"""Many short matches between instant C programs, each with fresh processes.

python benchmarks/short_matches.py [--rounds 7] [--games 400] [--steps 80] [--fastchess FASTCHESS] [--json]

- A match of one step in a worker that has played before, with its replay, beside the bare pair: the same two programs are started, greeted,
  asked once and ended, without a referee.
- --games matches of --steps steps, as many at once as there are cores, in games a second. 80 steps are 120 questions, 200 are 300. With the
  path of a fastchess binary, the same number of its games of as many questions, with engines that keep running and with engines that it
  restarts for every game.

It needs a C compiler. In every round all kinds are measured one after the other.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fastchess import BOT, ENGINE, LEVELS, LINE, LONG_LINE, Fastchess, compiled
from fastchess import COUNTERS as COUNTERS_NAME
from harness import Figure, alternate, number, open_folder, run
from league import play, tasks, teams, terms
from matches import SEATS, start_line

from referee.errors import RefereeError, UsageError
from referee.isolation.limits import Limits
from referee.tournament.local import LocalPool, free_slots
from referee.tournament.worker import Completed, Worker
from referee.support.escape import escape

#: The budgets: a match of one step beside the bare pair, and many matches beside fastchess that keeps its engines, by level.
ONE_STEP = {"none": 6.0, "limits": None, "strict": 14.0}
MANY = {"none": 1.0, "limits": None, "strict": 1.8}
#: The games of fastchess by the steps of a match of as many questions: a match has one question and a half for each step.
LINES = {len(line) * 2 // 3: line for line in (LINE, LONG_LINE)}
#: How many matches of one step are one measurement.
ALIKE = 20


def pair(bot: Path) -> float:
    """Return the milliseconds for two programs that are started, greeted, asked once and ended."""
    begun = time.perf_counter()
    for _ in range(ALIKE):
        pipes = [(os.pipe(), os.pipe()) for _ in SEATS]
        pids = []
        for (stdin, _), (_, stdout) in pipes:
            moves = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
            pids.append(os.posix_spawn(str(bot), [str(bot)], {}, file_actions=moves))
            os.close(stdin)
            os.close(stdout)
        for line in (None, b'{"type":"turn","turn":0}\n'):
            for seat, ((_, question), (answer, _)) in zip(SEATS, pipes, strict=True):
                os.write(question, line or start_line(seat))
                if not os.read(answer, 1000):
                    raise RefereeError("A bot of the benchmark did not answer.")
        for (_, question), (answer, _) in pipes:
            os.close(question)
            os.close(answer)
        for pid in pids:
            os.waitpid(pid, 0)
    return (time.perf_counter() - begun) / ALIKE * 1e3


def one_step(worker: Worker) -> float:
    """Return the milliseconds of a match of one step."""
    begun = time.perf_counter()
    for task in tasks(ALIKE, 1):
        report = worker.play(task)
        if not isinstance(report, Completed):
            raise RefereeError(f"A match of the benchmark was not played: {report.text}")
    return (time.perf_counter() - begun) / ALIKE * 1e3


def many(pool: LocalPool, games: int, steps: int) -> float:
    """Return the games a second of many matches."""
    return games / play(pool, games, steps)


def of_fastchess(fastchess: Fastchess, games: int, slots: int, *, restarts: bool) -> float:
    """Return the games a second of a tournament, from its first question to its last one."""
    return games / (fastchess.tournament(games, slots, restarts=restarts)[1] / 1e9)


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if fastchess is no program, or if this machine has no sandbox."""
    if options.fastchess is not None and not os.access(options.fastchess, os.X_OK):
        raise UsageError(f"{escape(str(options.fastchess), 300)} is no program that can be run; give the path of the fastchess binary.")
    if options.fastchess is not None and options.steps not in LINES:
        raise UsageError(f"fastchess has no game for --steps {options.steps}; give {' or '.join(map(str, LINES))}.")
    slots = free_slots(Limits())
    with open_folder() as folder, contextlib.ExitStack() as stack:
        bot = compiled(folder, "bot", BOT)
        workers = [stack.enter_context(contextlib.closing(Worker(terms(level), teams(bot), folder / level))) for level in LEVELS]
        for worker in workers:
            one_step(worker)
        bare, *ones = alternate(options.rounds, partial(pair, bot), *(partial(one_step, worker) for worker in workers))
        figures = [
            Figure(f"one step, {level}", "ms", values, bare, "ratio", ONE_STEP[level]) for level, values in zip(LEVELS, ones, strict=True)
        ]
        pools = [
            stack.enter_context(contextlib.closing(LocalPool(terms(level), teams(bot), folder / f"{level}s", slots))) for level in LEVELS
        ]
        for pool in pools:
            many(pool, slots, options.steps)
        measures: list[Any] = [partial(many, pool, options.games, options.steps) for pool in pools]
        names = [f"{options.games} games, {level}" for level in LEVELS]
        if options.fastchess is not None:
            line = LINES[options.steps]
            engine = compiled(folder, "engine", ENGINE, MOVES=" ".join(line), COUNTERS=COUNTERS_NAME)
            fastchess = Fastchess(str(options.fastchess.absolute()), engine, folder, len(line))
            measures += [partial(of_fastchess, fastchess, options.games, slots, restarts=restarts) for restarts in (False, True)]
        values = alternate(options.rounds, *measures)
        figures += list(_compared(names, values))
    return figures


def _compared(names: list[str], values: list[list[float]]) -> Iterator[Figure]:
    """Return games a second, beside those of fastchess that keeps its engines where it was measured: then the last two values are its own."""
    kept = values[len(names)] if len(values) > len(names) else None
    for level, name, found in zip(LEVELS, names, values, strict=False):
        budget = MANY[level]
        yield Figure(
            name, "/s", found, kept, "value" if kept is None else "ratio", None if kept is None or budget is None else 1 / budget, True
        )
    if kept is not None:
        yield Figure("fastchess, engines kept", "/s", kept, None, "value")
        yield Figure("fastchess, engines restarted", "/s", values[-1], kept, "ratio")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--games", type=number(4, 2), default=400, help="games of the second comparison")
    parser.add_argument("--fastchess", type=Path, metavar="FASTCHESS", help="path of a fastchess binary")


if __name__ == "__main__":
    run(__doc__, everything, add, steps=min(LINES))
