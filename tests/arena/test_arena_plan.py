"""The plan of an arena on the core: the same duels and results with any number of workers, and after kills at any moment."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, begin, write_arena
from leagues import Notes, PretendPool, record

from referee.arena import config
from referee.arena.arena import open_arena
from referee.arena.engine import ArenaEngine
from referee.arena.plan import ArenaDuel, ArenaMatches, ArenaPlan, ScheduleChooser
from referee.handins.values import Entry
from referee.tournament.plan import play, settle
from referee.tournament.store import Store, _meta
from referee.tournament.values import MatchTask, PlannedDuel, Record
from referee.tournament.worker import Completed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.tournament.values import Task
    from referee.tournament.worker import Report

NAMES = ("Ada v1", "Bob v1", "Cy v1", "Broken v1")


class LeastPlayed:
    """Lets those meet who have played least, by the results so far, on the next start."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._played: Counter[str] = Counter()
        self._points: Counter[str] = Counter()
        self._met: Counter[frozenset[str]] = Counter()

    def batch(self, first: int) -> Sequence[PlannedDuel]:
        pairs = sorted(combinations(NAMES, 2), key=lambda pair: (sum(self._played[name] for name in pair), -self._points[pair[0]], pair))
        return [
            PlannedDuel(first + place, 0, pair, self._met[frozenset(pair)])
            for place, pair in enumerate(pairs[: min(3, self._most - first)])
        ]

    def take(self, duel: ArenaDuel) -> None:
        assert duel.points is not None
        self._played.update((duel.a, duel.b))
        self._met[frozenset((duel.a, duel.b))] += 1
        self._points[duel.a] += max(0, duel.points)


class Killed(Exception):
    """The process is gone."""


class RandomPool:
    """Ends matches in a random order, as functions of their tasks; now and then the process is killed."""

    has_workers = True

    def __init__(self, slots: int, seed: int, kills: float = 0.0) -> None:
        self._slots, self._lots, self._kills = slots, random.Random(seed), kills
        self._running: list[Task] = []
        self.played: list[str] = []

    @property
    def room(self) -> int:
        return self._slots - len(self._running)

    def submit(self, task: Task) -> None:
        self._running.append(task)

    def wait(self, seconds: float) -> list[Record]:
        if self._lots.random() < self._kills:
            raise Killed
        self._lots.shuffle(self._running)
        count = self._lots.randint(0, len(self._running))
        ended, self._running = self._running[:count], self._running[count:]
        self.played += [task.key for task in ended]
        return [match(task) for task in ended]

    def cancel(self, key: str) -> None:
        self._running = [task for task in self._running if task.key != key]


def match(task: Task) -> Record:
    """The record of a match: a function of the task alone. One version never starts, and a few matches are given up."""
    number = int(hashlib.sha256(task.key.encode()).hexdigest()[:8], 16)
    faults = {seat: "It can't start." for seat, name in task.names.items() if name.startswith("Broken")}
    if faults:
        return Record(task.key, faults=faults, started=False)
    if number % 13 == 0:
        return Record(task.key, void="no machine can play it")
    return Record(task.key, "hunter", "caught", "", {"hunter": float(number % 30), "prey": None}, number % 30)


@pytest.fixture
def matches(tmp_path: Path) -> ArenaMatches:
    loaded = config.load(write_arena(tmp_path / "arena"), 7)
    return ArenaMatches(loaded, {name: Entry(name, {}, name[0]) for name in NAMES})


def core_store(arena: OpenArena) -> Store:
    """The core's tables in the database of an arena."""
    arena.store.database.create(_meta)
    return Store(arena.store.database)


