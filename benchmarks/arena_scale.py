"""What an arena costs at size: its start, the next duel, a result that is taken in, standings, a team's page, the most memory.

python benchmarks/arena_scale.py [--rounds 3] [--teams 200] [--versions 10] [--matches 1000000] [--url postgresql://...] [--store DIR] [--json]

A script fills the store: each team has so many versions, and the duels are those of a season in which all teams hand in a new version at the
same times. Workers that only pretend to play then take further batches: with ``--duels 144000`` a day's, of two slots and matches of 0.6 s.
``--store`` keeps the folder, and takes it if it is there.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, apart, open_folder, run, timed
from matches import SEATS, PretendPool, pretended
from sqlalchemy import insert, text

from referee.arena.api_models import MatchesQuery
from referee.arena.arena import new, open_arena
from referee.arena.duels import ArenaDuel
from referee.arena.player import play_batches
from referee.arena.ratings import RatingPoint
from referee.arena.store import ArenaStore
from referee.arena.versions import ACTIVE, RETIRED, Program, Version, version_name
from referee.arena.views import ArenaViews
from referee.handins.values import Entry
from referee.tournament import store as core
from referee.tournament.progress import ProgressListener
from referee.tournament.values import Task

ARENA = 'seed = 7\nisolation = "none"\nversions = "active"\n[starts]\ncount = 1000\n[[references]]\nname = "R0"\nprogram = "reference.py"\n'
#: A bot that does nothing.
IDLE = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {}}), flush=True)
"""
#: So many duels go into the store at once.
CHUNK = 20_000
#: Each figure of an arena: its name, its unit and its budget.
FIGURES = {
    "start": ("start", "s", 10.0),
    "first duels": ("first duels after it", "s", None),
    "duel": ("next duel", "ms", 20.0),
    "duel, processor": ("next duel, processor time", "ms", 20.0),
    "batch": ("next batch of duels", "ms", None),
    "result": ("result taken in", "ms", 20.0),
    "standings": ("view: standings", "ms", 20.0),
    "team": ("view: a team", "ms", 20.0),
    "matches": ("view: matches of a team", "ms", 20.0),
    "matches of two teams": ("view: matches of two teams", "ms", 20.0),
    "memory": ("memory", "MiB", 400.0),
    "growth": ("growth of the memory", "MiB", 20.0),
    "command": ("arena standings, intervals of now", "s", 30.0),
}
#: The options of the store.
STORE: dict[str, tuple[object, str]] = {
    "teams": (200, "teams"),
    "versions": (10, "versions of each team"),
    "matches": (1_000_000, "matches in the store"),
    "url": ("", "the address of an empty PostgreSQL database; SQLite without it"),
    "store": (None, "keep the arena's folder, and take it if it is there"),
}


# --- the store ---


