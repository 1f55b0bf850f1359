"""Compares a match of the referee with a tournament of fastchess: microseconds a question, between instant C programs.

python benchmarks/fastchess.py FASTCHESS [--rounds 9] [--steps 10000] [--games 200] [--isolation none,strict] [--json]

FASTCHESS is the path of a fastchess binary (https://github.com/Disservin/fastchess). A C compiler is needed, too. Every process of both sides
runs on the same core, one game at a time. In every round fastchess and all kinds of matches run one after the other, so that a busy machine
slows all of them. The floor is a question of fastchess. Budget: 0.75. Medians of fewer than 7 rounds mean little.

- fastchess: two engines play one fixed game of 120 plies again and again. They answer at once, and note the time of the first and of the last
  question of a game. A question costs the slope between the span of 2 games and that of --games games. So the start and the end of fastchess
  don't count (it looks for its end once a second), but what it does between two games does. It asks `isready` around every question and
  sends all moves of the game. It writes a PGN file.
- the referee: Evasion with two bots that answer at once, --steps steps with 1.5 questions each, from the first question to the last step. It
  writes a replay. Each match is played by each clock that this machine has, without a sandbox (none) and in it (strict).

The exit status is 2 if something is missing, with a sentence that names it. A missed budget does not change the exit status.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NoReturn

from harness import Figure, alternate, number, run
from matches import Stopwatch

from referee.errors import RefereeError
from referee.games.evasion.game import GAME
from referee.support import delays
from referee.isolation.launcher import BotLauncher, open_launcher
from referee.isolation.limits import Limits
from referee.match.options import MatchOptions, CPU, FAIR, WALL, TimeControl, RunOptions
from referee.match.match import Match
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.cores import Cores
from referee.players.names import resolve
from referee.replay.writer import ReplayWriter
from referee.support.escape import escape

BUDGET = 0.75
LEVELS = ("none", "limits", "strict")
#: The shorter of the two tournaments: one round of two games, with colours swapped.
FEW_GAMES = 2
#: Tells the engines where their counters are.
COUNTERS = "FASTCHESS_BENCH_COUNTERS"
#: What the counters are: the number of questions, the nanoseconds of the first question, and those of the last one.
SHAPE = struct.Struct("=3q")

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
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const char moves[] = MOVES;
static const size_t plies = sizeof moves / 5;
static char input[1 << 16];
static char answer[] = "info depth 1 score cp 0\nbestmove 0000\n";

static void say(const char *text, size_t length) {
    if (write(1, text, length) != (ssize_t)length) _exit(1);
}

static int begins(const char *line, size_t length, const char *word) {
    size_t wanted = strlen(word);
    return length >= wanted && !memcmp(line, word, wanted);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    const char *path = getenv(COUNTERS);
    int file = path ? open(path, O_RDWR) : -1;
    int64_t *counters = file < 0 ? MAP_FAILED : mmap(0, 24, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counters == MAP_FAILED) return 1;
    size_t filled = 0, ply = plies, head = strlen("position startpos moves");
    for (;;) {
        ssize_t count = read(0, input + filled, sizeof input - filled);
        if (count <= 0) return 0;
        filled += count;
        char *line = input, *end;
        while ((end = memchr(line, '\n', input + filled - line))) {
            size_t length = end - line;
            if (begins(line, length, "isready")) {
                say("readyok\n", 8);
            } else if (begins(line, length, "position startpos")) {
                ply = length < head ? 0 : (length - head) / 5;
            } else if (begins(line, length, "go")) {
                __atomic_add_fetch(&counters[0], 1, __ATOMIC_SEQ_CST);
                if (ply == 0 && !counters[1]) counters[1] = now();
                if (ply + 1 == plies) counters[2] = now();
                memcpy(answer + sizeof answer - 6, ply < plies ? moves + 5 * ply : "0000", 4);
                say(answer, sizeof answer - 1);
            } else if (begins(line, length, "ucinewgame")) {
                ply = plies;
            } else if (begins(line, length, "uci")) {
                say("id name instant\nuciok\n", 22);
            } else if (begins(line, length, "quit")) {
                return 0;
            }
            line = end + 1;
        }
        filled = input + filled - line;
        memmove(input, line, filled);
    }
}
"""

#: A bot of Evasion that looks for the turn of a question and reads nothing else: the hunter goes on, the prey runs down.
BOT = r"""
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

static char input[1 << 20];
static char answer[200] = "{\"type\":\"move\",\"turn\":";

static void say(const char *text, size_t length) {
    if (write(1, text, length) != (ssize_t)length) _exit(1);
}

int main(void) {
    const char *move = ",\"move\":{\"go\":[0,1]}}\n", *ready = "{\"type\":\"ready\",\"protocol\":1}\n";
    size_t filled = 0, head = strlen(answer);
    for (;;) {
        ssize_t count = read(0, input + filled, sizeof input - filled);
        if (count <= 0) return 0;
        filled += count;
        char *line = input, *end;
        while ((end = memchr(line, '\n', input + filled - line))) {
            char *turn = memmem(line, end - line, "\"turn\":", 7);
            if (turn) {
                size_t length = head;
                for (turn += 7; *turn >= '0' && *turn <= '9' && length < 150; turn++) answer[length++] = *turn;
                memcpy(answer + length, move, strlen(move));
                say(answer, length + strlen(move));
            } else if (memmem(line, end - line, "\"type\":\"start\"", 14)) {
                if (memmem(line, end - line, "\"seat\":\"hunter\"", 15)) move = ",\"move\":{}}\n";
                say(ready, strlen(ready));
            }
            line = end + 1;
        }
        filled = input + filled - line;
        memmove(input, line, filled);
    }
}
"""


