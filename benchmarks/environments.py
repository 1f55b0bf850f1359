"""Makes the figures of docs/environments.md: speed by ``referee bench --rl``; training and tree search by ``referee compare``.

python benchmarks/environments.py [--only speed|training|search] [--stored] [--write] [--seed 1] [--startup 10]

Each line of a table is a comparison of two teams that differ in one bot; the limits of both are the same. For the tree search it also has
the processor time that both used for an answer, over all games of the comparison. Exit status 1: A is not better, or the tree search
used more time than the bot that it is compared with.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple


ROOT = Path(__file__).parents[1]
EXAMPLES, LEARNING = ROOT / "example_bots" / "evasion", ROOT / "example_bots" / "learning"
REFEREE = [sys.executable, "-m", "referee"]
PAGE = ROOT / "docs" / "environments.md"
HEAD = ("seat", "A", "B", "both with", "A is", "duels", "won, tied, lost")
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


def run(*words: object) -> Any:
    """Run a command and return what it prints with ``--json``."""
    done = subprocess.run([*REFEREE, *map(str, words), "--json"], stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout)


def compare(folder: Path, seat: str, a: str, b: str, other: str, flags: list[str]) -> Comparison:
    """Compare two bots of a seat, and add up the time of their answers over all games."""
    teams = {name: team(folder, seat, name, other) for name in (a, b)}
    replays = folder / f"{a}-{b}-{other}"
    found = run("compare", *teams.values(), "--max-steps", 1500, "--out", replays, "--quiet", *flags)
    times = {name: [0.0, 0] for name in teams}
    for path in replays.rglob("*.replay.jsonl.gz"):
        try:
            with gzip.open(path, "rt") as lines:
                head, *_, result = map(json.loads, lines)
        except (EOFError, ValueError):
            # The comparison was decided while this game was played.
            continue
        if result["type"] != "result":
            continue
        name = next(name for name, place in teams.items() if Path(head["players"][seat]["program"]).is_relative_to(place))
        times[name][0] += result["time"][seat]["used_seconds"]
        times[name][1] += result["time"][seat]["answers"]
    milliseconds = [1000 * used / answers for used, answers in times.values()]
    counts = f"{found['wins']}, {found['ties']}, {found['losses']}"
    return Comparison([seat, a, b, other, found["decision"], found["duels"], counts], *milliseconds)


class Comparison(NamedTuple):
    """The cells of a comparison's line, and the milliseconds of processor time that A and B used for an answer on average."""

    cells: list[object]
    milliseconds: float
    others_milliseconds: float


def table(head: tuple[str, ...], rows: list[list[object]]) -> str:
    """Return a table of Markdown."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows))


def write(name: str, text: str) -> None:
    """Put a table between its marks in the page."""
    before, mark, rest = PAGE.read_text().partition(f"<!-- figures of {name} -->")
    _, end, after = rest.partition(f"<!-- end of figures of {name} -->")
    if not (mark and end):
        raise SystemExit(f"{PAGE} has no marks of the figures of {name}")
    PAGE.write_text(f"{before}{mark}\n\n{text}\n\n{end}{after}")


def speed() -> str:
    """Return the table of speeds, measured now."""
    found: dict[str, dict] = {figure["name"]: figure for figure in run("bench", "--rl")}
    engines = found["beside the engine's step"]["measured"]
    rows: list[list[object]] = [
        [text, f"{found[name]['measured'] / 1e6:.1f} million{more}"]
        for text, name, more in (
            ("random players, 10 walls at most", "steps, random players", f", {engines:.0f} times the engine"),
            ("the same with observations and masks", "with observations and masks", ""),
            ("the whole `step` of a vector environment", "steps of a vector environment", ""),
            ("`boxer` against `runner`", "steps, boxer against runner", ""),
        )
    ]
    (shared,) = [figure["measured"] for name, figure in found.items() if name.startswith("processor time of a step on")]
    rows.append(["random players, processor time on all cores beside that on one", f"{shared:.2f} times"])
    return table(("figure", "steps per second"), rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("speed", "training", "search"), help="make one of the tables")
    parser.add_argument("--stored", action="store_true", help="judge the stored weights instead of training new ones")
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--startup", default="10", help="seconds until a bot is ready; more on a busy machine")
    given = parser.parse_args()
    flags = ["--seed", str(given.seed), "--startup", given.startup, "--build-seconds", "600"]
    if given.only in (None, "speed"):
        speeds = speed()
        print(speeds, flush=True)
        if given.write:
            write("speed", speeds)
    if given.only in (None, "training") and not given.stored:
        start = perf_counter()
        subprocess.run([sys.executable, LEARNING / "linear" / "train.py"], check=True)
        print(f"training: {perf_counter() - start:.0f} s", flush=True)
    is_good = True
    for name, pairs, head, more in (
        ("training", TRAINED, HEAD, []),
        ("search", SEARCH, (*HEAD, "A's ms an answer", "B's ms an answer"), ["--clock", "cpu", "--move-time", str(MOVE_TIME)]),
    ):
        if given.only not in (None, name):
            continue
        rows: list[list[object]] = []
        with tempfile.TemporaryDirectory() as temporary:
            for seat, a, b, others in pairs:
                for other in others:
                    found = compare(Path(temporary), seat, a, b, other, [*flags, *more])
                    is_good &= found.cells[4] == "better"
                    rows.append(found.cells)
                    if name == "search":
                        rows[-1] += [f"{found.milliseconds:.2f}", f"{found.others_milliseconds:.2f}"]
                        is_good &= found.milliseconds <= found.others_milliseconds
        print(table(head, rows), flush=True)
        if given.write:
            write(name, table(head, rows))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
