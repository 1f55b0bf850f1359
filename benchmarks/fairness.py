"""What honest bots pay while other programs want the processors.

python benchmarks/fairness.py [--answers 3000] [--load 3] [--most 10] [--isolation strict,none] [--gives-way] [--steps 100] [--json]

Matches run in all slots at once, with honest bots in both seats, beside --load programs for each core that compute without a pause. A bot
needs 5 ms of processor time for an answer, in its only thread, in a thread for each answer or in a child for each answer. A third of the answers
are those of the last two. By the fair clock and by the processor-time clock, a bot of one thread has 10 ms for an answer, else a bot has the
default limit of a move. Then bots are billed by the fair clock on the idle machine and beside --most programs for each core. With --gives-way
the matches have the priority of those of an arena's server, which is below that of the other programs.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness import Figure, open_folder, run
from matches import open_pool, records, tasks, terms, written

from referee.match.options import CPU, FAIR, WALL, TimeControl
from referee.support.processes import lower_priority

#: The two never meet, so that every match has all its steps.
APART = {"hunter": [0, 0, 1, 1], "prey": [230, 100]}
HONEST = """
import os, threading, time
from sdk import HunterBot, PreyBot
def work():
    end = time.thread_time() + 0.005
    while time.thread_time() < end:
        pass
def thread():
    helper = threading.Thread(target=work)
    helper.start()
    helper.join()
def child():
    number = os.fork()
    if not number:
        work()
        os._exit(0)
    os.waitpid(number, 0)
class Honest(HunterBot, PreyBot):
    def hunt(self, state):
        {body}()
    flee = hunt
Honest.main()
"""
#: The bots, by their function: those of one thread have one, and its share of the answers.
SHARES = {"work": 2 / 3, "thread": 1 / 6, "child": 1 / 6}
#: How far a bill may be from that on the idle machine, in milliseconds, and for how many answers it must be nearer.
NEAR, MOST_NEAR = 1.0, 0.99
#: How many answers are compared with those on the idle machine.
COMPARED = 300


class Bills:
    """Answers of some bots. ``late`` counts those that were late; ``bills`` and ``walls`` are milliseconds of the others."""

    def __init__(self) -> None:
        self.asked = self.late = 0
        self.bills: list[float] = []
        self.walls: list[float] = []

    def add(self, replay: Path) -> None:
        """Add the answers of a replay, without the first ones, in which programs load what they need."""
        with gzip.open(replay, "rt") as file:
            for line in file:
                record = json.loads(line)
                if record.get("turn", 0) > 0 and "wall_us" in record and "us" in record and "faults" not in record:
                    self.bills += [microseconds / 1e3 for microseconds in record["us"].values()]
                    self.walls += [record["wall_us"].get(seat, 0) / 1e3 for seat in record["us"]]


@contextlib.contextmanager
def load(each: int) -> Iterator[None]:
    """Let so many programs for each core compute without a pause."""
    command = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(command, start_new_session=True) for _ in range(each * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def played(folder: Path, body: str, clock: str, level: str, answers: int, steps: int) -> Bills:
    """Play a bot until it has given so many answers."""
    bills, bot = Bills(), written(folder, body, HONEST.replace("{body}", body))
    limit = 0.01 if body == "work" and clock != WALL else TimeControl().move or 0.0
    # Only an answer can be late: neither a start nor the referee itself.
    of = terms(level, startup=600.0, move=limit, lateness=600.0, kind=clock)
    with open_pool(bot, folder / f"{clock}-{level}", of) as pool:
        # A match with a late answer ends early, so the number of matches isn't known before.
        while bills.asked < answers:
            for record in records(pool, [task._replace(settings={**task.settings, **APART}) for task in tasks(2 * pool.slots, steps)]):
                bills.asked += sum(record.answers.values())
                bills.late += list(record.fault_kinds.values()).count("late")
                bills.add(folder / record.replay)
    return bills


def late(folder: Path, clock: str, level: str, options: argparse.Namespace) -> list[Figure]:
    """The late ones of many answers, a third of them of bots with threads or children."""
    bills = [played(folder, body, clock, level, int(options.answers * share) + 1, options.steps) for body, share in SHARES.items()]
    asked, missed = sum(each.asked for each in bills), sum(each.late for each in bills)
    return [
        Figure(f"honest answers, {clock} clock, {level}", "answers", [asked], None, "value", options.answers, at_least=True),
        Figure(f"late answers, {clock} clock, {level}", "late", [missed], None, "value", 0),
    ]


def compared(folder: Path, level: str, options: argparse.Namespace) -> list[Figure]:
    """Bills by the fair clock beside many programs, and how many of those of one thread are near that of the idle machine."""
    count, figures = min(COMPARED, options.answers), []
    idle = {body: statistics.median(played(folder, body, FAIR, level, count, options.steps).bills) for body in SHARES}
    with load(options.most):
        for body, usual in idle.items():
            busy, name = played(folder, body, FAIR, level, count, options.steps), f"{level}, {body} in each answer"
            figures.append(Figure(f"bill, {name}", "ms", [statistics.median(busy.bills)], [usual], "ratio"))
            figures.append(Figure(f"wall time, {name}", "ms", [statistics.median(busy.walls)], [usual], "ratio"))
            if body == "work":
                near = sum(abs(bill - usual) < NEAR for bill in busy.bills) / len(busy.bills)
                figures.append(Figure(f"bills near the idle one, {name}", "share", [near], None, "value", MOST_NEAR, at_least=True))
            above = sum(bill > wall for bill, wall in zip(busy.bills, busy.walls, strict=True))
            figures.append(Figure(f"bills above the wall time, {name}", "bills", [above], None, "value", 0))
    return figures


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    figures: list[Figure] = []
    if options.gives_way:
        lower_priority()
    with open_folder() as folder:
        for level in options.isolation:
            figures += compared(folder, level, options)
        with load(options.load):
            for level in options.isolation:
                for clock in (FAIR, CPU, WALL) if level == options.isolation[0] else (FAIR,):
                    figures += late(folder, clock, level, options)
    return figures


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        rounds=(1, "without effect: one run has all its answers"),
        steps=(100, "steps of each match"),
        answers=(3_000, "answers that each clock judges"),
        load=(3, "programs for each core that compute meanwhile"),
        most=(10, "the same where bills are compared with those of the idle machine"),
        isolation=(["strict", "none"], "levels of isolation, separated by commas"),
        gives_way=(False, "give the matches the priority of those of an arena's server"),
    )