@contextlib.contextmanager
def filled(options: argparse.Namespace) -> Iterator[Path]:
    """Yield the folder of the arena that the options of the store describe."""
    with open_folder() as place:
        folder = (options.store or place / "arena").resolve()
        if not (folder / "arena.toml").exists():
            seconds = timed(lambda: fill(folder, options.url or None, options.teams, options.versions, options.matches // 2)) / 1000
            print(f"filled in {seconds:,.0f} s", file=sys.stderr, flush=True)
        yield folder


def put(connection: Any, table: Any, rows: Sequence[Any]) -> None:
    """Insert the rows of a model."""
    connection.execute(insert(table.sql), [table._row(row) for row in rows])


def fill(folder: Path, url: str | None, teams: int, versions: int, duels: int) -> None:
    """Begin an arena and fill its store."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arena.toml").write_text(ARENA)
    (folder / "reference.py").write_text(IDLE)
    with contextlib.closing(new(folder, None, None, url)) as opened:
        # All versions are the reference's program, so that real matches can be played as well.
        (program,) = opened.entries.values()
    files = {seat: dict(hashes) for seat, hashes in program.files.items()}
    # Each version in the order of the teams, all first ones before all second ones.
    places = [(team, number) for number in range(1, versions + 1) for team in range(teams)]
    names = [version_name(f"team {team:03}", number) for team, number in places]
    begun = time.time() - 1e6
    with ArenaStore.open(folder, url) as store, store.core.step() as connection:
        programs = [
            Program(name=name, hash=f"{at:064}", players=dict(program.players), home=[program.home], files=files)
            for at, name in enumerate(names)
        ]
        put(connection, store.versions._programs, programs)
        rows = [
            Version(
                name=name, team=f"team {team:03}", number=number, hash=f"{at:064}", state=ACTIVE if number == versions else RETIRED, note="new",
                report={"reason": "", "isolation": "none", "checks": 40, "failed": []}, submitted=begun + at,
                first_duel=duels * (number - 1) // versions, is_active=number == versions, position=at + 1,
            )
            for at, (name, (team, number)) in enumerate(zip(names, places, strict=True))
        ]  # fmt: skip
        put(connection, store.versions._versions, rows)
        _put_duels(connection, store, names, teams, duels)
        points = [
            RatingPoint(name=name, duels=int(at), time=begun + float(at), elo=0.0, low=-50.0, high=50.0)
            for name, (_, number) in zip(names, places, strict=True)
            for at in np.unique(np.linspace(1, duels / versions, 100, dtype=np.int64)) + (number - 1) * (duels // versions)
        ]
        put(connection, store.ratings._points, points)
        # PostgreSQL does it by itself as rows come, but a minute after so many at once, until when each query reads all rows.
        if url is not None:
            connection.execute(text("ANALYZE"))


def _put_duels(connection: Any, store: ArenaStore, names: Sequence[str], teams: int, duels: int) -> None:
    """Put duels with their two matches into the store, between versions of the same time, whose strengths decide."""
    lots = np.random.default_rng(1)
    strengths = lots.normal(0, 1.2, len(names))
    first_of_epoch = np.sort(lots.integers(0, len(names) // teams, duels)) * teams
    first = lots.integers(0, teams, duels)
    a, b = first_of_epoch + first, first_of_epoch + (first + lots.integers(1, teams, duels)) % teams
    won = lots.random(duels) < 1 / (1 + np.exp(strengths[b] - strengths[a]))
    starts = lots.permutation(duels) % 1000
    for begin in range(0, duels, CHUNK):
        rows, tasks = [], []
        for at in range(begin, min(duels, begin + CHUNK)):
            pair, start = (names[a[at]], names[b[at]]), int(starts[at])
            both = _matches(at, pair, start)
            keys = {"first": both[0].key, "second": both[1].key}
            rows.append(ArenaDuel(number=at, a=pair[0], b=pair[1], start=start, variant=0, points=2 * int(won[at]), **keys))
            tasks += both
        put(connection, store.duels.rows, rows)
        connection.execute(insert(core._tasks), [core._task_row(task) for task in tasks])
        records = [{**core._record_row(pretended(task)), "counts": 1, "ended": begin + at / 2} for at, task in enumerate(tasks)]
        connection.execute(insert(core._records), records)


def _matches(duel: int, pair: tuple[str, str], start: int) -> list[Task]:
    lots = random.Random(duel)
    settings = {"width": 300, "height": 300, "hunter": [0, 0, 1, 1], "prey": [230, 200], "max_steps": 3000}
    lineups = [dict(zip(SEATS, (Entry(name, {}, "0" * 64) for name in order), strict=True)) for order in (pair, pair[::-1])]
    return [Task(f"{lots.getrandbits(128):032x}", lineup, settings, start) for lineup in lineups]


# --- what it costs ---


class Instant(PretendPool):
    """Workers that are done at once. It keeps the seconds until a result was taken in, and until the first match of the next batch came."""

    def __init__(self) -> None:
        super().__init__(2)
        self.taken: list[float] = []
        self.planned: list[tuple[float, float, int]] = []
        self._returned: float | None = None
        self._used = 0.0
        #: The matches since the last batch was planned.
        self._matches = 0

    def submit(self, task: Task) -> None:
        """Begin a match."""
        self._matches += 1
        if not self._running and self._returned is not None:
            used = time.process_time() - self._used
            self.planned.append((time.perf_counter() - self._returned, used, self._matches / 2))
            self._returned, self._matches = None, 0
            self.read_memory()
        super().submit(task)

    def wait(self, seconds: float) -> Sequence[Record]:
        """End the first match."""
        if self._returned is not None:
            self.taken.append(time.perf_counter() - self._returned)
        task = self._running.pop(0)
        finished = [pretended(task)]
        self._returned, self._used = time.perf_counter(), time.process_time()
        return finished


def measure(folder: Path, duels: int) -> dict[str, float]:
    """Measure one process that opens an arena, plays and shows it."""
    begun = time.perf_counter()
    with contextlib.closing(open_arena(folder)) as arena:
        values = {"start": time.perf_counter() - begun}

        def played(count: int) -> Instant:
            pool = Instant()
            arena.plan(count)
            play_batches(arena, pool, ProgressListener())
            return pool

        values["first duels"] = timed(lambda: played(2)) / 1000
        pool = played(duels)
        seconds, used, counts = (statistics.median(each) for each in zip(*pool.planned, strict=True))
        values |= {"batch": 1000 * seconds, "duel": 1000 * seconds / counts, "duel, processor": 1000 * used / counts}
        values["result"] = 1000 * statistics.median(pool.taken)
        views = ArenaViews(arena.store)
        entries = views.standings().entries
        team, other = entries[len(entries) // 2].team, entries[0].team
        shown = {
            "standings": views.standings,
            "team": partial(views.team, team),
            "matches": partial(views.matches, MatchesQuery(team=team)),
            "matches of two teams": partial(views.matches, MatchesQuery(team=team, opponent=other)),
        }
        values |= {name: statistics.median(timed(call) for _ in range(7)) for name, call in shown.items()}
        values["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10)
        values["growth"] = pool.readings[-1] - pool.readings[len(pool.readings) // 4]
        values["command"] = timed(lambda: (arena.standings(), arena.sentence())) / 1000
    return values


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures, one process for each round."""
    with filled(options) as folder:
        rounds = [apart(measure, folder, options.duels) for _ in range(options.rounds)]
    return [Figure(name, unit, [each[key] for each in rounds], None, "value", budget) for key, (name, unit, budget) in FIGURES.items()]


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        rounds=(3, "measurements of each figure; the median counts"),
        duels=(640, "further duels, which are pretended, at least 16; the memory may not grow meanwhile"),
        **STORE,
    )
