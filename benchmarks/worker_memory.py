"""The memory of a worker that plays thousands of matches, with its supervisor and its keeper.

python benchmarks/worker_memory.py [--matches 5000] [--isolation strict] [--rounds 1] [--steps 1] [--json]

Each round starts one worker, and reads the memory of its three processes ten times, after equal numbers of matches: resident memory without
the pages of files, which the system loads and drops as it likes.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

import psutil
from fastchess import BOT, LEVELS, compiled
from harness import Figure, number, open_folder, run
from league import tasks, teams, terms

from referee.league.local import LocalPool
from referee.league.stream import play_stream

READINGS = 10
#: How much the memory may grow over the second half of the matches, in MiB. Before, Python's own tables and the garbage that it collects
#: only when there is enough of it find their size.
GROWTH = 1.0


def readings(level: str, matches: int, steps: int, folder: Path) -> list[float]:
    """Return the memory of a new worker, its keeper and its supervisor, in MiB, after each tenth of the matches."""
    before = {child.pid for child in psutil.Process().children()}
    found = []
    with contextlib.closing(LocalPool(terms(level), teams(folder / "bot"), folder / "replays", 1)) as pool:
        for reading in range(READINGS):
            for task, _ in play_stream(pool, tasks(matches // READINGS, steps)):
                for replay in folder.glob(f"replays/*/{task.key}*"):
                    replay.unlink()
            print(f"{(reading + 1) * (matches // READINGS)} of {matches} matches", file=sys.stderr, flush=True)
            workers = [child for child in psutil.Process().children() if child.pid not in before]
            processes = [process for worker in workers for process in (worker, *worker.children(recursive=True))]
            memory = [process.memory_info() for process in processes]
            found.append(sum(each.rss - each.shared for each in memory) / (1 << 20))
    return found


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine lacks the level."""
    with open_folder() as folder:
        compiled(folder, "bot", BOT)
        rounds = [readings(options.isolation, options.matches, options.steps, folder) for _ in range(options.rounds)]
    each = options.matches // READINGS
    figures = [
        Figure(f"after {(number + 1) * each:,} matches, {options.isolation}", "MiB", list(values), None, "value")
        for number, values in enumerate(zip(*rounds, strict=True))
    ]
    halves, lasts = figures[READINGS // 2 - 1].values, figures[-1].values
    return [*figures, Figure(f"growth over the last {each * READINGS // 2:,} matches", "MiB", lasts, halves, "excess", GROWTH)]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--matches", type=number(READINGS), default=5_000, help="matches of the worker")
    parser.add_argument("--isolation", choices=LEVELS, default="strict", help="level of isolation")


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=1, steps=1)
