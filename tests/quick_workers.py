"""Workers of a league between two quick bots, of which parts are killed at random moments."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import psutil
from leagues import task_of
from sandboxes import command_of

from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.tournament.local import LocalPool
from referee.tournament.values import Task, Team
from referee.tournament.worker import Completed, Terms, Void

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from referee.tournament.values import Record

#: Answers at once and starts in a moment.
BOT = r"""#!/bin/sh
read -r line
move='{"go":[0,1]}'
case $line in *'"seat":"hunter"'*) move='{}';; esac
echo '{"type":"ready","protocol":1}'
while read -r line; do
    case $line in *'"type":"end"'*) exit;; esac
    turn=${line#*'"turn":'}
    echo "{\"type\":\"move\",\"turn\":${turn%%,*},\"move\":$move}"
done
"""


def workers(pool: LocalPool) -> list[psutil.Process]:
    """The processes of the workers; without one that is being replaced."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if LocalPool.__module__ in child.cmdline():
                found.append(child)
    assert len(found) <= pool.slots
    return found


def opened(level: str, folder: Path, slots: int) -> LocalPool:
    """Workers for matches between two quick bots, which nothing but their last step ends."""
    folder.chmod(0o755)
    bot = folder / "bot"
    bot.write_text(BOT)
    bot.chmod(0o755)
    teams = {name: Team(name, {"hunter": str(bot), "prey": str(bot)}) for name in "AB"}
    time = TimeControl(startup=None, move=None, bank=None)
    options = MatchOptions.model_validate({"time": time, "run": RunOptions(max_lateness=3600.0), "isolation": level})
    return LocalPool(Terms("evasion", None, options), teams, folder / "replays", slots)


def task(number: int, steps: int) -> Task:
    """A match with a key of its own."""
    return task_of(f"{number:04}", {"hunter": "A", "prey": "B"}, {"max_steps": steps}, 1)


def helpers(worker: psutil.Process) -> dict[str, list[psutil.Process]]:
    """The watchdog and the supervisor of a worker. A supervisor whose watchdog was killed is the worker's child; the watchdog leads its session."""
    found: dict[str, list[psutil.Process]] = {"watchdog": [], "supervisor": []}
    for process in worker.children(recursive=True):
        if "supervisor.py" in (command_of(process) or ""):
            with contextlib.suppress(ProcessLookupError):
                found["watchdog" if os.getsid(process.pid) == process.pid else "supervisor"].append(process)
    return found


class RandomKills(NamedTuple):
    """Kills of workers and their helpers: the results of all matches, the number of kills by what was killed, all workers' numbers."""

    records: list[Record]
    killed: Counter[str]
    workers: set[int]


def struck(pool: LocalPool, level: str, lots: random.Random) -> str:
    """Kill a worker, or a process between it and its bots, and return which; "" if it was gone.

    A supervisor only in a sandbox: elsewhere a bot may have killed it, and the bot that was asked loses.
    """
    if not (found := workers(pool)):
        return ""
    worker = lots.choice(found)
    kind = lots.choice(("worker", "watchdog", "supervisor") if level == "strict" else ("worker", "watchdog"))
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in [worker] if kind == "worker" else helpers(worker)[kind][:1]:
            process.send_signal(signal.SIGKILL)
            return kind
    return ""


def kill_at_random(level: str, kills: int, folder: Path, lots: random.Random) -> RandomKills:
    """Kill so many processes of workers while they play. Void matches are played again."""
    found: list[Record] = []
    killed: Counter[str] = Counter()
    with contextlib.closing(opened(level, folder, 2)) as pool:
        numbers = {worker.pid for worker in workers(pool)}
        number = running = 0
        while running or killed.total() < kills:
            while pool.room and killed.total() < kills:
                pool.submit(task(number, 40))
                number += 1
                running += 1
            for ended in pool.wait(lots.choice((0.0, 0.01, 0.05, 1.0))):
                assert isinstance(ended.report, (Completed, Void)), ended.report
                if isinstance(ended.report, Completed):
                    running -= 1
                    found.append(ended.report.record)
                else:
                    pool.submit(ended.task)
            numbers.update(worker.pid for worker in workers(pool))
            if killed.total() < kills and lots.random() < 0.3 and (kind := struck(pool, level, lots)):
                killed[kind] += 1
    assert len(found) == number
    return RandomKills(found, killed, numbers)
