"""What an arena costs at size: its start, the next duel, a result that is taken in, standings, a team's page, the most memory.

python benchmarks/arena_scale.py [--rounds 3] [--teams 200] [--versions 10] [--matches 1000000] [--url postgresql://...] [--store DIR] [--json]

A script fills the store: each team has so many versions, and the duels are those of a season in which all teams hand in a new version at the
same times. Workers that only pretend to play then take further batches: with ``--duels 144000`` a day's, of two slots and matches of 0.6 s.
``--store`` keeps the folder, and takes it if it is there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, child, number, run
from league import PretendPool, pretended
from sqlalchemy import insert, text

from referee.arena.arena import OpenArena, new, open_arena
from referee.arena.duels import ArenaDuel
from referee.arena.player import play_batches
from referee.arena.ratings import RatingPoint
from referee.arena.store import ArenaStore
from referee.arena.versions import ACTIVE, RETIRED, Program, Version, version_name
from referee.handins.values import Entry
from referee.tournament.progress import ProgressListener
from referee.arena.api_models import MatchesQuery
from referee.arena.views import ArenaViews
from referee.tournament import store as core
from referee.tournament.local import Finished
from referee.tournament.values import Task
from referee.tournament.worker import Completed

#: The budgets: seconds of a start, milliseconds of a duel or a result, of a view and of the command, MiB of memory and of its growth.
START, DUEL, VIEW, COMMAND, MEMORY, GROWTH = 10.0, 20.0, 20.0, 30.0, 400.0, 20.0
#: The matches that are pretended, in duels: the memory may not grow meanwhile.
DUELS = 640
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
#: So many rows go into the store at once.
CHUNK = 20_000


def fill(folder: Path, url: str | None, teams: int, versions: int, matches: int) -> None:
    """Begin an arena and fill its store."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arena.toml").write_text(ARENA)
    (folder / "reference.py").write_text(IDLE)
    with contextlib.closing(new(folder, None, None, url)) as opened:
        # All versions are the reference's program, so that real matches can be played as well.
        (program,) = opened.entries.values()
    store = ArenaStore.open(folder, url)
    lots = np.random.default_rng(1)
    count, begun = teams * versions, time.time() - 1e6
    names = [version_name(f"team {team:03}", number) for number in range(1, versions + 1) for team in range(teams)]
    strengths = lots.normal(0, 1.2, count)
    duels = matches // 2
    with store.core.step() as connection:
        files = {seat: dict(hashes) for seat, hashes in program.files.items()}
        programs = [
            Program(name=name, hash=f"{at:064}", players=dict(program.players), home=[program.home], files=files)
            for at, name in enumerate(names, 1)
        ]
        put(connection, store.versions._programs, programs)
        put(connection, store.versions._versions, [_version(name, at, teams, versions, begun, duels) for at, name in enumerate(names)])
        epochs = np.sort(lots.integers(0, versions, duels))
        first_team = lots.integers(0, teams, duels)
        second_team = (first_team + lots.integers(1, teams, duels)) % teams
        a, b = epochs * teams + first_team, epochs * teams + second_team
        won = lots.random(duels) < 1 / (1 + np.exp(strengths[b] - strengths[a]))
        starts = lots.permutation(duels) % 1000
        for first in range(0, duels, CHUNK):
            some = range(first, min(duels, first + CHUNK))
            matches = [_matches(at, (names[a[at]], names[b[at]]), int(starts[at])) for at in some]
            put(
                connection,
                store.duels.rows,
                [_duel(at, each, int(starts[at]), int(won[at])) for at, each in zip(some, matches, strict=True)],
            )
            tasks = [task for each in matches for task in each]
            insert_rows(connection, core._tasks, [core._task_row(task) for task in tasks])
            insert_rows(connection, core._records, [_record(task, some[0] + at / 2) for at, task in enumerate(tasks)])
        points = [
            RatingPoint(name=name, duels=int(at), time=begun + float(at), elo=0.0, low=-50.0, high=50.0)
            for place, name in enumerate(names)
            for at in np.unique(np.linspace(1, duels / versions, 100, dtype=np.int64)) + place // teams * (duels // versions)
        ]
        put(connection, store.ratings._points, points)
        # PostgreSQL does it by itself as rows come, but a minute after so many at once, until when each query reads all rows.
        if url is not None:
            connection.execute(text("ANALYZE"))
    store.close()


def put(connection: Any, table: Any, rows: list[Any]) -> None:
    """Insert rows of a model, many at once."""
    insert_rows(connection, table.sql, [table._row(row) for row in rows])


def insert_rows(connection: Any, table: Any, rows: list[dict[str, Any]]) -> None:
    """Insert rows, many at once."""
    for first in range(0, len(rows), CHUNK):
        connection.execute(insert(table), rows[first : first + CHUNK])


def _version(name: str, at: int, teams: int, versions: int, begun: float, duels: int) -> Version:
    number = at // teams + 1
    return Version(
        name=name, team=f"team {at % teams:03}", number=number, hash=f"{at:064}", state=ACTIVE if number == versions else RETIRED, note="new",
        report={"reason": "", "isolation": "none", "checks": 40, "failed": []}, submitted=begun + at,
        first_duel=duels * (number - 1) // versions, is_active=number == versions, position=at + 1,
    )  # fmt: skip


