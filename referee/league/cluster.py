"""Workers on many machines: Dask carries matches to them and results back. The store stays the truth.

Each Dask worker plays in a process of its own below it, proves its own sandbox, and sends back results with their replays. Only the
coordinator writes. At most twice as many batches are under way as there are slots, so the scheduler's memory doesn't grow with the league.
"""

from __future__ import annotations

import importlib
import os
import platform
import queue
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.league.local import Finished, LocalPool
from referee.league.package import Package, pack, unpack
from referee.league.values import Team
from referee.league.worker import Played, Report, Terms, Void, replay_path, speed_score
from referee.support.files import write_whole
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.league.values import MatchTask

#: A batch is as many matches as take about so long, in seconds, and at most so many.
_BATCH_SECONDS, _MOST_IN_BATCH = 20.0, 200
#: A batch that has not come back after so many times its expected duration, and at least so many seconds, is given out again.
_LATE_FACTOR, _LATE_SECONDS = 5.0, 120.0
#: A batch that so many workers have died with is played match by match; a match that so many have died with is void.
_MOST_DEATHS = 3
_CONNECT_SECONDS = 20.0


class Host(NamedTuple):
    """A machine that plays: its name, its speed (see ``speed_score``) and the isolation level that its sandbox has proved."""

    name: str
    score: float
    level: str


class _Batch(NamedTuple):
    number: int
    tasks: tuple[MatchTask, ...]
    deaths: int
    begun: float


