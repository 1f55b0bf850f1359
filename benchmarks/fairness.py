"""How many answers of honest bots count as late while other programs want the processors.

python benchmarks/fairness.py [--answers 3000] [--load 3] [--rounds 1] [--steps 100] [--json]

Strict matches run in all slots at once, with honest bots in both seats, beside --load programs for each core that compute without a pause.
A bot needs 5 ms of processor time for an answer. The processor-time clock allows it 10 ms, the wall clock the default limit of a move. In
every round each clock judges at least --answers answers.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from harness import Figure, alternate, number, run
from league import tasks
from matches import SEATS

from referee.isolation.limits import Limits
from referee.league.local import LocalPool, free_slots
from referee.league.stream import play_stream
from referee.league.values import MatchTask, Team
from referee.league.worker import Terms
from referee.match.options import CPU, WALL, MatchOptions

#: The limit of a move by each clock, in seconds; None: the default.
LIMITS = {CPU: 0.01, WALL: None}
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


def terms(clock: str) -> Terms:
    """Return what all matches by one clock have in common. Only an answer can be late: neither a start nor the referee itself."""
    time = {"startup": 600.0, "bank": None, "kind": clock}
    if (limit := LIMITS[clock]) is not None:
        time["move"] = limit
    return Terms("evasion", None, MatchOptions.model_validate({"time": time, "run": {"max_lateness": 600.0}, "isolation": "strict"}))


@contextlib.contextmanager
def load(programs: int) -> Iterator[None]:
    """Let so many programs compute without a pause."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)]
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
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bot.py").write_text(HONEST)
        teams = {team: Team(team, dict.fromkeys(SEATS, str(folder / "bot.py"))) for team in "AB"}
        counts: dict[str, list[int]] = {}

        def late(clock: str, pool: LocalPool) -> float:
            asked, found = judged(pool, options.answers, options.steps)
            counts.setdefault(clock, []).append(asked)
            return found

        pools = {clock: LocalPool(terms(clock), teams, folder / clock, slots) for clock in LIMITS}
        for pool in pools.values():
            stack.callback(pool.close)
        stack.enter_context(load(options.load * (os.cpu_count() or 1)))
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


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=1, steps=100)
