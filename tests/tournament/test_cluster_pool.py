"""What the coordinator gives to a cluster and takes from it, with a cluster that only pretends."""

from __future__ import annotations

import platform
from collections import Counter
from concurrent import futures
from typing import TYPE_CHECKING, Any

import pytest
from leagues import Notes, PretendPool, open_new, record
from leagues import play as played

from referee.league.playing import LeaguePlay
from referee.match.options import MatchOptions
from referee.replay.paths import SUFFIX
from referee.tournament.cluster import Batch, ClusterPool, League
from referee.tournament.package import pack
from referee.tournament.plan import PlayStopped
from referee.tournament.values import FATAL, Record
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from referee.league.league import OpenLeague
    from referee.tournament.values import Task


class Future(futures.Future[Batch]):
    """A batch on the pretended cluster."""

    def __init__(self, key: str, tasks: Sequence[Task], workers: Sequence[str] | None) -> None:
        super().__init__()
        self.key = key
        self.tasks = tasks
        self.workers = workers

    def end(self, play: Callable[[Task], Record] = played, seconds: float = 0.5) -> None:
        """The worker sends the results."""
        reports = [play(task) for task in self.tasks]
        results = [(report, {SUFFIX: b"replay"} if report.replay else {}) for report in reports]
        self.set_result(Batch("none", seconds * len(self.tasks), results))

    def fail(self) -> None:
        """Its workers die until Dask gives up."""
        self.set_exception(RuntimeError("KilledWorker"))


class Client:
    """A Dask client, and its executor, of a cluster that plays nothing by itself."""

    def __init__(self) -> None:
        self.status = "running"
        self.workers = {"a": 1, "b": 1, "c": 1}
        self.futures: list[Future] = []
        self.plugins: list[str] = []
        self.most = 0

    def get_executor(self, pure: bool) -> Client:
        assert not pure
        return self

    def shutdown(self, wait: bool) -> None:
        """Nothing runs."""

    def wait_for_workers(self, count: int, timeout: float) -> None:
        """They are there."""

    def nthreads(self) -> dict[str, int]:
        return self.workers

    def register_plugin(self, plugin: Any) -> None:
        self.plugins.append(plugin.name)

    def _unregister_worker_plugin(self, name: str) -> None:
        self.plugins.remove(name)

    def sync(self, function: Callable[..., Any], callback_timeout: float, **arguments: Any) -> None:
        function(**arguments)

    def submit(self, function: Any, league: str, tasks: Any, key: str, workers: Any = None, allow_other_workers: bool = False) -> Future:
        assert allow_other_workers == (workers is not None)
        self.futures.append(Future(key, tasks, workers))
        self.most = max(self.most, len(self.pending))
        return self.futures[-1]

    @property
    def pending(self) -> list[Future]:
        return [future for future in self.futures if not future.done()]

    def processing(self) -> dict[str, list[str]]:
        return {"a": [future.key for future in self.pending], "b": [], "c": []}

    def close(self, timeout: float) -> None:
        self.status = "closed"


@pytest.fixture
def league(tmp_path: Path) -> Iterator[OpenLeague]:
    opened = open_new(tmp_path, teams=6)
    yield opened
    opened.close()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """The client that the pool gets from Dask."""
    made = Client()
    monkeypatch.setattr("distributed.Client", lambda *_, **__: made)
    return made


def connect(league: OpenLeague, **options: Any) -> ClusterPool:
    return ClusterPool(league.schedule.terms, league.schedule.teams, league.replays, "tcp://pretended", **options)


def tasks_of(league: OpenLeague) -> list[Task]:
    tasks = [task for duel in league.schedule.duels(()) for task in league.schedule.tasks(duel)]
    return list(tasks)


def submit(pool: ClusterPool, tasks: Sequence[Task]) -> None:
    for task in tasks:
        pool.submit(task)
    assert pool.wait(0.0) == []


@pytest.mark.parametrize("seconds", [0.001, 0.3, 9.0, 60.0])
def test_at_most_two_batches_a_slot_are_under_way(tmp_path: Path, client: Client, seconds: float) -> None:
    opened = open_new(tmp_path, teams=20)
    pool = connect(opened)
    queue = tasks_of(opened)
    done: list[str] = []
    sizes = set()
    while len(done) < 380:
        while queue and pool.room:
            pool.submit(queue.pop())
        assert pool.wait(0.0) == []
        assert len(client.pending) <= 6
        future = client.pending[0]
        sizes.add(len(future.tasks))
        future.end(seconds=seconds)
        done += [ended.key for ended in pool.wait(1.0)]
    assert len(set(done)) == 380
    assert client.most <= 6
    # About 5 s of matches are a batch, as soon as it is known how long they take.
    assert max(sizes) <= {0.001: 200, 0.3: 16, 9.0: 1, 60.0: 1}[seconds]
    assert (max(sizes) > 1) == (seconds < 5)
    opened.close()


def test_the_first_batches_are_short_so_that_results_come_soon(tmp_path: Path, client: Client) -> None:
    opened = open_new(tmp_path, teams=30)
    pool = connect(opened)
    queue = tasks_of(opened)
    sizes: list[int] = []
    while queue or client.pending:
        while queue and pool.room:
            pool.submit(queue.pop())
        pool.wait(0.0)
        future = client.pending[0]
        sizes.append(len(future.tasks))
        future.end(seconds=0.25)
        pool.wait(1.0)
    # At first nobody knows how long a match takes.
    assert sizes[:6] == [1] * 6
    assert 15 <= max(sizes) <= 20
    opened.close()


