"""Compares a match of the referee with a tournament of fastchess: microseconds a question, between instant C programs.

python benchmarks/fastchess.py FASTCHESS [--rounds 9] [--steps 10000] [--games 200] [--isolation none,strict] [--json]

FASTCHESS is the path of a fastchess binary (https://github.com/Disservin/fastchess). A C compiler is needed, too. Every process of both sides
runs on the same core, one game at a time. In every round fastchess and all kinds of matches run one after the other, so that a busy machine
slows all of them. The floor is a question of fastchess. Medians of fewer than 7 rounds mean little.

- fastchess: two engines play one fixed game of 120 plies again and again. They answer at once, and note the time of the first and of the last
  question of a game. A question costs the slope between the span of 2 games and that of --games games. So the start and the end of fastchess
  don't count (it looks for its end once a second), but what it does between two games does. It asks `isready` around every question and
  sends all moves of the game. It writes a PGN file.
- the referee: Evasion with two bots that answer at once, --steps steps with 1.5 questions each, from the first question to the last step. It
  writes a replay. Each match is played by each clock that this machine has, without a sandbox (none) and in it (strict).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

from harness import Figure, alternate, open_folder, run
from matches import step_of_match

from referee.errors import RefereeError, UsageError
from referee.isolation.choose import choose
from referee.isolation.limits import Limits
from referee.match.options import CPU, FAIR, WALL
from referee.players.cores import Cores
from referee.players.names import resolve
from referee.support import delays
from referee.support.escape import escape

BUDGET = 0.75
#: The shorter of the two tournaments: one round of two games, with colours swapped.
FEW_GAMES = 2
#: What the engines count in a file: the number of questions, the nanoseconds of the first question, and those of the last one.
COUNTERS = struct.Struct("=3q")

#: Legal moves from the start position to a mate by the last one, four letters each. No position occurs twice, there are always pieces to
#: mate with, and the clock of the 50-move rule never runs out.
LINE = (
    "d2d4 g7g6 c2c3 a7a6 d1d2 g8h6 d2g5 b7b5 b2b3 f8g7 g2g4 e8f8 b1d2 c8b7 g1h3 b5b4 g5h4 d7d5 h3f4 g6g5 h4g3 f8e8 g3g1 d8c8 e2e4 "
    "g7e5 f1c4 b8d7 d2b1 b7c6 f4e6 c8d8 c4d3 c6b5 d3f1 c7c5 b1d2 b5d3 e6g7 e8f8 h2h4 g5h4 g7h5 e5f6 d2c4 a8c8 c4a3 d3e2 a1b1 e2c4 "
    "h5g7 d7e5 g4g5 h4h3 f1g2 h6g8 g7h5 e5d7 c1f4 c8c6 e1d2 f6e5 f4h2 c6d6 b1f1 d6c6 h5f4 e7e6 f2f3 f8e7 d2e1 e5f6 g5g6 g8h6 e1d2 "
    "d8b8 h2g3 f6g5 f1a1 h8g8 d2d1 h6g4 f4h5 e7d8 f3g4 b8a7 a1c1 f7f5 d1c2 g8f8 g1e3 h3h2 g3e5 d8e8 a3b1 a7b7 g6h7 b7c7 e3e2 c7b8 "
    "h5f4 b8d8 h1f1 d8a5 f1d1 d7f6 e2e1 e8d8 f4d3 f6d7 e5d6 c4b5 d6g3 g5e3 g2h1 e3h6 d3f4 c5c4 e1e3 a5a2 "
).split()


def _rides(white: str, black: str, moves: int) -> list[str]:
    """Return the moves of two knights that ride round on these squares, until both are back where they began."""
    rounds = (white.split(), black.split())
    return [ride[move % len(ride)] + ride[(move + 1) % len(ride)] for move in range(moves) for ride in rounds]


_BLACK_RIDE = "g8 f6 e4 d6 f5 h6"
#: The same with 300 moves: knights ride first, and again after the fourth move. No position occurs three times, and the clock never runs out.
LONG_LINE = [
    *_rides("g1 h3 f4 d5 b4 d3 c5 b3 d4 b5 a3 c4 e3 g4 e5 f3", _BLACK_RIDE, 48),
    *LINE[:4],
    *_rides("g1 f3 e5 g4 e3 c4 a5 b3 c5 d3 b4 d5 f4 h3", _BLACK_RIDE, 42),
    *LINE[4:],
]

#: An engine whose answers are the moves of a line. Such moves all have the same length, so that the length of the question gives the ply.
ENGINE = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static const char moves[] = MOVES;
static char line[1 << 16];

static int begins(const char *word) { return !strncmp(line, word, strlen(word)); }

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    size_t plies = sizeof moves / 5, ply = plies, head = strlen("position startpos moves");
    int64_t *counters = mmap(0, 24, PROT_READ | PROT_WRITE, MAP_SHARED, open(getenv("COUNTERS"), O_RDWR), 0);
    if (counters == MAP_FAILED) return 1;
    while (fgets(line, sizeof line, stdin)) {
        if (begins("isready")) {
            puts("readyok");
        } else if (begins("position startpos")) {
            size_t length = strcspn(line, "\n");
            ply = length < head ? 0 : (length - head) / 5;
        } else if (begins("go")) {
            __atomic_add_fetch(&counters[0], 1, __ATOMIC_SEQ_CST);
            if (ply == 0 && !counters[1]) counters[1] = now();
            if (ply + 1 == plies) counters[2] = now();
            printf("info depth 1 score cp 0\nbestmove %.4s\n", ply < plies ? moves + 5 * ply : "0000");
        } else if (begins("ucinewgame")) {
            ply = plies;
        } else if (begins("uci")) {
            puts("id name instant\nuciok");
        } else if (begins("quit")) {
            return 0;
        }
        fflush(stdout);
    }
}
"""

