"""How many answers of honest bots count as late while other programs want the processors.

python benchmarks/fairness.py [--answers 3000] [--load 3] [--gives-way] [--rounds 1] [--steps 100] [--json]

Strict matches run in all slots at once, with honest bots in both seats, beside --load programs for each core that compute without a pause.
A bot needs 5 ms of processor time for an answer. The processor-time clock allows it 10 ms, the wall clock the default limit of a move. In
every round each clock judges at least --answers answers. With --gives-way the matches have the priority of those of an arena's server, which is
below that of the other programs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from harness import Figure, alternate, number, open_folder, run
from league import tasks, teams, terms

from referee.isolation.limits import Limits
from referee.league.local import LocalPool, free_slots
from referee.league.stream import play_stream
from referee.league.values import MatchTask
from referee.match.options import CPU, WALL, TimeControl
from referee.support.processes import GIVES_WAY

#: The limit of a move by each clock, in seconds.
LIMITS = {CPU: 0.01, WALL: TimeControl().move}
#: The two never meet, so that every match has all its steps.
APART = {"hunter": [0, 0, 1, 1], "prey": [230, 100]}
HONEST = """
import time
from sdk import HunterBot, PreyBot
class Honest(HunterBot, PreyBot):
    def hunt(self, state):
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
    flee = hunt
Honest.main()
"""


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


def judged(pool: LocalPool, answers: int, steps: int) -> tuple[int, int]:
    """Return the number of answers, at least as many as asked for, and how many of them were late."""
    asked = late = 0
    # A match with a late answer ends early, so the number of matches isn't known before.
    while asked < answers:
        for _, record in play_stream(pool, (_apart(task) for task in tasks(2 * pool.slots, steps))):
            asked += sum(record.answers.values())
            late += list(record.fault_kinds.values()).count("late")
    return asked, late


def _apart(task: MatchTask) -> MatchTask:
    return task._replace(settings={**task.settings, **APART})


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    slots = free_slots(Limits())
    with open_folder() as folder, contextlib.ExitStack() as stack:
        (folder / "bot.py").write_text(HONEST)
        counts: dict[str, list[int]] = {}

        def late(clock: str, pool: LocalPool) -> float:
            asked, found = judged(pool, options.answers, options.steps)
            counts.setdefault(clock, []).append(asked)
            return found

        # Only an answer can be late: neither a start nor the referee itself.
        of = {clock: terms(startup=600.0, move=limit, lateness=600.0, kind=clock) for clock, limit in LIMITS.items()}
        stack.enter_context(load(options.load * (os.cpu_count() or 1)))
        if options.gives_way:
            os.nice(GIVES_WAY)
        pools = {clock: LocalPool(of[clock], teams(folder / "bot.py"), folder / clock, slots) for clock in LIMITS}
        for pool in pools.values():
            stack.callback(pool.close)
        values = alternate(options.rounds, *(partial(late, clock, pool) for clock, pool in pools.items()))
    figures = []
    for clock, found in zip(LIMITS, values, strict=True):
        asked = [float(count) for count in counts[clock]]
        figures.append(Figure(f"honest answers, {clock} clock", "answers", asked, None, "value", options.answers, at_least=True))
        figures.append(Figure(f"late answers, {clock} clock", "late", found, None, "value", 0))
    return figures


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--answers", type=number(1), default=3_000, help="answers that each clock judges")
    parser.add_argument("--load", type=number(0), default=3, help="programs for each core that compute meanwhile")
    parser.add_argument("--gives-way", action="store_true", help="give the matches the priority of those of an arena's server")


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=1, steps=100)
