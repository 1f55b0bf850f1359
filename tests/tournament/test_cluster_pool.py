"""What the coordinator gives to a cluster and takes from it, with a cluster that only pretends."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from leagues import Notes, PretendPool, open_engine, record
from leagues import play as played

from referee.league.engine import Engine, LeagueStopped
from referee.replay.paths import SUFFIX
from referee.tournament.cluster import ClusterPool
from referee.tournament.cluster_worker import Batch, ClusterHost
from referee.tournament.local import Finished
from referee.tournament.worker import Completed, Void

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from leagues import EngineLeague

    from referee.tournament.values import MatchTask
    from referee.tournament.worker import Report


class Future:
    """A batch on the pretended cluster."""

    def __init__(self, key: str, tasks: Sequence[MatchTask], workers: Sequence[str] | None, loop: asyncio.AbstractEventLoop) -> None:
        self.key = key
        self.tasks = tasks
        self.workers = workers
        self.status = "pending"
        self.outcome: Any = None
        self._callback: Callable[[Any], None] = lambda _: None
        self._loop = loop

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callback = callback

    def end(self, play: Callable[[MatchTask], Report] = played, seconds: float = 0.5) -> None:
        """The worker sends the results."""
        reports = [play(task) for task in self.tasks]
        files = [{SUFFIX: b"replay"} if isinstance(report, Completed) else {} for report in reports]
        self.outcome = Batch(ClusterHost("node", "none"), seconds * len(self.tasks), reports, files)
        self.status = "finished"
        self._callback(self)
        run_until_idle(self._loop)

    def fail(self) -> None:
        """Its workers die until Dask gives up."""
        self.outcome = RuntimeError("KilledWorker")
        self.status = "error"
        self._callback(self)

    def exception(self) -> Any:
        return self.outcome


def run_until_idle(loop: asyncio.AbstractEventLoop) -> None:
    """Let the tasks of a loop end, and the callbacks of the last one run."""
    loop.run_until_complete(asyncio.sleep(0))
    while asyncio.all_tasks(loop):
        loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))


class Client:
    """A Dask client of a cluster that plays nothing by itself. Its event loop runs only when a batch ends."""

    def __init__(self) -> None:
        self.loop = SimpleNamespace(asyncio_loop=asyncio.new_event_loop())
        self.status = "running"
        self.workers = {"a": 1, "b": 1, "c": 1}
        self.futures: list[Future] = []
        self.plugins: list[str] = []
        self.most = 0

    def nthreads(self) -> dict[str, int]:
        return self.workers

    def run(self, function: Callable[..., Any], *arguments: Any, on_error: str) -> dict[str, Any]:
        return {"a": function()} if not arguments else {"a": None}

    def register_plugin(self, plugin: Any) -> None:
        self.plugins.append(plugin.name)

    def _unregister_worker_plugin(self, name: str) -> None:
        self.plugins.remove(name)

    def sync(self, function: Callable[..., Any], callback_timeout: float, **arguments: Any) -> None:
        function(**arguments)

    def submit(self, function: Any, league: str, tasks: Any, key: str, pure: bool, retries: int, **where: Any) -> Future:
        assert (pure, retries) == (False, 0)
        self.futures.append(Future(key, tasks, where.get("workers"), self.loop.asyncio_loop))
        self.most = max(self.most, len(self.pending))
        return self.futures[-1]

    @property
    def pending(self) -> list[Future]:
        return [future for future in self.futures if future.status == "pending"]

    def processing(self) -> dict[str, list[str]]:
        return {"a": [future.key for future in self.pending], "b": [], "c": []}

    async def gather(self, futures: Sequence[Future], *, asynchronous: bool) -> list[Any]:
        assert asynchronous
        return [future.outcome for future in futures]

    def cancel(self, futures: Any, force: bool) -> None:
        """Nothing runs."""

    def close(self, timeout: float) -> None:
        self.status = "closed"


@pytest.fixture
def league(tmp_path: Path) -> Iterator[EngineLeague]:
    opened = open_engine(tmp_path, teams=6)
    yield opened
    opened.close()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The client that the pool gets from Dask."""
    made = Client()
    monkeypatch.setattr("distributed.Client", lambda *_, **__: made)
    yield made
    made.loop.asyncio_loop.close()


