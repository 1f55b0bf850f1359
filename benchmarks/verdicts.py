"""How often the analysis of Evasion decides, how, and how long it takes: the table of docs/verdicts.md.

python benchmarks/verdicts.py [--write]

Positions: the supplied positions with a verdict; the recorded games of tests/data at their start and after every change of walls; and
matches between the strongest examples, likewise. Times are of this machine, in one run; each position is decided once, alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from example_bots import BOTS  # noqa: E402
from example_bots.table import bot_class  # noqa: E402
from referee.games.evasion import GAME, conformance  # noqa: E402
from referee.games.evasion.analysis.verdict import safe_cells, verdict  # noqa: E402
from referee.replay.reader import verify  # noqa: E402
from sdk.testing import play  # noqa: E402

DATA = ROOT / "tests" / "data"
DOCS = ROOT / "docs" / "verdicts.md"
BEGIN, END = "<!-- table of verdicts -->", "<!-- end of table of verdicts -->"
RULES = ("classic", "diagonal", "gameserver")


def supplied() -> list[Any]:
    lines = (DATA / "evasion-verdicts.jsonl").read_text().splitlines()
    return [conformance.position(json.loads(line)) for line in lines]


class Watched:
    """A game whose steps are seen: its start and the positions after every change of walls."""

    def __init__(self) -> None:
        self.positions: list[Any] = []
        self._step = GAME.step

    def step(self, state: Any, moves: Any) -> Any:
        after, notices = self._step(state, moves)
        self.take(state, after)
        return after, notices

    def take(self, before: Any, after: Any) -> None:
        if not before.step:
            self.positions.append(before)
        if GAME.analysis.invalidates_verdict(before, after) and not after.ended:
            self.positions.append(after)


def recorded(rules: str) -> list[Any]:
    watched = Watched()
    GAME.step = watched.step
    try:
        for line in (DATA / f"evasion-{rules}.jsonl").read_text().splitlines():
            conformance.play(json.loads(line))
    finally:
        del GAME.step
    return watched.positions


def matches(rules: str) -> list[Any]:
    watched = Watched()
    by_name = {(bot.name, seat): bot for bot in BOTS if bot.game == "evasion" for seat in bot.seats}
    # Hunters that build through their own cell don't play gameserver.
    hunters = ("random",) if rules == "gameserver" else ("boxer", "searcher", "surveyor")
    with tempfile.TemporaryDirectory() as folder:
        for hunter in hunters:
            for prey in ("evader", "ghost"):
                for cooldown, most in ((20, 10), (5, 20), (50, 5)):
                    path = Path(folder) / "match.gz"
                    bots = bot_class(by_name[hunter, "hunter"]), bot_class(by_name[prey, "prey"])
                    play(*bots, rules=rules, seed=1, cooldown=cooldown, max_walls=most, max_steps=1_000, replay=path)
                    verify(path, lambda step: watched.take(step.before, step.after))
    return watched.positions


def row(name: str, positions: list[Any]) -> str:
    seconds, safe_seconds = [], []
    kinds = {"capture": 0, "evade": 0, "undecided": 0}
    ways = {"separated": 0, "window": 0, "ground": 0}
    unknown = 0
    for index, state in enumerate(positions):
        start = time.perf_counter()
        found = verdict(state)
        seconds.append(time.perf_counter() - start)
        kinds[found.kind] += 1
        if found.how != "budget":
            ways[found.how if found.how in ways else "window"] += 1
        if index % 5 == 0:
            start = time.perf_counter()
            unknown += len(safe_cells(state).unknown) > 0
            safe_seconds.append(time.perf_counter() - start)
    middle, most = (1e3 * statistics.median(seconds), 1e3 * max(seconds))
    high = 1e3 * statistics.quantiles(seconds, n=20)[-1]
    safe = f"{1e3 * statistics.median(safe_seconds):.0f} / {1e3 * max(safe_seconds):,.0f}, {unknown} of {len(safe_seconds)}"
    return (
        f"| {name} | {len(positions):,} | {kinds['capture']} | {kinds['evade']} | {kinds['undecided']} | "
        f"{ways['separated']} / {ways['window']} / {ways['ground']} | {middle:.1f} / {high:.1f} / {most:.0f} | {safe} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/verdicts.md")
    given = parser.parse_args()
    lines = [
        "| positions | | capture | evade | undecided | separated / window / ground | verdict, ms: median / 95 % / longest | safe cells, ms: median / longest, incomplete sets |",
        "|---|---|---|---|---|---|---|---|",
        row("supplied with a verdict", supplied()),
    ]
    lines += [row(f"recorded games, `{rules}`", recorded(rules)) for rules in RULES]
    lines += [row(f"matches of examples, `{rules}`", matches(rules)) for rules in RULES]
    text = "\n".join(lines)
    if given.write:
        before, _, rest = DOCS.read_text().partition(BEGIN)
        DOCS.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")
    print(text)


if __name__ == "__main__":
    main()