def refuse(sentence: str) -> NoReturn:
    """End with exit status 2 and a sentence about what is missing."""
    print(f"fastchess.py: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def compiled(folder: Path, name: str, source: str, **words: str) -> Path:
    """Compile a C program into a folder, with ``words`` as macros for string literals, and return its path."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        refuse("there is neither gcc nor cc on the PATH. The engines and bots of this benchmark are C programs: install a C compiler.")
    macros = "".join(f"#define {word} {json.dumps(text)}\n" for word, text in words.items())
    (folder / f"{name}.c").write_text(macros + source)
    done = subprocess.run(
        [compiler, "-O2", "-o", name, f"{name}.c"], cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        first = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]
        refuse(f"{compiler} could not compile the program {name} of this benchmark: {escape(first, 300)}")
    return folder / name


class Fastchess:
    """A fastchess binary, the engine that plays both sides with its number of moves in a game, and the folder in which it runs."""

    def __init__(self, binary: str, engine: Path, folder: Path, moves: int = len(LINE)) -> None:
        self.binary, self.engine, self.folder, self.moves = binary, engine, folder, moves
        self.counters = folder / "counters"
        self.output = folder / "output.txt"

    def run(self, arguments: list[str], seconds: float) -> int:
        """Run it and return its exit status. End with a sentence if it can't be run or takes too long."""
        self.counters.write_bytes(bytes(SHAPE.size))
        env = {**os.environ, COUNTERS: str(self.counters)}
        # Pipes would make its engines able to hold up this script.
        with self.output.open("wb") as output:
            try:
                process = subprocess.Popen(
                    [self.binary, *arguments],
                    cwd=self.folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as error:
                refuse(f"{escape(self.binary, 300)} can't be run: {error.strerror}. Give the path of a fastchess binary for this machine.")
            try:
                return process.wait(seconds)
            except BaseException as error:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    self.fail(f"did not end within {seconds:g} seconds")
                raise

    def lines(self, *, is_end: bool) -> list[str]:
        """Return the first or the last lines that it wrote, as far as 4 KiB reach."""
        with self.output.open("rb") as output:
            output.seek(max(0, self.output.stat().st_size - 4096) if is_end else 0)
            return output.read(4096).decode(errors="replace").strip().splitlines()

    def fail(self, what: str) -> NoReturn:
        """End with a sentence about a run that failed, and with the last line of its output."""
        lines = self.lines(is_end=True)
        last = f". Its last line was: {escape(lines[-1].strip(), 300)}" if lines else ". It wrote nothing."
        refuse(f"{escape(self.binary, 300)} {what}{last}")

    def version(self) -> str:
        """Return its version as it writes it; "fastchess" if it doesn't."""
        status = self.run(["-version"], 60)
        lines = self.lines(is_end=False)
        return escape(lines[0].strip(), 60) if status == 0 and lines else "fastchess"

    def tournament(self, games: int, at_once: int = 1, *, restarts: bool = False) -> tuple[int, int]:
        """Play games, and return the number of questions and the nanoseconds from the first question to the last one.

        With ``restarts`` each game has new engines.
        """
        arguments = [part for name in ("white", "black") for part in ("-engine", f"cmd={self.engine}", f"name={name}")]
        arguments += ["-each", "tc=100000", "proto=uci", *(["restart=on"] if restarts else [])]
        arguments += ["-rounds", str(games // 2), "-games", "2", "-concurrency", str(at_once)]
        # Reports and saved states only now and then; one line for each game remains.
        arguments += ["-ratinginterval", "0", "-autosaveinterval", "0", "-pgnout", "file=games.pgn", "notation=uci"]
        status = self.run(arguments, 60 + games)
        try:
            questions, first, last = SHAPE.unpack(self.counters.read_bytes())
        except (OSError, struct.error):
            self.fail("took away the file in which the engines count their questions")
        expected = games * self.moves
        if status:
            self.fail(f"ended with exit status {status} in a tournament of {games} games")
        if questions != expected:
            self.fail(f"asked {questions:,} questions in {games} games, but these games have {expected:,}")
        if not 0 < first < last:
            self.fail(f"asked {questions:,} questions in no time, so that it can't have asked the engines of this script")
        return questions, last - first

    def question(self, games: int) -> float:
        """Return the microseconds for a question: the slope between a few games and many."""
        few, short = self.tournament(FEW_GAMES)
        many, long = self.tournament(games)
        if long <= short:
            self.fail(
                f"needed no longer for {games} games than for {FEW_GAMES}: try again with more --games, or when the machine is less busy"
            )
        return (long - short) / (many - few) / 1e3


class Matches:
    """Matches of one kind between two instant bots."""

    def __init__(self, bot: Path, level: str, clock: str, folder: Path) -> None:
        programs = {seat: resolve(str(bot), seat, "evasion") for seat in ("hunter", "prey")}
        self.entrants = {seat: program._replace(name=seat, about={"program": bot.name}) for seat, program in programs.items()}
        with contextlib.closing(open_launcher(level, Limits(), list(programs.values()))) as launcher:
            self.level = launcher.level
        # This script has chosen the core.
        self.options = MatchOptions(time=TimeControl(startup=60, move=60, bank=None, kind=clock), run=RunOptions(cores=0, max_lateness=60))
        self.name = f"{level}, {clock} clock"
        self.replay = folder / "match.replay.jsonl.gz"
        self.notes: tuple[str, ...] = ()

    def question(self, steps: int) -> float:
        """Play a match and return the microseconds for a question."""
        stopwatch = Stopwatch()
        settings = GAME.codec.settings("classic", {"max_steps": steps})
        spec = MatchSpec(GAME, settings, self.entrants, Start.of(GAME, settings, 1), self.options, self.replay)
        with contextlib.closing(BotLauncher(lambda _: self.level)) as launcher:
            result = Match(spec, [stopwatch], launcher).run()
        self.notes = result.notes
        questions = sum(time.answers for time in result.times.values())
        if result.faults or questions != steps + steps // 2:
            told = "; ".join(result.faults.values()) or f"it had {questions:,} questions"
            raise RefereeError(f"A match of {steps:,} steps ({self.name}) failed: {escape(told, 300)}.")
        return stopwatch.seconds / questions * 1e6


def everything(options: argparse.Namespace) -> list[Figure]:
    """The figures of all kinds of matches beside fastchess, all on one core."""
    if not hasattr(os, "sched_setaffinity"):
        refuse("this system can't keep processes on a core, so that nothing can be compared here.")
    binary = Path(options.fastchess).absolute()
    if not binary.is_file():
        refuse(f"{escape(str(binary), 300)} is {'no file' if binary.exists() else 'missing'}. Give the path of the fastchess binary.")
    if not os.access(binary, os.X_OK):
        refuse(f"{escape(str(binary), 300)} can't be run: it is not executable. Try:  chmod +x {escape(str(binary), 300)}")
    levels = list(dict.fromkeys(options.isolation.split(",")))
    if not set(levels) <= set(LEVELS):
        refuse(f"--isolation is {escape(options.isolation, 100)}, but must be {', '.join(LEVELS)} or several of them, separated by commas.")
    before = os.sched_getaffinity(0)
    # Matches that are started elsewhere keep off a claimed core.
    cores = Cores(1)
    core = max(cores.claimed or before)
    if not cores.claimed:
        print(f"fastchess.py: matches on this machine have claimed every core; times on core {core} are less even.", file=sys.stderr)
    try:
        # All programs of both sides inherit it.
        os.sched_setaffinity(0, {core})
        with tempfile.TemporaryDirectory(prefix="fastchess-bench-") as place:
            folder = Path(place)
            bot = compiled(folder, "bot", BOT)
            fastchess = Fastchess(str(binary), compiled(folder, "engine", ENGINE, MOVES=" ".join(LINE), COUNTERS=COUNTERS), folder)
            print(f"{fastchess.version()}, all on core {core}", file=sys.stderr)
            clocks = (FAIR, CPU, WALL) if delays.is_counted() else (CPU, WALL)
            return measure(fastchess, [Matches(bot, level, clock, folder) for level in levels for clock in clocks], options)
    finally:
        cores.release()
        os.sched_setaffinity(0, before)


def measure(fastchess: Fastchess, kinds: list[Matches], options: argparse.Namespace) -> list[Figure]:
    """Run everything once, then measure it in rounds."""
    fastchess.tournament(FEW_GAMES)
    for kind in kinds:
        kind.question(min(options.steps, 1_000))
    for note in dict.fromkeys(note for kind in kinds for note in kind.notes):
        print(f"fastchess.py: {note}", file=sys.stderr)
    measures = [partial(fastchess.question, options.games), *(partial(kind.question, options.steps) for kind in kinds)]
    floors, *values = alternate(options.rounds, *measures)
    return [Figure(kind.name, "us", found, floors, "ratio", BUDGET) for kind, found in zip(kinds, values, strict=True)]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("fastchess", metavar="FASTCHESS", help="path of the binary")
    parser.add_argument("--games", type=number(FEW_GAMES + 2, 2), default=200, help="games of the longer tournament")
    parser.add_argument("--isolation", default="none,strict", help="levels of isolation, separated by commas")


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=9)