def connect(league: EngineLeague, **options: Any) -> ClusterPool:
    return ClusterPool(league.schedule.terms, league.schedule.teams, league.replays, "tcp://pretended", **options)


def tasks_of(league: EngineLeague) -> list[MatchTask]:
    duels = league.schedule.duels(())
    tasks = [task for duel in duels for task in league.schedule.tasks(duel)]
    league.store.put(duels, tasks)
    return tasks


def submit(pool: ClusterPool, tasks: Sequence[MatchTask]) -> None:
    for task in tasks:
        pool.submit(task)
    assert pool.wait(0.0) == []


@pytest.mark.parametrize("seconds", [0.001, 0.3, 9.0, 60.0])
def test_at_most_two_batches_a_slot_are_under_way(tmp_path: Path, client: Client, seconds: float) -> None:
    opened = open_engine(tmp_path, teams=20)
    pool = connect(opened)
    queue = tasks_of(opened)
    done: list[str] = []
    sizes = set()
    while len(done) < 380:
        while queue and pool.room:
            pool.submit(queue.pop())
        assert pool.wait(0.0) == []
        assert len(client.pending) == pool.batches <= 6
        future = client.pending[0]
        sizes.add(len(future.tasks))
        future.end(seconds=seconds)
        done += [finished.task.key for finished in pool.wait(1.0)]
    assert len(set(done)) == 380
    assert client.most <= 6
    # About 20 s of matches are a batch, as soon as it is known how long they take.
    assert max(sizes) == {0.001: max(sizes), 0.3: max(sizes), 9.0: 2, 60.0: 1}[seconds]
    assert max(sizes) <= 200
    opened.close()


def test_the_first_batches_are_short_so_that_results_come_soon(tmp_path: Path, client: Client) -> None:
    opened = open_engine(tmp_path, teams=30)
    pool = connect(opened)
    queue = tasks_of(opened)
    longest: list[tuple[float, float]] = []
    played = 0.0
    while queue or client.pending:
        while queue and pool.room:
            pool.submit(queue.pop())
        pool.wait(0.0)
        future = client.pending[0]
        longest.append((played / pool.slots, 0.25 * len(future.tasks)))
        future.end(seconds=0.25)
        played += 0.25 * len(future.tasks)
        pool.wait(1.0)
    assert longest[0] == (0.0, 0.25)
    # No batch takes longer than a second, or a fifth of the time that was played before it.
    assert all(seconds <= max(1.0, 0.2 * before) for before, seconds in longest)
    assert max(seconds for _, seconds in longest) > 5.0
    opened.close()


def test_a_lost_batch_is_given_out_again_and_condemns_no_innocent_match(league: EngineLeague, client: Client) -> None:
    pool = connect(league)
    tasks = tasks_of(league)
    submit(pool, tasks[:1])
    client.pending[0].end(seconds=1.0)
    pool.wait(1.0)
    submit(pool, tasks[1:19])
    evil = tasks[3].key
    finished: list[Any] = []
    while client.pending:
        future = client.pending[0]
        if any(task.key == evil for task in future.tasks):
            future.fail()
        else:
            future.end()
        finished += pool.wait(1.0)
        finished += pool.wait(0.0)
    voids = [each.report for each in finished if isinstance(each.report, Void)]
    assert [void.key for void in voids] == [evil]
    assert "No worker could play it: KilledWorker" in voids[0].text
    assert sorted(each.task.key for each in finished) == sorted(task.key for task in tasks[1:19])
    assert client.most <= 6