def test_each_match_of_a_lost_batch_is_void_and_then_alone_so_that_it_condemns_no_innocent_one(league: OpenLeague, client: Client) -> None:
    pool = connect(league)
    tasks = tasks_of(league)
    submit(pool, tasks[:6])
    for future in client.pending:
        future.end(seconds=0.1)
    pool.wait(1.0)
    submit(pool, tasks[6:])
    evil = tasks[8].key
    voids: Counter[str] = Counter()
    done = []
    while client.pending:
        future = client.pending[0]
        if any(task.key == evil for task in future.tasks):
            future.fail()
        else:
            future.end()
        for ended in (*pool.wait(1.0), *pool.wait(0.0)):
            if ended.void:
                assert "No worker could play it: KilledWorker" in ended.void
                voids[ended.key] += 1
                if voids[ended.key] < 3:
                    pool.submit(next(task for task in tasks if task.key == ended.key))
            else:
                done.append(ended.key)
        pool.wait(0.0)
    assert len(voids) > 1
    # Once a batch is lost, each match is one of its own. Only batches that were under way may still be larger.
    assert voids[evil] == 3
    assert all(count == 1 for key, count in voids.items() if key != evil)
    assert sorted([evil, *done]) == sorted(task.key for task in tasks[6:])
    assert client.most <= 6


def test_a_late_batch_is_given_to_another_worker(league: OpenLeague, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.tournament.cluster.LATE_FACTOR", 0.0)
    pool = connect(league)
    pool.late_seconds = 0.0
    tasks = tasks_of(league)
    submit(pool, tasks[:1])
    assert pool.wait(0.0) == []
    first, second = client.futures[:2]
    assert second.tasks == first.tasks
    assert second.workers == ["b", "c"]
    second.end()
    assert [ended.key for ended in pool.wait(1.0)] == [tasks[0].key]
    assert pool.room > 0


@pytest.mark.parametrize("is_tampered", [False, True])
def test_a_result_that_comes_twice_counts_once_and_a_difference_is_kept(league: OpenLeague, is_tampered: bool) -> None:
    class Twice(PretendPool):
        """Brings every result a second time, as two workers do that have played the same match."""

        def wait(self, seconds: float) -> Sequence[Record]:
            return [
                each
                for first in super().wait(seconds)
                for each in (first, record(self.played[-1], 38 if is_tampered else None, host="there"))
            ]

    notes = Notes()
    LeaguePlay(league, Twice(played)).run(notes)
    assert len(notes.finished_keys) == len(set(notes.finished_keys)) == 30
    assert league.view.state().counts._asdict() == {"planned": 0, "done": 30, "stopped": 0, "voids": 0}
    firsts = {stored.task.key: stored.record for stored in league.view.matches()}
    seconds = {second.key: second for second in league.store.disagreements()}
    assert seconds.keys() == (firsts.keys() if is_tampered else set())
    for key, second in seconds.items():
        first = firsts[key]
        assert first is not None
        assert (first.steps == 38, first.host, second.steps, second.host) == (False, "here", 38, "there")


def test_both_replays_of_a_match_that_was_played_twice_are_kept(
    league: OpenLeague, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.tournament.cluster.LATE_FACTOR", 0.0)
    pool = connect(league)
    pool.late_seconds = 0.0
    (task, *_) = tasks_of(league)
    # The batch is late at once, and has a copy from the second wait on at the latest.
    submit(pool, [task])
    pool.wait(0.0)
    for future in client.futures[:2]:
        future.end()
    replays = [ended.replay for _ in range(2) for ended in pool.wait(1.0)]
    assert replays == [f"replays/{task.key[:2]}/{task.key}{end}{SUFFIX}" for end in ("", ".second")]
    assert [(league.folder / replay).read_bytes() for replay in replays] == [b"replay"] * 2


def test_a_lost_connection_stops_the_league(league: OpenLeague, client: Client) -> None:
    pool = connect(league)
    client.status = "connecting"
    with pytest.raises(PlayStopped, match="The connection to the Dask scheduler at tcp://pretended is lost"):
        LeaguePlay(league, pool).run(Notes())
    assert league.view.state().counts.planned == 30


def test_the_slots_follow_the_workers_and_people_learn_that_there_are_none(league: OpenLeague, client: Client) -> None:
    notes: list[str] = []
    pool = connect(league, on_note=notes.append)
    pool.count_seconds = 0.0
    client.workers = {"a": 4, "b": 4}
    pool.wait(0.0)
    assert (pool.slots, pool.has_workers) == (8, True)
    client.workers = {}
    pool.wait(0.0)
    pool.wait(0.0)
    assert (pool.slots, pool.has_workers) == (8, False)
    assert notes == ["The Dask scheduler at tcp://pretended has no workers any more; the league waits for new ones."]


def test_the_same_league_has_the_same_files_and_gives_them_back(league: OpenLeague, client: Client) -> None:
    first = connect(league)
    connect(league)
    assert client.plugins[0] == client.plugins[1]
    first.close()
    assert len(client.plugins) == 1
    assert client.status == "closed"
    first.close()


def test_a_void_names_its_machine(league: OpenLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    void = Record("1", void="The disk is full.", cause=FATAL)
    monkeypatch.setattr("referee.tournament.cluster.LocalPool", lambda *_: PretendPool(lambda _: void))
    there = League(Terms("evasion", options=MatchOptions(isolation="none")), *pack((), "evasion"), tmp_path)
    ((report, files),) = there.play(tasks_of(league)[:1]).results
    assert report == void._replace(void=f"On {platform.node()}: The disk is full.")
    assert files == {}
    there.close()
