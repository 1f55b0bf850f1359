"""Makes the figures of docs/environments.md about training and tree search: trains, then judges by ``referee compare``.

python benchmarks/environments.py [--skip-training] [--seed 1] [--startup 10]

Each line of the table is a comparison of two teams that differ in one bot. It is judged by the same limits for both.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
EXAMPLES, LEARNING = ROOT / "example_bots" / "evasion", ROOT / "example_bots" / "learning"
REFEREE = [sys.executable, "-m", "referee"]
#: What is compared: the seat, both bots, and the bots that both teams have in the other seat. Folders are those of example_bots/learning.
TRAINED = (("hunter", "linear", "straight", ("evader",)), ("prey", "linear", "still", ("boxer",)))
SEARCH = (("hunter", "mcts", "searcher", ("evader", "shadow")),)
#: The limits of the tree search and of searcher: seconds of processor time for each answer.
MOVE_TIME = 0.05


def team(folder: Path, seat: str, bot: str, other: str) -> Path:
    """Make the folder of a team: a bot of a seat, and an example bot in the other one."""
    place = folder / f"{bot}-{seat}-{other}"
    if (LEARNING / bot).is_dir():
        shutil.copytree(LEARNING / bot, place, ignore=shutil.ignore_patterns("__pycache__", "compiled", "train.py"))
    else:
        place.mkdir()
        shutil.copyfile(EXAMPLES / f"{bot}.py", place / f"{seat}.py")
    shutil.copyfile(EXAMPLES / f"{other}.py", place / f"{'prey' if seat == 'hunter' else 'hunter'}.py")
    return place


def run(*words: object) -> dict:
    """Run a command and return what it prints with ``--json``."""
    done = subprocess.run([*REFEREE, *map(str, words), "--json", "--quiet"], stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout)


def compare(folder: Path, seat: str, a: str, b: str, other: str, flags: list[str]) -> str:
    """Return the line of a comparison."""
    found = run("compare", team(folder, seat, a, other), team(folder, seat, b, other), "--max-steps", 1500, *flags)
    counts = f"{found['wins']}, {found['ties']}, {found['losses']}"
    return f"| {seat} | {a} | {b} | {other} | {found['decision']} | {found['duels']} | {counts} |"


def times(folder: Path, hunter: str, flags: list[str]) -> str:
    """Return the processor time of a hunter's answers in a match against ``evader``."""
    found = run(
        "play", folder / f"{hunter}-hunter-evader", "evader", "--max-steps", 1500, "--out", folder / f"{hunter}.replay.jsonl.gz", *flags
    )
    time = found["players"]["hunter"]["time"]
    return (
        f"{hunter}: {1000 * time['mean_seconds']:.2f} ms an answer, longest {1000 * time['longest_seconds']:.1f} ms, {found['steps']} steps"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-training", action="store_true", help="judge the stored weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--startup", default="10", help="seconds until a bot is ready; more on a busy machine")
    given = parser.parse_args()
    flags = ["--seed", str(given.seed), "--startup", given.startup, "--build-seconds", "600"]
    if not given.skip_training:
        start = perf_counter()
        subprocess.run([sys.executable, LEARNING / "linear" / "train.py"], check=True)
        print(f"training: {perf_counter() - start:.0f} s", flush=True)
    limits = ["--clock", "cpu", "--move-time", str(MOVE_TIME)]
    with tempfile.TemporaryDirectory() as temporary:
        print("| seat | A | B | both with | A is | duels | won, tied, lost |\n|---|---|---|---|---|---|---|", flush=True)
        for rows, more in ((TRAINED, []), (SEARCH, limits)):
            for seat, a, b, others in rows:
                for other in others:
                    print(compare(Path(temporary), seat, a, b, other, [*flags, *more]), flush=True)
        for _, a, b, _ in SEARCH:
            for hunter in (a, b):
                print(times(Path(temporary), hunter, [*flags, *limits]), flush=True)


if __name__ == "__main__":
    main()
