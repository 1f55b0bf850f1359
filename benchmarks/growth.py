"""Measures how the cost of a step grows with the walls, the board, the players, the length of a match and the matches at once.

python benchmarks/growth.py [--rounds 7] [--only walls,board] [--most-steps 1000000] [--write docs/speed.md]

In every round all sizes of a curve are measured one after the other, so that a busy machine slows all of them. The tables have the medians of
the rounds, in processor time; the matches at once are measured by the clock, too. `x first` is the median of the ratios to the first
row of the same round. A row is marked with `!` where the time grows faster than the size did since the row before. `--write` puts the tables
of the measured curves into a page, between the marks that it has for them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

from referee.bench.measures import PARSING
from referee.bench.rectangle import _turn
from referee.games.evasion import GAME
from referee.games.evasion.board.walls import HORIZONTAL, VERTICAL, Wall, Walls
from referee.games.evasion.state import Build, HunterMove, PreyMove
from referee.match.events import MatchBegun, StepTaken
from referee.match.seeds import secret_of
from referee.replay.reader import verify
from referee.replay.writer import ReplayWriter

#: How much faster than its size a cost may seem to grow from row to row, for noise.
NOISE = 1.25
STEPS = 2_000


def timed(work, count: int) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) / count * 1e6


def start(side: int, walls: int, steps: int = 1_000_000):
    """A position with walls of ten cells each, none of them near the hunter's path along the diagonal."""
    settings = GAME.codec.settings(
        "classic",
        {"width": side, "height": side, "prey": [side - 1, 0], "max_walls": 1_000, "cooldown": 0, "max_steps": steps, "capture_radius": 0},
    )
    state = GAME.start(settings)
    placed = [Wall(n, HORIZONTAL, 100 + n % 20 * 12, 2 + n // 20 * 2, 109 + n % 20 * 12, 2 + n // 20 * 2) for n in range(walls)]
    return state._replace(walls=Walls(side, side, placed), next_id=walls)


def play(state, steps: int) -> None:
    moves = {"prey": PreyMove((0, 0))}
    for _ in range(steps):
        state, _ = GAME.step(state, moves)


def ask(state, steps: int) -> None:
    for _ in range(steps):
        after, _ = GAME.step(state, {})
        GAME.codec.view_text(after, "hunter")


def build(state, steps: int) -> None:
    moves = {"hunter": HunterMove(Build(VERTICAL, None), ())}
    for _ in range(steps):
        after, _ = GAME.step(state, moves)
        GAME.codec.changes_text(state, after)


def walls(options):
    sizes = [0, 1, 10, 100, 300, 1_000]
    made = {size: start(1_000, size)._replace(hunter=type(start(9, 0).hunter)(400, 500, 1, 1)) for size in sizes}
    fewer = {size: start(1_000, min(size, 999))._replace(hunter=made[size].hunter) for size in sizes}
    yield "step, us", sizes, lambda size: timed(lambda: play(made[size], STEPS), STEPS)
    yield "step and its question, us", sizes, lambda size: timed(lambda: ask(made[size], STEPS), STEPS)
    yield "step that builds a wall, us", sizes, lambda size: timed(lambda: build(fewer[size], STEPS // 10), STEPS // 10)


def board(options):
    sizes = [50, 100, 300, 1_000, 3_000, 10_000]
    made = {size: start(size, 0) for size in sizes}
    yield "step, us", sizes, lambda size: timed(lambda: play(made[size], STEPS), STEPS)
    yield "start of a match, us", sizes, lambda size: timed(lambda: [start(size, 0) for _ in range(100)], 100)


def players(options):
    sizes = [2, 4, 8, 16, 26]
    yield "turn of Rectangle, 4 robots each, us", sizes, lambda size: _turn(100, size, 4, turns=200, seed=size) * 1e3


def length(options):
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= options.most_steps]
    folder = Path(options.folder)
    written: dict[int, Path] = {}

    def write(size: int) -> float:
        written[size] = folder / f"{size}.replay.jsonl.gz"
        return timed(lambda: record(written[size], size), size)

    yield "step with its replay, us", sizes, write
    yield "step verified, us", sizes, lambda size: timed(lambda: check(written[size]), size)


def check(path: Path) -> None:
    problem = verify(path).problem
    # The match was cut at a number of steps, so that its replay has no result.
    assert problem is not None and problem.kind == "cut", problem


def record(path: Path, steps: int) -> None:
    """Play a match in this process and write its replay."""
    state = start(300, 0, steps + 1 if steps < 1_000_000 else 1_000_000)
    writer = ReplayWriter(path)
    head = {"type": "head", "format": 1, "game": "evasion", "version": GAME.info.version, "rules": "classic", "seed": 1}
    head |= {"secret": secret_of(1).hex(), "settings": GAME.codec.settings_json(state.settings), "clock": {"kind": "wall"}}
    head["players"] = {seat: {"name": seat} for seat in ("hunter", "prey")}
    writer.begun(MatchBegun(head, state))
    moves = {"hunter": HunterMove(), "prey": PreyMove((0, 0))}
    for turn in range(steps - (steps >= 1_000_000)):
        asked = {seat: moves[seat] for seat in GAME.movers(state)}
        after, notices = GAME.step(state, asked)
        writer.stepped(StepTaken(turn, state, after, asked, notices, {"hunter": 1e-5}, {}, {}, {}))
        state = after
    writer.stopped()


def matches(options):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    sizes = sorted({1, cores, 2 * cores, 4 * cores})
    bot = Path(options.folder) / "bot.py"
    bot.write_text(PARSING)

    def run(size: int) -> tuple[float, float]:
        command = [sys.executable, "-m", "referee", "play", str(bot), str(bot), "--max-steps", "2000", "--quiet", "--isolation", "none"]
        command += ["--seed", "1", "--bank", "none", "--move-time", "none", "--out", options.folder + os.sep]
        begun, used = time.perf_counter(), children_seconds()
        running = [subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(size)]
        failed = [process.args for process in running if process.wait()]
        assert not failed, failed
        return time.perf_counter() - begun, children_seconds() - used

    yield f"time of all matches together, on {cores} cores, s", sizes, lambda size: run(size)[0]
    yield "their processor time, s", sizes, lambda size: run(size)[1]


def children_seconds() -> float:
    """Return the processor time of all processes that this one has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


CURVES = {
    "walls": ("walls", walls),
    "board": ("cells a side", board),
    "players": ("players", players),
    "length": ("steps", length),
    "matches": ("matches at once", matches),
}


def measure(name: str, options) -> list[str]:
    """Measure the curves of one size, and return them as a table in Markdown."""
    what, curve = CURVES[name]
    columns = []
    for title, sizes, run in curve(options):
        print(f"{name}: {title}", file=sys.stderr, flush=True)
        run(sizes[0])
        found = [[run(size) for size in sizes] for _ in range(options.rounds)]
        medians = [statistics.median(row[index] for row in found) for index in range(len(sizes))]
        ratios = [statistics.median(row[index] / row[0] for row in found) for index in range(len(sizes))]
        steep = [
            index > 0 and sizes[index - 1] > 0 and ratios[index] / ratios[index - 1] > sizes[index] / sizes[index - 1] * NOISE
            for index in range(len(sizes))
        ]
        columns.append((title, sizes, medians, ratios, steep))
    sizes = columns[0][1]
    lines = [f"| {what} | " + " | ".join(f"{title} | x first" for title, *_ in columns) + " |"]
    lines.append("|---|" + "---|---|" * len(columns))
    for index, size in enumerate(sizes):
        cells = [f"{medians[index]:,.1f} | {ratios[index]:.2f}{' !' if steep[index] else ''}" for _, _, medians, ratios, steep in columns]
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return lines


def marks_in(page: Path, name: str) -> tuple[str, str]:
    """Return what stands in a page up to the mark before a curve's table, and from the mark after it. SystemExit if it has no such marks."""
    first, last = f"<!-- growth: {name} -->", f"<!-- end of {name} -->"
    before, mark, rest = page.read_text().partition(first)
    if not mark or last not in rest:
        raise SystemExit(f"{page} has no marks {first} and {last}")
    return before + first, last + rest.partition(last)[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(CURVES))
    parser.add_argument("--most-steps", type=int, default=1_000_000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := [name for name in names if name not in CURVES]:
        parser.error(f"--only names the unknown curve {unknown[0]!r}; there are {', '.join(CURVES)}")
    if options.rounds < 1 or options.most_steps < 1_000:
        parser.error("--rounds must be at least 1, and --most-steps at least 1,000")
    if options.write is not None:
        # Found out before the measurement, which takes minutes.
        for name in names:
            try:
                marks_in(options.write, name)
            except OSError as error:
                parser.error(f"{options.write} can't be read: {error.strerror}")
    with tempfile.TemporaryDirectory() as options.folder:
        for name in names:
            table = "\n".join(measure(name, options))
            print(f"\n{table}\n", flush=True)
            if options.write is not None:
                before, rest = marks_in(options.write, name)
                options.write.write_text(f"{before}\n\n{table}\n\n{rest}")


if __name__ == "__main__":
    main()