def rows(store: Store) -> list[ArenaDuel]:
    return store.table(ArenaDuel, "arena_duels", [["points"]]).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_duels_are_the_same_with_any_number_of_workers_and_after_kills(seed: int, matches: ArenaMatches, tmp_path: Path) -> None:
    store = Store.in_memory()
    plan = ArenaPlan(matches, store, LeastPlayed(30))
    play(plan, store, RandomPool(1, seed))
    first = rows(store)
    assert [duel.number for duel in first] == list(range(30))
    assert None not in {duel.points for duel in first}
    assert plan.forfeits == {"Broken v1"}

    played: Counter[str] = Counter()
    kills = 0
    while True:
        pool = RandomPool(4, 100 * seed + kills, 0.3 if kills < 10 else 0.0)
        with Store.open("arena", tmp_path, create=True) as killed:
            try:
                play(ArenaPlan(matches, killed, LeastPlayed(30)), killed, pool)
            except Killed:
                kills += 1
                continue
            finally:
                played.update(set(pool.played))
            assert rows(killed) == first
            assert [ended.task.key for ended in killed.done()] == list(dict.fromkeys(ended.task.key for ended in killed.done()))
            # An arena that is over asks for nothing more.
            assert not settle(ArenaPlan(matches, killed, LeastPlayed(30)), killed).order
        break
    assert kills > 0


def by_seed(seats: Mapping[str, str], seed: int) -> int:
    """The steps of a match, by its seats and its start."""
    return int(hashlib.sha256(f"{sorted(seats.items())} {seed}".encode()).hexdigest()[:8], 16) % 30


def pretended(task: MatchTask) -> Report:
    """The report of a worker that pretends to play."""
    steps = by_seed(task.seats, task.seed)
    return Completed(record(task, steps))


class SeededPool(RandomPool):
    """Ends the same matches as ``pretended``."""

    def wait(self, seconds: float) -> list[Record]:
        tasks = {task.key: task for task in self._running}
        return [
            record(MatchTask(found.key, 0, 0, task.names, task.settings, task.seed), by_seed(task.names, task.seed))
            for found in super().wait(seconds)
            for task in [tasks[found.key]]
        ]


def test_the_core_plays_the_duels_that_the_engine_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matchmaking chooses the same duels, so its figure is the same; also when play is killed again and again."""
    accept_all(monkeypatch)
    for name in ("engine", "core"):
        with contextlib.closing(begin(tmp_path / name, 3)) as arena:
            for text in ("one", "two", "three"):
                add(arena, text)
    with contextlib.closing(open_arena(tmp_path / "engine")) as arena:
        ArenaEngine(arena.store, PretendPool(pretended), arena.plan(60), Notes()).run()
        wanted = [tuple(row) for some in arena.store.ratings.outcomes(0) for row in some]
    kills = 0
    while True:
        with contextlib.closing(open_arena(tmp_path / "core")) as arena:
            left = 60 - len(rows(core_store(arena)))
            entries = {team.name: team for team in arena.schedule.teams.values()}
            plan = ArenaPlan(ArenaMatches(arena.config, entries), core_store(arena), ScheduleChooser(arena.plan(left)))
            try:
                play(plan, core_store(arena), SeededPool(3, kills, 0.1 if kills < 6 else 0.0))
            except Killed:
                kills += 1
                continue
            found = [tuple(row) for some in arena.store.ratings.outcomes(0) for row in some]
        break
    assert kills > 0
    assert [row[:5] for row in found] == [row[:5] for row in wanted]
    assert found == wanted


def test_who_can_not_start_loses_its_duels_and_those_of_the_others_go_on(matches: ArenaMatches) -> None:
    store = Store.in_memory()
    play(ArenaPlan(matches, store, LeastPlayed(24)), store, RandomPool(2, 1))
    broken = [duel for duel in rows(store) if "Broken v1" in (duel.a, duel.b)]
    assert {duel.absent for duel in broken} == {2 if duel.b == "Broken v1" else 1 for duel in broken}
    assert {duel.points for duel in broken} == {2}
    others = [duel for duel in rows(store) if duel not in broken]
    assert {duel.absent for duel in others} == {0}
    # A duel whose match was given up counts for nobody.
    assert {duel.points for duel in others} >= {-1, 0, 2}
    assert all(len(duel.keys) == 2 for duel in rows(store))