class ClusterPool:
    """Plays matches on the workers of a Dask scheduler.

    ``address`` is that of a scheduler, or ``local:N`` for N worker processes on this machine. ``on_host`` is told of each machine when
    its first results come. Raises UsageError if there is no scheduler, if it has no workers, or if a worker's referee is another version.
    """

    def __init__(
        self,
        terms: Terms,
        teams: Mapping[str, Team],
        folder: Path,
        address: str,
        *,
        tls: Mapping[str, str] | None = None,
        on_host: Callable[[Host], None] = lambda _: None,
        late_seconds: float = _LATE_SECONDS,
    ) -> None:
        self._folder = folder
        self._on_host = on_host
        self._late_seconds = late_seconds
        self._cluster: Any = None
        self._client = self._connect(address, tls or {})
        self._hosts: set[str] = set()
        self._waiting: list[MatchTask] = []
        self._batches: dict[int, tuple[_Batch, Any]] = {}
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._open: dict[str, MatchTask] = {}
        self._count = 0
        self._mean = 1.0
        try:
            self.slots = self._find_slots()
            self._send_files(terms, teams)
        except BaseException:
            self.close()
            raise

    def _connect(self, address: str, tls: Mapping[str, str]) -> Any:
        try:
            # It has no types.
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise UsageError("--cluster needs Dask: install the referee with its extra cluster, pip install '.[cluster]'") from None
        try:
            security = distributed.Security(require_encryption=True, **tls) if tls else None
            kind, _, count = address.partition(":")
            if kind == "local":
                if not count.isdecimal() or not 1 <= int(count) <= 1024:
                    raise UsageError(f"--cluster is {escape(address, 80)}, but after local: there must be a number from 1 to 1,024.")
                self._cluster = distributed.LocalCluster(n_workers=int(count), threads_per_worker=1, processes=True, dashboard_address=None)
                return distributed.Client(self._cluster)
            return distributed.Client(address, security=security, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            why = escape(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
            raise UsageError(
                f"There is no Dask scheduler at {escape(address, 80)} ({why}). Start one: dask scheduler; its workers: dask worker ADDRESS"
            ) from None

    def _find_slots(self) -> int:
        deadline = time.monotonic() + _CONNECT_SECONDS
        while not (workers := self._client.scheduler_info(n_workers=-1)["workers"]):
            if time.monotonic() > deadline:
                raise UsageError("The Dask scheduler has no workers. Start some: dask worker ADDRESS --nthreads 1 --nworkers 4")
            time.sleep(0.2)
        return sum(worker["nthreads"] for worker in workers.values())

    def _send_files(self, terms: Terms, teams: Mapping[str, Team]) -> None:
        """Send every team's files to every worker once; workers that join later get them, too."""
        from referee.version import __version__

        self._key = f"{os.getpid()}-{time.time_ns()}"
        packages = [pack(team) for team in teams.values()]
        found = self._client.run(_check_worker, on_error="return")
        for worker, version in found.items():
            if version != __version__:
                told = f"has version {version}" if isinstance(version, str) else f"can't play: {escape(str(version), 200)}"
                raise UsageError(
                    f"The worker {escape(worker, 80)} {told}; the coordinator has version {__version__}. Install the same on all."
                )
        self._client.register_plugin(_setup_plugin(self._key, terms, packages))

    @property
    def room(self) -> int:
        """How many more matches it takes."""
        return max(0, 2 * self.slots * self._batch_size() - len(self._open))

    def _batch_size(self) -> int:
        return max(1, min(_MOST_IN_BATCH, int(_BATCH_SECONDS / self._mean)))

    def submit(self, task: MatchTask) -> None:
        """Take a match; it goes out with the next batch."""
        self._open[task.key] = task
        self._waiting.append(task)
        if len(self._waiting) >= self._batch_size():
            self._flush()

    def _flush(self) -> None:
        """Send what waits, in batches that keep all slots busy."""
        while self._waiting:
            size = max(1, min(self._batch_size(), -(-len(self._waiting) // self.slots)))
            tasks, self._waiting = self._waiting[:size], self._waiting[size:]
            self._send(tasks, 0)

    def _send(self, tasks: Sequence[MatchTask], deaths: int) -> None:
        self._count += 1
        number = self._count
        # A task may be played twice, as when a worker that seemed lost comes back: so nothing may depend on its key.
        future = self._client.submit(_play_batch, self._key, list(tasks), pure=False, retries=0, key=f"matches-{self._key}-{number}")
        self._batches[number] = (_Batch(number, tuple(tasks), deaths, time.monotonic()), future)
        future.add_done_callback(lambda done: self._done.put((number, done)))

    def wait(self, seconds: float) -> list[Finished]:
        """Wait for a batch."""
        self._flush()
        self._send_late_again()
        try:
            number, future = self._done.get(timeout=seconds)
        except queue.Empty:
            return []
        found = self._batches.pop(number, None)
        if found is None:
            return []
        batch = found[0]
        if future.status == "finished":
            host, seconds_used, reports, replays = future.result()
            return self._take(batch, host, seconds_used, reports, replays)
        if future.status == "cancelled":
            return self._lost(batch, "it was cancelled")
        return self._lost(batch, escape(str(future.exception()), 200))

    def _take(self, batch: _Batch, host: Host, seconds: float, reports: Sequence[Report], replays: Mapping[str, bytes]) -> list[Finished]:
        """Keep the replays of a batch, and give its results to the engine."""
        if host.name not in self._hosts:
            self._hosts.add(host.name)
            self._on_host(host)
        self._mean = max(0.01, seconds / len(batch.tasks))
        finished = []
        for task, report in zip(batch.tasks, reports, strict=True):
            if isinstance(report, Played) and task.key in replays and task.key in self._open:
                path = replay_path(self._folder, task.key)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, replays[task.key])
            self._open.pop(task.key, None)
            finished.append(Finished(task, report))
        return finished

    def _lost(self, batch: _Batch, why: str) -> list[Finished]:
        """Give the matches of a lost batch out again: its worker died, which no match need have caused."""
        if batch.deaths + 1 < _MOST_DEATHS:
            self._send(batch.tasks, batch.deaths + 1)
            return []
        if len(batch.tasks) > 1:
            for task in batch.tasks:
                self._send([task], 0)
            return []
        task = batch.tasks[0]
        self._open.pop(task.key, None)
        return [Finished(task, Void(task.key, f"The workers that played it have died: {why}", ""))]

    def _send_late_again(self) -> None:
        """Give out again what a worker that hangs has kept for long; whichever result comes first counts."""
        now = time.monotonic()
        for number, (batch, future) in list(self._batches.items()):
            patience = max(self._late_seconds, _LATE_FACTOR * self._mean * len(batch.tasks)) * 2**batch.deaths
            if now - batch.begun > patience and any(task.key in self._open for task in batch.tasks):
                self._batches[number] = (batch._replace(begun=float("inf")), future)
                self._send(batch.tasks, batch.deaths + 1)

    def close(self) -> None:
        """Give back what the scheduler keeps for this league."""
        try:
            if self._client is not None:
                for _, future in self._batches.values():
                    future.cancel(force=True)
                self._client.close(timeout=5)
        finally:
            if self._cluster is not None:
                self._cluster.close(timeout=5)


# What follows runs in the Dask workers.

_setups: dict[str, tuple[Terms, dict[str, Team], Path]] = {}
_pools = threading.local()
_host: list[Host] = []
_host_lock = threading.Lock()


def _check_worker() -> str:
    from referee.version import __version__

    return __version__


def _setup_plugin(key: str, terms: Terms, packages: Sequence[Package]) -> Any:
    from distributed import WorkerPlugin

    class TeamFiles(WorkerPlugin):
        """Unpacks the teams' files on a worker."""

        name = f"referee-{key}"

        def setup(self, worker: Any) -> None:
            keep_setup(key, terms, packages, Path(worker.local_directory))

        def teardown(self, worker: Any) -> None:
            _setups.pop(key, None)

    return TeamFiles()


def keep_setup(key: str, terms: Terms, packages: Sequence[Package], folder: Path) -> None:
    """Unpack the teams' files on this worker."""
    teams = {}
    for package in packages:
        home = unpack(package, folder / "referee-teams")
        teams[package.name] = Team(package.name, package.players, package.hash, str(home))
    _setups[key] = (terms, teams, folder)


def _play_batch(key: str, tasks: Sequence[MatchTask]) -> tuple[Host, float, list[Report], dict[str, bytes]]:
    """Play some matches on a Dask worker: in a process of its own, since a match needs the main thread and the children of a process."""
    begun = time.monotonic()
    pool, folder = _own_pool(key)
    reports: dict[str, Report] = {}
    replays = {}
    for task in tasks:
        pool.submit(task)
        while not (ended := pool.wait(1.0)):
            pass
        report = ended[0].report
        reports[task.key] = report
        if isinstance(report, Played):
            path = folder / report.record.replay
            replays[task.key] = path.read_bytes()
            path.unlink()
    return _this_host(_setups[key][0]), time.monotonic() - begun, [reports[task.key] for task in tasks], replays


def _own_pool(key: str) -> tuple[LocalPool, Path]:
    """The worker process of this thread, with its folder."""
    if getattr(_pools, "key", None) != key:
        if getattr(_pools, "pool", None) is not None:
            _pools.pool.close()
        terms, teams, folder = _setups[key]
        _pools.folder = Path(tempfile.mkdtemp(prefix="referee-matches-", dir=folder))
        _pools.pool = LocalPool(terms, teams, _pools.folder / "replays", 1)
        _pools.key = key
    return _pools.pool, _pools.folder


def _this_host(terms: Terms) -> Host:
    with _host_lock:
        if not _host:
            from referee.isolation.choose import choose

            _host.append(Host(platform.node(), speed_score(), choose(terms.isolation, terms.limits).level))
        return _host[0]
