"""Measures the start of the command beside what it can't do without: typer's import and the bots' own start.

python benchmarks/start.py [--rounds 9] [--isolation auto] [--tree FOLDER]...

Each tree is a checkout of the project, installed in place in an environment `.venv` of its own; the default is the one of this file. In every round the floors and the commands of all trees run
one after the other, so that a busy machine slows all of them. The table has the medians of the rounds: seconds by the clock, and processor
time of the processes with their children, which other programs on the machine distort less. `x floor` is the median of each round's ratio.

- `help`: `referee --help`; its floor is `python -c "import typer"`. Goal: 1.3 times.
- `first question`: from the command `referee play` until a bot has its first question; its floor is `python -c "import typer"` and the
  start of both bots, one after the other, until each is ready. Goal: 1.6 times. The processor time is that of the whole command, with a match
  of one step and its end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

from referee.bench.measures import STAMPING, start_line


def run(command: list[str], folder: str, text: bytes | None = None) -> tuple[float, float, bytes]:
    """Run a command; return its seconds by the clock, its processor time with that of its children, and its output."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if text is not None:
        process.stdin.write(text)
        process.stdin.flush()
        process.stdout.readline()
        seconds = time.perf_counter() - begun
        process.stdin.close()
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdin.close()
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return seconds if text is not None else time.perf_counter() - begun, used.ru_utime + used.ru_stime, output


def python_of(tree: str) -> str:
    """Return the interpreter of a tree's own environment; that of this script if there is none."""
    own = Path(tree) / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def first_question(tree: str, bot: str, out: str, isolation: str) -> tuple[float, float]:
    """Return the seconds from the command to the first question, and the processor time of the whole command."""
    command = [python_of(tree), "-m", "referee", "play", bot, bot, "--max-steps", "1", "--json", "--out", out, "--isolation", isolation]
    begun = time.monotonic()
    _, cpu, output = run(command, tree)
    return float(Path(json.loads(output)["logs"]["hunter"]).read_text()) - begun, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--tree", action="append", default=[])
    options = parser.parse_args()
    trees = {Path(tree).resolve().name: str(Path(tree).resolve()) for tree in options.tree or [str(HERE)]}
    for tree in trees.values():
        # As an installation does; otherwise every command would compile what has changed since, if Python may not write bytecode.
        subprocess.run([python_of(tree), "-m", "compileall", "-q", "referee", "sdk"], cwd=tree, check=True)
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder) / "stamping.py"
        bot.write_text(STAMPING)
        start = start_line("hunter")
        for number in range(options.rounds + 1):
            row = {"import typer": run([sys.executable, "-c", "import typer"], str(HERE))[:2]}
            row["bare Python"] = run([sys.executable, "-c", "pass"], str(HERE))[:2]
            bots = [run([sys.executable, str(bot)], str(HERE), start)[:2] for _ in range(2)]
            row["two bots"] = (sum(wall for wall, _ in bots), sum(cpu for _, cpu in bots))
            for name, tree in trees.items():
                row[f"{name}: help"] = run([python_of(tree), "-m", "referee", "--help"], tree)[:2]
                row[f"{name}: first question"] = first_question(tree, str(bot), folder + os.sep, options.isolation)
            # The first round fills caches.
            if number:
                for name, value in row.items():
                    found.setdefault(name, []).append(value)
    print(f"{options.rounds} rounds, isolation {options.isolation}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'measure':<40}{'seconds':>9}{'x floor':>9}{'cpu':>9}{'x floor':>9}")
    for name, values in found.items():
        floors = {"help": ["import typer"], "question": ["import typer", "two bots"]}.get(name.split()[-1], [])
        cells = []
        for kind in (0, 1):
            cells.append(f"{statistics.median(value[kind] for value in values):>9.3f}")
            ratios = [value[kind] / sum(found[floor][number][kind] for floor in floors) for number, value in enumerate(values) if floors]
            cells.append(f"{statistics.median(ratios):>9.2f}" if ratios else f"{'':>9}")
        print(f"{name:<40}{''.join(cells)}")


if __name__ == "__main__":
    main()
