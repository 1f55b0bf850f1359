"""What honest bots pay while other programs want the processors.

python benchmarks/fairness.py [--answers 3000] [--load 3] [--most 10] [--isolation strict,none] [--gives-way] [--rounds 1] [--steps 100] [--json]

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

from harness import Figure, number, open_folder, run
from league import records, tasks, teams, terms

from referee.isolation.limits import Limits
from referee.tournament.local import LocalPool, free_slots
from referee.tournament.values import Task
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
#: The bots: their function, whether they have one thread alone, and their share of the answers.
BOTS = (("work", True, 2 / 3), ("thread", False, 1 / 6), ("child", False, 1 / 6))
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
def load(programs: int) -> Iterator[None]:
    """Let so many programs compute without a pause."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(programs)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def played(folder: Path, body: str, clock: str, level: str, answers: int, steps: int) -> Bills:
    """Play a bot until it has given so many answers."""
    bot, found = folder / f"{body}.py", Bills()
    bot.write_text(HONEST.replace("{body}", body))
    limit = 0.01 if body == "work" and clock != WALL else TimeControl().move
    assert limit is not None
    # Only an answer can be late: neither a start nor the referee itself.
    of = terms(level, startup=600.0, move=limit, lateness=600.0, kind=clock)
    with contextlib.closing(LocalPool(of, teams(bot), folder / f"{clock}-{level}", free_slots(Limits()))) as pool:
        # A match with a late answer ends early, so the number of matches isn't known before.
        while found.asked < answers:
            for record in records(pool, (_apart(task) for task in tasks(2 * pool.slots, steps))):
                found.asked += sum(record.answers.values())
                found.late += list(record.fault_kinds.values()).count("late")
                found.add(folder / record.replay)
    return found


def _apart(task: Task) -> Task:
    return task._replace(settings={**task.settings, **APART})


def late(folder: Path, clock: str, level: str, options: argparse.Namespace) -> list[Figure]:
    """The late ones of many answers, a third of them of bots with threads or children."""
    found = [played(folder, body, clock, level, int(options.answers * share) + 1, options.steps) for body, _, share in BOTS]
    asked, missed = (float(sum(getattr(bills, name) for bills in found)) for name in ("asked", "late"))
    return [
        Figure(f"honest answers, {clock} clock, {level}", "answers", [asked], None, "value", options.answers, at_least=True),
        Figure(f"late answers, {clock} clock, {level}", "late", [missed], None, "value", 0),
    ]


def compared(folder: Path, level: str, options: argparse.Namespace) -> list[Figure]:
    """Bills by the fair clock beside many programs, and how many of those of one thread are near that of the idle machine."""
    count, figures = min(COMPARED, options.answers), []
    idle = {body: played(folder, body, FAIR, level, count, options.steps) for body, _, _ in BOTS}
    with load(options.most * (os.cpu_count() or 1)):
        for body, is_alone, _ in BOTS:
            usual, busy = statistics.median(idle[body].bills), played(folder, body, FAIR, level, count, options.steps)
            name = f"{level}, {body} in each answer"
            figures.append(Figure(f"bill, {name}", "ms", [statistics.median(busy.bills)], [usual], "ratio"))
            figures.append(Figure(f"wall time, {name}", "ms", [statistics.median(busy.walls)], [usual], "ratio"))
            if is_alone:
                near = sum(abs(bill - usual) < NEAR for bill in busy.bills) / len(busy.bills)
                figures.append(Figure(f"bills near the idle one, {name}", "share", [near], None, "value", MOST_NEAR, at_least=True))
            above = sum(bill > wall for bill, wall in zip(busy.bills, busy.walls, strict=True))
            figures.append(Figure(f"bills above the wall time, {name}", "bills", [float(above)], None, "value", 0))
    return figures


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    figures: list[Figure] = []
    levels = options.isolation.split(",")
    with open_folder() as folder:
        if options.gives_way:
            lower_priority()
        for level in levels if options.most else ():
            figures += compared(folder, level, options)
        with load(options.load * (os.cpu_count() or 1)):
            for level in levels:
                for clock in (FAIR, CPU, WALL) if level == levels[0] else (FAIR,):
                    figures += late(folder, clock, level, options)
    return figures


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--answers", type=number(1), default=3_000, help="answers that each clock judges")
    parser.add_argument("--load", type=number(0), default=3, help="programs for each core that compute meanwhile")
    parser.add_argument(
        "--most", type=number(0), default=10, help="the same where bills are compared with those of the idle machine; 0: don't"
    )
    parser.add_argument("--isolation", default="strict,none", help="levels of isolation, separated by commas")
    parser.add_argument("--gives-way", action="store_true", help="give the matches the priority of those of an arena's server")


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=1, steps=100)
