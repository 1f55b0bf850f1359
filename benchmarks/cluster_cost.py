"""What a large Swiss league costs on a cluster: matches, hours, and the size of its database and replays.

    python benchmarks/cluster_cost.py [--teams 10000] [--rounds 14] [--starts 1] [--slots 64 256 1024] [--measure FILE | --figures FILE]

``--measure`` measures the figures on this machine and writes them to a JSON file; ``--figures`` reads them from such a file. A league of
example bots on two worker processes gives the time and the bytes of a match. A store with pretended results gives the bytes of a row and
the time that the coordinator needs for a result. Pretended rounds give the time that it needs to find the pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

LEAGUE = """
name = "cost"
seed = 1
isolation = "{isolation}"
format = "round-robin"
[starts]
count = 2
[[teams]]
name = "Ada"
program = "boxer"
[[teams]]
name = "Ben"
program = "runner"
[[teams]]
name = "Cem"
program = "evader"
[[teams]]
name = "Dana"
program = "straight"
"""
#: So many pretended results measure the store.
ROWS = 5_000


def measured(isolation: str, teams: int, rounds: int) -> dict[str, float]:
    """Measure all figures on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        return {**match_figures(Path(folder), isolation), **store_figures(Path(folder)), "pairing_seconds": pairing_seconds(teams, rounds)}


def match_figures(folder: Path, isolation: str) -> dict[str, float]:
    """Play a league on two worker processes: seconds of a slot for each match, and bytes of its replay and logs."""
    from referee.league import config
    from referee.league.cluster import ClusterPool
    from referee.league.engine import Engine
    from referee.league.league import begin

    file = folder / "league.toml"
    file.write_text(LEAGUE.format(isolation=isolation))
    opened = begin(config.load(file), folder / "out")
    pool = ClusterPool(opened.schedule.terms, opened.schedule.teams, opened.replays, "local:2")
    try:
        begun = time.monotonic()
        Engine(opened.store, pool, opened.schedule, Silent()).run()
        seconds = (time.monotonic() - begun) * pool.slots
    finally:
        pool.close()
    count = opened.store.counts().done
    size = sum(path.stat().st_size for path in opened.replays.rglob("*") if path.is_file())
    opened.close()
    return {"match_seconds": seconds / count, "replay_bytes": size / count}


def store_figures(folder: Path) -> dict[str, float]:
    """Store pretended results: seconds of the coordinator for each, and bytes of the database."""
    from referee.league.store import Store
    from referee.league.values import Duel, MatchRecord, MatchTask

    home = folder / "store"
    home.mkdir()
    store = Store.open(home, create=True)
    settings = {"width": 300, "height": 300, "hunter": [0, 0, 1, 1], "prey": [230, 200], "max_steps": 3000, "cooldown": 20, "max_walls": 4}
    duels = [Duel(number, 0, (f"Team {number:05}", f"Team {number + 1:05}")) for number in range(ROWS // 2)]
    tasks = [
        MatchTask(
            f"{2 * duel.number + game:032x}", duel.number, game, dict(zip(("hunter", "prey"), duel.teams[:: 1 - 2 * game])), settings, 2**40
        )
        for duel in duels
        for game in (0, 1)
    ]
    store.put(duels, tasks)
    begun = time.monotonic()
    for task in tasks:
        used = {"hunter": 1.234567, "prey": 0.234567}
        text = "The hunter caught the prey in step 1234."
        replay = f"replays/{task.key[:2]}/{task.key}.replay.jsonl.gz"
        store.finish(
            MatchRecord(
                task.key,
                "hunter",
                "caught",
                text,
                {"hunter": 1234.0, "prey": None},
                1234,
                {},
                {},
                used,
                used,
                replay,
                "0" * 64,
                wall_seconds=1.234567,
                host="node-017",
                position="0" * 16,
            )
        )
    seconds = time.monotonic() - begun
    store.close()
    size = sum(path.stat().st_size for path in home.iterdir())
    return {"row_bytes": size / ROWS, "result_seconds": seconds / ROWS}


def pairing_seconds(teams: int, rounds: int) -> float:
    """Find the pairs of all rounds of a Swiss league in which the better team always wins.

    In each round the coordinator finds the pairs of all rounds so far again, because it keeps nothing but results.
    """
    from referee.league import swiss

    names = [f"Team {number:05}" for number in range(teams + teams % 2)]
    points = dict.fromkeys(names, 0.0)
    met: dict[str, dict[str, int]] = {name: {} for name in names}
    begun = time.monotonic()
    total = 0.0
    for _ in range(rounds):
        for a, b in swiss.pairs(sorted(names, key=lambda name: (-points[name], name)), points, met):
            points[min(a, b)] += 1
            met[a][b] = met[b][a] = 1
        total += time.monotonic() - begun
    return total


class Silent:
    """Watches a league and says nothing."""

    def finished(self, task, record):
        """A match is done."""

    def said(self, text):
        """A sentence."""

    def decided(self, why):
        """The league ends early."""

    def tick(self, running):
        """Nothing to do."""


def table(figures: dict[str, float], teams: int, rounds: int, starts: int, slots: list[int]) -> str:
    """The costs as a Markdown table."""
    duels = teams // 2 * rounds * starts
    matches = 2 * duels
    coordinator = (matches * figures["result_seconds"] + figures["pairing_seconds"]) / 3600
    rows = [
        ("duels", f"{duels:,}"),
        ("matches", f"{matches:,}"),
        ("time of one slot for a match", f"{figures['match_seconds']:.2f} s"),
        ("time of all slots together", f"{matches * figures['match_seconds'] / 3600:,.1f} h"),
        *((f"time with {count:,} slots", f"{matches * figures['match_seconds'] / 3600 / count:,.2f} h") for count in slots),
        ("time of the coordinator: pairs and results", f"{coordinator:,.2f} h"),
        ("database", f"{matches * figures['row_bytes'] / 1e6:,.0f} MB"),
        ("replays and logs", f"{matches * figures['replay_bytes'] / 1e9:,.1f} GB"),
    ]
    return "\n".join(["| what | cost |", "|---|---|", *(f"| {name} | {cost} |" for name, cost in rows)])


def main() -> None:
    """Read the arguments, print the table."""
    parser = argparse.ArgumentParser(description="What a large Swiss league costs on a cluster.")
    parser.add_argument("--teams", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=14)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--isolation", default="strict")
    parser.add_argument("--figures", metavar="FILE")
    parser.add_argument("--measure", metavar="FILE")
    given = parser.parse_args()
    if given.figures is not None:
        figures = json.loads(Path(given.figures).read_text())
    else:
        figures = measured(given.isolation, given.teams, given.rounds)
        if given.measure is not None:
            Path(given.measure).write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(table(figures, given.teams, given.rounds, given.starts, given.slots) + "\n")


if __name__ == "__main__":
    main()
