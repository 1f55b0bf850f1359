"""The core of many matches: the same sequence of calls whoever plays what when, and after kills at any moment."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from referee import games
from referee.handins.values import Entry
from referee.match.options import MatchOptions
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.plan import MOST_VOIDS, NOT_WANTED, NoStore, PlayStopped, play, playing, settle
from referee.tournament.store import Store
from referee.tournament.values import Record, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from referee.tournament import plan as core

TERMS = terms_hash(games.get("evasion"), "classic", MatchOptions())


def match(task: Task) -> Record:
    """The record of a match: a function of the task alone. A few matches are given up."""
    number = int(hashlib.sha256(task.key.encode()).hexdigest()[:8], 16)
    return Record(task.key, void="no machine can play it") if number % 29 == 0 else Record(task.key, steps=number % 97)


class Call(NamedTuple):
    """A call of ``next``: the records by key and steps, and the keys of what follows."""

    records: tuple[tuple[str, int, str], ...]
    groups: tuple[tuple[str, ...], ...]


class RandomLeague:
    """A plan that asks for random groups, by all records so far: some open at a time, some entries out for good. Keeps its calls."""

    def __init__(self, seed: int) -> None:
        self._lots = random.Random(seed)
        self._entries = [Entry(f"bot {number}", {}, "ab"[number % 2]) for number in range(self._lots.randrange(2, 7))]
        self._left = self._lots.randrange(1, 60)
        self._ahead = self._lots.choice((1, 3, 30))
        self._open = self._number = 0
        self._out: set[str] = set()
        self.calls: list[Call] = []

    def next(self, records: Sequence[Record]) -> list[list[Task]]:
        self._open -= bool(records)
        for record in records:
            self._lots.seed(f"{self._lots.random()} {record.steps} {record.void}")
            if self._lots.random() < 0.02:
                self._out.add(self._lots.choice(self._entries).name)
        groups = []
        while self._left and self._open < self._ahead and (not self._open or self._lots.random() < 0.9):
            groups.append([self._task() for _ in range(self._lots.randrange(1, 4))])
            self._left -= 1
            self._open += 1
        told = tuple((record.key, record.steps, record.void) for record in records)
        self.calls.append(Call(told, tuple(tuple(task.key for task in group) for group in groups)))
        return groups

    def _task(self) -> Task:
        self._number += 1
        hunter, prey = self._lots.sample(self._entries, 2)
        return new_task(TERMS, {"hunter": hunter, "prey": prey}, {"start": self._number % 3}, self._number)

    def wants(self, task: Task) -> bool:
        return self._out.isdisjoint(entry.name for entry in task.seats.values())


class Killed(Exception):
    """The process is gone."""


class RandomPool:
    """Ends matches in a random order. Attempts can be lost, come twice, or kill the process."""

    has_workers = True

    def __init__(self, slots: int, seed: int, *, loses: float = 0.0, kills: float = 0.0) -> None:
        self._slots, self._lots, self._loses, self._kills = slots, random.Random(seed), loses, kills
        self._running: dict[str, Task] = {}
        self._lost = Counter[str]()
        self.played: list[str] = []

    @property
    def room(self) -> int:
        return self._slots - len(self._running)

    def submit(self, task: Task) -> None:
        assert self.room > 0
        assert task.key not in self._running
        self._running[task.key] = task

    def wait(self, seconds: float) -> list[Record]:
        if self._lots.random() < self._kills:
            raise Killed
        ended = self._lots.sample(sorted(self._running), self._lots.randint(0, len(self._running)))
        return [record for key in ended for record in self._records(self._running.pop(key))]

    def _records(self, task: Task) -> list[Record]:
        if self._lots.random() < self._loses and self._lost[task.key] < MOST_VOIDS - 1 and not match(task).void:
            self._lost[task.key] += 1
            return [Record(task.key, void="Its worker was lost.")]
        self.played.append(task.key)
        return [match(task)] * self._lots.choice((1, 1, 1, 2))


def calls(seed: int, pool: core.Pool, store: core.Store | None = None) -> list[Call]:
    """The calls of a league that is played."""
    plan = RandomLeague(seed)
    play(plan, NoStore() if store is None else store, pool)
    return plan.calls


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[] if seed < 20 else [pytest.mark.soak]) for seed in range(150)])
def test_a_plan_is_a_sequential_program(seed: int) -> None:
    """One worker or eight, lost attempts, second results: always the same calls, and the same in a reader that plays nothing."""
    first = calls(seed, RandomPool(1, seed))
    assert sum(len(group) for call in first for group in call.groups) >= sum(len(call.records) for call in first) > 0
    assert calls(seed, RandomPool(8, seed)) == first
    store = Store.in_memory()
    assert calls(seed, RandomPool(3, seed, loses=0.3), store) == first
    reader, again, pool = RandomLeague(seed), RandomLeague(seed), RandomPool(2, seed)
    assert not settle(reader, store).order
    play(again, store, pool)
    assert reader.calls == again.calls == first
    assert pool.played == []


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[] if seed < 5 else [pytest.mark.soak]) for seed in range(40)])
def test_a_plan_goes_on_after_kills(seed: int, tmp_path: Path) -> None:
    first, keys = calls(seed, RandomPool(1, seed)), Counter[str]()
    kills = 0
    while True:
        pool = RandomPool(4, kills, loses=0.2, kills=0.2 if kills < 20 else 0.0)
        with Store.open("league", tmp_path, create=True) as store:
            try:
                last = calls(seed, pool, store)
            except Killed:
                kills += 1
                continue
            finally:
                keys.update(set(pool.played))
            counted = [ended.task.key for ended in store.done()]
            assert len(counted) == len(set(counted)) == store.counts().done
        break
    assert last == first


def test_what_was_stored_is_not_played_again_after_a_kill_between_storing_and_delivering(tmp_path: Path) -> None:
    pool = RandomPool(2, 0)
    with Store.open("league", tmp_path, create=True) as store:
        moments = playing(RandomLeague(3), store, pool)
        while store.counts().done < 5:
            next(moments)
        moments.close()
        done = {ended.task.key for ended in store.done()}
        later = RandomPool(2, 1)
        play(RandomLeague(3), store, later)
        assert done.isdisjoint(later.played)


class Groups:
    """A plan with these groups at the beginning."""

    def __init__(self, groups: Sequence[Sequence[Task]], unwanted: Callable[[int], set[str]] = lambda _: set()) -> None:
        self._groups, self._unwanted, self.records = groups, unwanted, list[list[Record]]()

    def next(self, records: Sequence[Record]) -> Sequence[Sequence[Task]]:
        if records:
            self.records.append([*records])
            return []
        return self._groups

    def wants(self, task: Task) -> bool:
        return task.key not in self._unwanted(len(self.records))


def tasks(count: int) -> list[Task]:
    """So many tasks."""
    entries = {"hunter": Entry("a", {}, "1"), "prey": Entry("b", {}, "2")}
    return [new_task(TERMS, entries, {}, seed) for seed in range(count)]


class ScriptedPool:
    """A pool with room for all tasks, in which attempts end as a list says."""

    has_workers = True

    def __init__(self, *moments: Sequence[Record] | Exception) -> None:
        self._moments, self.room, self.taken = [*moments], 100, list[str]()

    def submit(self, task: Task) -> None:
        self.taken.append(task.key)

    def wait(self, seconds: float) -> Sequence[Record]:
        moment = self._moments.pop(0)
        if isinstance(moment, Exception):
            raise moment
        return moment


def test_a_task_that_is_void_three_times_is_given_up_and_stays_so() -> None:
    [task], void = tasks(1), "The machine is ill."
    store, plan = Store.in_memory(), Groups([[task]])
    pool = ScriptedPool(*[[Record(task.key, void=void)]] * MOST_VOIDS)
    play(plan, store, pool)
    assert [[record.void for record in group] for group in plan.records] == [[void]]
    assert (pool.taken, store.counts()) == ([task.key] * MOST_VOIDS, (1, 1, MOST_VOIDS))
    again = Groups([[task]])
    settle(again, store)
    assert again.records == plan.records
    # Until somebody lets it be played again.
    store.forget([task.key])
    other = Groups([[task]])
    play(other, store, ScriptedPool([match(task)]))
    assert other.records == [[match(task)]]
    assert len(store.others()) == MOST_VOIDS


def test_a_task_that_is_not_wanted_is_void() -> None:
    first, second, third = tasks(3)
    plan = Groups([[first], [second], [third]], lambda count: {second.key} if count else set())
    pool = ScriptedPool([match(third)], [match(first)], [match(second)])
    store = Store.in_memory()
    play(plan, store, pool)
    assert plan.records == [[match(first)], [Record(second.key, void=NOT_WANTED)], [match(third)]]


def test_a_second_result_is_kept_and_named_if_it_differs() -> None:
    [task], store = tasks(1), Store.in_memory()
    plan = Groups([[task]])
    play(plan, store, ScriptedPool([Record(task.key, steps=5, host="a"), Record(task.key, steps=5, host="b"), Record(task.key, steps=6)]))
    assert [record.steps for group in plan.records for record in group] == [5]
    assert [record.steps for record in store.others()] == [5, 6]
    assert [record.steps for record in store.disagreements()] == [6]


def test_a_pool_that_can_play_nothing_stops_play_and_the_next_run_goes_on() -> None:
    first, second = tasks(2)
    store = Store.in_memory()
    with pytest.raises(PlayStopped, match="full"):
        play(Groups([[first, second]]), store, ScriptedPool([match(first)], PlayStopped("The disk is full.")))
    pool, plan = ScriptedPool([match(second)]), Groups([[first, second]])
    play(plan, store, pool)
    assert (pool.taken, plan.records) == ([second.key], [[match(first), match(second)]])


def test_a_plan_that_asks_for_an_open_task_again_is_wrong() -> None:
    [task] = tasks(1)
    with pytest.raises(RuntimeError, match="is open"):
        play(Groups([[task], [task]]), NoStore(), ScriptedPool())


def test_the_key_is_a_hash_of_all_that_decides_the_result() -> None:
    a, b = Entry("a", {}, "1"), Entry("b", {}, "1")
    seats = {"hunter": a, "prey": b}
    game, other = games.get("evasion"), games.get("maze")
    keys = {
        new_task(TERMS, seats, {}, 1).key,
        new_task(TERMS, {"hunter": b, "prey": a}, {}, 1).key,
        new_task(TERMS, {"hunter": a, "prey": Entry("b", {}, "2")}, {}, 1).key,
        new_task(TERMS, {"hunter": a, "prey": Entry("c", {}, "1")}, {}, 1).key,
        new_task(TERMS, seats, {"size": 3}, 1).key,
        new_task(TERMS, seats, {}, 2).key,
        new_task(TERMS, seats, {}, 1, repeat=1).key,
        new_task(TERMS, seats, {}, 1, blamed=("a",)).key,
        new_task(terms_hash(game, "diagonal", MatchOptions()), seats, {}, 1).key,
        new_task(terms_hash(other, "classic", MatchOptions()), seats, {}, 1).key,
        new_task(terms_hash(game, "classic", MatchOptions(isolation="none")), seats, {}, 1).key,
    }
    assert len(keys) == 11
    assert new_task(TERMS, dict(reversed(seats.items())), {}, 1).key in keys