def test_a_late_batch_is_given_to_another_worker(league: EngineLeague, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.tournament.cluster.LATE_FACTOR", 0.0)
    pool = connect(league, late_seconds=0.0)
    tasks = tasks_of(league)
    submit(pool, tasks[:1])
    assert pool.wait(0.0) == []
    first, second = client.futures[:2]
    assert second.tasks == first.tasks
    assert second.workers == ["b", "c"]
    second.end()
    assert [finished.task for finished in pool.wait(1.0)] == tasks[:1]
    assert pool.room > 0


@pytest.mark.parametrize("is_tampered", [False, True])
def test_a_result_that_comes_twice_counts_once_and_a_difference_is_kept(league: EngineLeague, is_tampered: bool) -> None:
    class Twice(PretendPool):
        """Brings every result a second time, as two workers do that have played the same match."""

        def wait(self, seconds: float) -> Sequence[Finished]:
            return [
                each
                for task, report in super().wait(seconds)
                for each in (Finished(task, report), Finished(task, Completed(record(task, 38 if is_tampered else None, host="there"))))
            ]

    notes = Notes()
    Engine(league.store, Twice(played), league.schedule, notes).run()
    assert len(notes.finished_keys) == len(set(notes.finished_keys)) == 30
    assert league.store.counts()._asdict() == {"planned": 0, "done": 30, "stopped": 0, "voids": 0}
    firsts = {stored.task.key: stored.record for stored in league.store.matches()}
    seconds = dict(league.store.disagreements())
    assert seconds.keys() == (firsts.keys() if is_tampered else set())
    for key, second in seconds.items():
        first = firsts[key]
        assert first is not None
        assert (first.steps == 38, first.host, second.steps, second.host) == (False, "here", 38, "there")


def test_both_replays_of_a_match_that_was_played_twice_are_kept(
    league: EngineLeague, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.tournament.cluster.LATE_FACTOR", 0.0)
    pool = connect(league, late_seconds=0.0)
    (task, *_) = tasks_of(league)
    # The batch is late at once, and has a copy from the second wait on at the latest.
    submit(pool, [task])
    pool.wait(0.0)
    assert pool.batches == 1
    for future in client.futures[:2]:
        future.end()
    found = [finished.report for _ in range(2) for finished in pool.wait(1.0)]
    replays = [report.record.replay for report in found if isinstance(report, Completed)]
    assert replays == [f"replays/{task.key[:2]}/{task.key}{end}{SUFFIX}" for end in ("", ".second")]
    assert [(league.folder / replay).read_bytes() for replay in replays] == [b"replay"] * 2


def test_a_second_result_is_compared_and_the_first_one_counts(league: EngineLeague) -> None:
    task, other, *_ = tasks_of(league)
    assert league.store.finish(record(task, 5))
    assert not league.store.finish(record(task, 5, wall_seconds=9.0, host="there", seconds={"hunter": 3.0, "prey": 1.0}))
    assert league.store.disagreements() == []
    assert not league.store.finish(record(task, 6, host="there"))
    assert [(key, second.steps, second.host) for key, second in league.store.disagreements()] == [(task.key, 6, "there")]
    assert league.store.finish(record(other, 6))
    assert next(stored.record.steps for stored in league.store.matches(done=True) if stored.record) == 5


def test_a_lost_connection_stops_the_league(league: EngineLeague, client: Client) -> None:
    pool = connect(league)
    client.status = "connecting"
    with pytest.raises(LeagueStopped, match="The connection to the Dask scheduler at tcp://pretended is lost"):
        Engine(league.store, pool, league.schedule, Notes()).run()
    assert league.store.counts().planned == 30


def test_the_slots_follow_the_workers_and_people_learn_that_there_are_none(
    league: EngineLeague, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    pool = connect(league, on_note=notes.append)
    monkeypatch.setattr("referee.tournament.cluster.COUNT_SECONDS", 0.0)
    client.workers = {"a": 4, "b": 4}
    pool.wait(0.0)
    assert (pool.slots, pool.has_workers) == (8, True)
    client.workers = {}
    pool.wait(0.0)
    pool.wait(0.0)
    assert (pool.slots, pool.has_workers) == (8, False)
    assert notes == ["The Dask scheduler at tcp://pretended has no workers any more; the league waits for new ones."]


def test_the_same_league_has_the_same_files_and_gives_them_back(league: EngineLeague, client: Client) -> None:
    first = connect(league)
    connect(league)
    assert client.plugins[0] == client.plugins[1]
    first.close()
    assert len(client.plugins) == 1
    assert client.status == "closed"
    first.close()


def test_a_void_names_its_machine(league: EngineLeague, client: Client) -> None:
    pool = connect(league)
    submit(pool, tasks_of(league)[:1])
    client.pending[0].end(lambda task: Void(task.key, "The disk is full.", "node", is_fatal=True))
    (finished,) = pool.wait(1.0)
    assert isinstance(finished.report, Void)
    assert finished.report.text == "On node: The disk is full."