def _duel(at: int, tasks: list[Task], start: int, won: int) -> ArenaDuel:
    a, b = tasks[0].names.values()
    return ArenaDuel(number=at, a=a, b=b, start=start, variant=0, first=tasks[0].key, second=tasks[1].key, points=2 * won)


def _matches(at: int, pair: tuple[str, str], start: int) -> list[Task]:
    lots = random.Random(at)
    settings = {"width": 300, "height": 300, "hunter": [0, 0, 1, 1], "prey": [230, 200], "max_steps": 3000}
    lineups = [dict(zip(("hunter", "prey"), (Entry(name, {}, "0" * 64) for name in order), strict=True)) for order in (pair, pair[::-1])]
    return [Task(f"{lots.getrandbits(128):032x}", lineup, settings, start) for lineup in lineups]


def _record(task: Task, ended: float) -> dict[str, Any]:
    record = pretended(task)
    return {**core._record_row(record._replace(host="here", wall_seconds=0.6)), "counts": 1, "ended": ended}


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

    def wait(self, seconds: float) -> Sequence[Finished]:
        """End the first match."""
        if self._returned is not None:
            self.taken.append(time.perf_counter() - self._returned)
        task = self._running.pop(0)
        found = [Finished(task, Completed(pretended(task)))]
        self._returned, self._used = time.perf_counter(), time.process_time()
        return found


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of a call."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def measure(folder: Path, duels: int) -> dict[str, float]:
    """Measure one process that opens an arena, plays and shows it."""
    found: dict[str, float] = {}
    opened: list[OpenArena] = []
    found["start"] = timed(lambda: opened.append(open_arena(folder))) / 1000
    arena = opened[0]
    pool = Instant()
    begun = time.perf_counter()
    arena.plan(2)
    play_batches(arena, pool, ProgressListener())
    found["first duels"] = time.perf_counter() - begun
    pool = Instant()
    arena.plan(duels)
    play_batches(arena, pool, ProgressListener())
    found["result"] = 1000 * statistics.median(pool.taken)
    seconds, used, counts = (statistics.median(each) for each in zip(*pool.planned, strict=True))
    found["batch"] = 1000 * seconds
    found["duel"], found["duel, processor"] = 1000 * seconds / counts, 1000 * used / counts
    views = ArenaViews(arena.store)
    entries = views.standings().entries
    team = entries[len(entries) // 2].team
    other = entries[0].team
    shown: dict[str, Callable[[], object]] = {
        "standings": views.standings,
        "team": lambda: views.team(team),
        "matches": lambda: views.matches(MatchesQuery(team=team)),
        "matches of two teams": lambda: views.matches(MatchesQuery(team=team, opponent=other)),
    }
    for name, call in shown.items():
        found[name] = statistics.median(timed(call) for _ in range(7))
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10)
    found["growth"] = (pool.readings[-1] - pool.readings[len(pool.readings) // 4]) / (1 << 20)
    found["command"] = timed(lambda: (arena.standings(), arena.sentence())) / 1000
    arena.close()
    return found


FIGURES = {
    "start": ("start", "s", START),
    "first duels": ("first duels after it", "s", None),
    "duel": ("next duel", "ms", DUEL),
    "duel, processor": ("next duel, processor time", "ms", DUEL),
    "batch": ("next batch of duels", "ms", None),
    "result": ("result taken in", "ms", DUEL),
    "standings": ("view: standings", "ms", VIEW),
    "team": ("view: a team", "ms", VIEW),
    "matches": ("view: matches of a team", "ms", VIEW),
    "matches of two teams": ("view: matches of two teams", "ms", VIEW),
    "memory": ("memory", "MiB", MEMORY),
    "growth": ("growth of the memory", "MiB", GROWTH),
    "command": ("arena standings, intervals of now", "s", COMMAND),
}


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures, one process for each round."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "arena" if options.store is None else options.store
        if not (folder / "arena.toml").exists():
            begun = time.perf_counter()
            fill(folder, options.url, options.teams, options.versions, options.matches)
            print(f"filled in {time.perf_counter() - begun:,.0f} s", file=sys.stderr, flush=True)
        words = [sys.executable, __file__, "--measure", str(folder.resolve()), str(options.duels)]
        rounds = [json.loads(child(words)) for _ in range(options.rounds)]
    return [Figure(told, unit, [one[key] for one in rounds], None, "value", budget) for key, (told, unit, budget) in FIGURES.items()]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--teams", type=number(2), default=200, help="teams")
    parser.add_argument("--versions", type=number(1), default=10, help="versions of each team")
    parser.add_argument("--matches", type=number(2), default=1_000_000, help="matches in the store")
    parser.add_argument("--duels", type=number(16), default=DUELS, help="further duels, which are pretended")
    parser.add_argument("--url", metavar="URL", help="the address of an empty PostgreSQL database; SQLite without it")
    parser.add_argument("--store", type=Path, metavar="DIR", help="keep the arena's folder, and take it if it is there")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        run(__doc__, everything, add, rounds=3)