#: A bot of Evasion that looks for the turn of a question and reads nothing else: the hunter goes on, the prey runs down.
BOT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

int main(void) {
    const char *move = "{\"go\":[0,1]}", *turn;
    while (fgets(line, sizeof line, stdin)) {
        if ((turn = strstr(line, "\"turn\":"))) {
            printf("{\"type\":\"move\",\"turn\":%ld,\"move\":%s}\n", strtol(turn + 7, NULL, 10), move);
        } else if (strstr(line, "\"type\":\"start\"")) {
            if (strstr(line, "\"seat\":\"hunter\"")) move = "{}";
            puts("{\"type\":\"ready\",\"protocol\":1}");
        }
        fflush(stdout);
    }
}
"""


def compiled(folder: Path, name: str, source: str, moves: str = "") -> Path:
    """Compile a C program into a folder, with ``moves`` as a macro, and return its path. UsageError without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise UsageError("There is neither gcc nor cc on the PATH. The programs of this benchmark are in C: install a C compiler.")
    command = [compiler, "-O2", "-x", "c", "-D", f"MOVES={json.dumps(moves)}", "-o", str(folder / name), "-"]
    subprocess.run(command, input=source, text=True, check=True)
    return folder / name


class Fastchess:
    """A fastchess binary with an engine that plays a line of moves on both sides. UsageError if it is no program."""

    def __init__(self, binary: Path, folder: Path, line: list[str]) -> None:
        self.binary, self.folder, self.moves = str(binary.absolute()), folder, len(line)
        if not binary.is_file() or not os.access(binary, os.X_OK):
            raise UsageError(f"{escape(self.binary, 300)} is no program that can be run; give the path of the fastchess binary.")
        self.engine = compiled(folder, "engine", ENGINE, " ".join(line))
        self.counters = folder / "counters"

    def tournament(self, games: int, at_once: int = 1, *, restarts: bool = False) -> tuple[int, int]:
        """Play games, and return the number of questions and the nanoseconds from the first question to the last one.

        With ``restarts`` each game has new engines. RefereeError if it fails, or if its engines were asked anything else.
        """
        arguments = [part for name in ("white", "black") for part in ("-engine", f"cmd={self.engine}", f"name={name}")]
        arguments += ["-each", "tc=100000", "proto=uci", *(["restart=on"] if restarts else [])]
        arguments += ["-rounds", str(games // 2), "-games", "2", "-concurrency", str(at_once)]
        # Reports and saved states only now and then; one line for each game remains.
        arguments += ["-ratinginterval", "0", "-autosaveinterval", "0", "-pgnout", "file=games.pgn", "notation=uci"]
        self.counters.write_bytes(bytes(COUNTERS.size))
        try:
            # Pipes would make its engines able to hold up this script.
            with (self.folder / "output.txt").open("wb") as output:
                done = subprocess.run(
                    [self.binary, *arguments], cwd=self.folder, env={**os.environ, "COUNTERS": str(self.counters)},
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=60 + games,
                )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RefereeError(f"fastchess could not play {games} games: {error}") from None
        questions, first, last = COUNTERS.unpack(self.counters.read_bytes())
        if done.returncode or questions != games * self.moves or not 0 < first < last:
            lines = (self.folder / "output.txt").read_text(errors="replace").strip().splitlines() or ["nothing"]
            asked = f"asked {questions:,} questions in {games} games of {self.moves}, and ended with exit status {done.returncode}"
            raise RefereeError(f"fastchess {asked}. Its last line was: {escape(lines[-1], 300)}")
        return questions, last - first

    def question(self, games: int) -> float:
        """Return the microseconds for a question: the slope between a few games and many."""
        few, short = self.tournament(FEW_GAMES)
        many, long = self.tournament(games)
        if long <= short:
            raise RefereeError(f"{games} games took no longer than {FEW_GAMES}: try more --games, or again when the machine is less busy.")
        return (long - short) / (many - few) / 1e3


def measure(options: argparse.Namespace) -> list[Figure]:
    """Measure all kinds of matches beside fastchess, after each has played once."""
    clocks = (FAIR, CPU, WALL) if delays.is_counted() else (CPU, WALL)
    with open_folder() as folder:
        bot = compiled(folder, "bot", BOT)
        fastchess = Fastchess(options.fastchess, folder, LINE)
        step = partial(step_of_match, bot, replay=folder / "match.replay.jsonl.gz", cores=0)
        kinds = {}
        for name in options.isolation:
            level = choose(name, Limits(), [resolve(str(bot), "hunter", "evasion")])
            kinds |= {f"{name}, {clock} clock": partial(step, level=level, clock=clock) for clock in clocks}
        fastchess.tournament(FEW_GAMES)
        for kind in kinds.values():
            kind(min(options.steps, 1_000))
        # A step of a match has one question and a half.
        measures = [lambda kind=kind: kind(options.steps) / 1.5 for kind in kinds.values()]
        floors, *values = alternate(options.rounds, partial(fastchess.question, options.games // 2 * 2), *measures)
    return [Figure(name, "us", each, floors, "ratio", BUDGET) for name, each in zip(kinds, values, strict=True)]


def everything(options: argparse.Namespace) -> list[Figure]:
    """The figures, all on one core. UsageError if the binary or a C compiler is missing."""
    before = os.sched_getaffinity(0)
    # Matches that are started elsewhere keep off a claimed core.
    cores = Cores(1)
    core = max(cores.claimed or before)
    print(f"all on core {core}{'' if cores.claimed else ', which other matches use, too'}", file=sys.stderr)
    try:
        # All programs of both sides inherit it.
        os.sched_setaffinity(0, {core})
        return measure(options)
    finally:
        cores.release()
        os.sched_setaffinity(0, before)


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        fastchess=(..., "path of the binary"),
        rounds=(9, "measurements of each figure; the median counts"),
        steps=(10_000, "steps of each match"),
        games=(200, "games of the longer tournament, at least 4"),
        isolation=(["none", "strict"], "levels of isolation, separated by commas"),
    )
