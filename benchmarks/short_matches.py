"""Many short matches between instant C programs, each with fresh processes.

python benchmarks/short_matches.py [--rounds 7] [--games 400] [--steps 200] [--fastchess FASTCHESS] [--json]

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
from functools import partial
from pathlib import Path

from fastchess import BOT, LINE, LONG_LINE, Fastchess, compiled
from harness import Figure, alternate, open_folder, run, timed
from matches import SEATS, open_pool, play, play_one_step, start_line, teams, terms

from referee.errors import RefereeError, UsageError
from referee.tournament.worker import Worker

#: The budgets by level: a match of one step beside the bare pair, and many matches beside fastchess that keeps its engines.
ONE_STEP = {"none": 6.0, "limits": None, "strict": 14.0}
MANY = {"none": 1.0, "limits": None, "strict": 1 / 1.8}
#: The games of fastchess by the steps of a match of as many questions: a match has one question and a half for each step.
LINES = {len(line) * 2 // 3: line for line in (LINE, LONG_LINE)}
#: How many matches of one step are one measurement.
ALIKE = 20


def pair(bot: Path) -> None:
    """Start two programs, greet them, ask each once, and end them."""
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


def one_step(rounds: int, bot: Path) -> list[Figure]:
    """Matches of one step at each level, beside the bare pair."""

    def bare() -> None:
        for _ in range(ALIKE):
            pair(bot)

    with contextlib.ExitStack() as stack:
        measures = [bare]
        for level in ONE_STEP:
            worker = stack.enter_context(contextlib.closing(Worker(terms(level), teams(bot), bot.parent / level)))
            play_one_step(worker)
            measures.append(partial(play_one_step, worker, ALIKE))
        floors, *values = alternate(rounds, *(lambda measure=measure: timed(measure) / ALIKE for measure in measures))
    return [
        Figure(f"one step, {level}", "ms", each, floors, "ratio", budget)
        for (level, budget), each in zip(ONE_STEP.items(), values, strict=True)
    ]


def many(options: argparse.Namespace, bot: Path) -> list[Figure]:
    """Games a second at each level, beside those of fastchess that keeps its engines."""
    games, slots = options.games // 2 * 2, len(os.sched_getaffinity(0))
    fastchess = None if options.fastchess is None else Fastchess(options.fastchess, bot.parent, LINES[options.steps])
    with contextlib.ExitStack() as stack:
        measures = []
        for level in MANY:
            pool = stack.enter_context(open_pool(bot, bot.parent / f"{level}s", terms(level), slots))
            play(pool, slots, options.steps)
            measures.append(lambda pool=pool: games / play(pool, games, options.steps))
        for restarts in (False, True) if fastchess else ():
            measures.append(lambda restarts=restarts: games / fastchess.tournament(games, slots, restarts=restarts)[1] * 1e9)
        values = alternate(options.rounds, *measures)
    names = {f"{games} games, {level}": budget for level, budget in MANY.items()}
    if fastchess is None:
        return [Figure(name, "/s", each) for name, each in zip(names, values, strict=True)]
    names |= {"fastchess, engines kept": None, "fastchess, engines restarted": None}
    kept = values[len(MANY)]
    return [
        Figure(name, "/s", each, kept, "ratio", budget, at_least=True) for (name, budget), each in zip(names.items(), values, strict=True)
    ]


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if fastchess is no program, or if this machine has no sandbox."""
    if options.fastchess is not None and options.steps not in LINES:
        raise UsageError(f"fastchess has no game for --steps {options.steps}; give {' or '.join(map(str, LINES))}.")
    with open_folder() as folder:
        bot = compiled(folder, "bot", BOT)
        return [*many(options, bot), *one_step(options.rounds, bot)]


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        games=(400, "games of the second comparison"),
        steps=(max(LINES), "steps of each of these"),
        fastchess=(None, "path of a fastchess binary"),
    )
