"""What many matches cost: a machine full of matches, the part of the time that is the bots', and the memory of a league's coordinator.

python benchmarks/league.py [--rounds 7] [--steps 300] [--matches 400] [--pretended 10000] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import statistics
import time
from pathlib import Path

import psutil
from harness import Figure, apart, children_seconds, open_folder, run
from matches import PARSING, SEATS, PretendPool, open_pool, play, records, tasks, terms, written

from example_bots import BOTS
from referee.isolation.limits import Limits
from referee.league import config
from referee.league.league import begin
from referee.league.playing import LeaguePlay
from referee.tournament.local import LocalPool, free_slots
from referee.tournament.progress import ProgressListener
from referee.handins.values import Entry

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


def full_machine(rounds: int, steps: int, matches: int, folder: Path) -> list[Figure]:
    """Many matches on all cores beside their share of one match that is played alone on one core, and how busy the cores are."""
    bot, slots = written(folder, "bot", PARSING), free_slots(Limits())
    measured = [(_alone(steps, bot) * matches / slots, *_many(steps, matches, slots, bot)) for _ in range(rounds)]
    shares, seconds, busy, own = zip(*measured, strict=True)
    return [
        Figure(f"{matches} matches, {slots} at once", "s", seconds, shares, "ratio", LONGER),
        Figure("cores busy, whole machine", "%", busy, None, "value", BUSY, at_least=True),
        Figure("cores busy with the matches", "%", own, None, "value", PLAYING, at_least=True),
    ]


def _alone(steps: int, bot: Path) -> float:
    """Seconds of one match when nothing else is played: the median of several. It has one core, as each of many matches at once has."""
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(cores)})
        with open_pool(bot, bot.parent / "replays", terms(), 1) as pool:
            play(pool, 1, steps)
            return statistics.median(play(pool, 1, steps) for _ in range(ALONE))
    finally:
        os.sched_setaffinity(0, cores)


def _many(steps: int, matches: int, slots: int, bot: Path) -> tuple[float, float, float]:
    """The seconds of many matches; the percentage of busy cores, with everything on this machine, and with the matches alone.

    The workers have started and have proved their sandbox before the time begins.
    """
    used, opened = children_seconds(), time.perf_counter()
    with open_pool(bot, bot.parent / "replays", terms(), slots) as pool:
        play(pool, slots, steps)
        psutil.cpu_times_percent()
        seconds = play(pool, matches, steps)
        cores = psutil.cpu_times_percent()
    # The workers have been waited for, so that the time of everything below them is known: that of their start, too.
    own = 100 * (children_seconds() - used) / ((time.perf_counter() - opened) * slots)
    return seconds, 100 - cores.idle - getattr(cores, "iowait", 0.0), own


def example_bots(steps: int, folder: Path) -> Figure:
    """The share of a league's processor time that is the bots' own, their start included: each example hunter against each prey, no sandbox."""
    teams: dict[str, list[Entry]] = {}
    for seat in SEATS:
        bots = [bot for bot in BOTS if bot.game == "evasion" and bot.plays(seat)]
        programs = [written(folder, f"{seat}-{bot.name}", NOTING.format(program=str(bot.path))) for bot in bots]
        teams[seat] = [Entry(program.stem, {seat: str(program)}) for program in programs]
    pairs = list(itertools.product(*teams.values()))
    used = children_seconds()
    with contextlib.closing(
        LocalPool(terms("none"), {team.name: team for team in sum(teams.values(), [])}, folder / "examples", free_slots(Limits()))
    ) as pool:
        drawn = (
            task._replace(seats=dict(zip(SEATS, pair, strict=True))) for task, pair in zip(tasks(len(pairs), steps), pairs, strict=True)
        )
        for _ in records(pool, drawn):
            pass
    seconds = sum(float(log.read_text().split()[-1]) for log in folder.glob("examples/**/*.log"))
    return Figure("processor time in the bots", "%", [100 * seconds / (children_seconds() - used)], None, "value", IN_BOTS, at_least=True)


def growth(matches: int, folder: Path) -> float:
    """Play at least this number of pretended matches of a round-robin. Return how much the coordinator's memory grew, in MiB."""
    teams = math.ceil((1 + math.sqrt(1 + 4 * matches)) / 2)
    programs = [written(folder, f"bot{number}", f"# {number}\n") for number in range(teams)]
    tables = "".join(f'[[teams]]\nname = "{program.stem}"\nprogram = "{program.name}"\n' for program in programs)
    file = folder / "league.toml"
    file.write_text(f'name = "bench"\nseed = 1\nisolation = "none"\n{tables}')
    pool = PretendPool()
    with contextlib.closing(begin(config.load(file), folder / "out")) as league:
        LeaguePlay(league, pool).run(ProgressListener())
    return max(pool.readings) - pool.readings[0]


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    with open_folder() as folder:
        figures = full_machine(options.rounds, options.steps, options.matches, folder)
        figures.append(example_bots(10 * options.steps, folder))
        grown = apart(growth, options.pretended, folder)
        return [*figures, Figure(f"coordinator, {options.pretended:,} pretended", "MiB", [grown], None, "value", GROWTH)]


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        steps=(300, "steps of each match"),
        matches=(400, "matches on all cores"),
        pretended=(10_000, "pretended matches of the coordinator"),
    )
