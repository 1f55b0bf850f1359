"""Workers on many machines: Dask sends matches to them and results back. Only the store decides which matches are done.

Each Dask worker tests its own sandbox, plays in processes below it, and sends back results with their replays. Only the coordinator writes.
At most two batches for each slot are under way, so the scheduler's memory doesn't grow with the league. Dask gives the batch of a lost
worker to another one. When it gives up, the matches of the batch are void, and from then on each match is a batch of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import pickle
import platform
import shutil
import signal
import tempfile
import time
from collections import deque
from concurrent import futures
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.isolation.launcher import open_launcher
from referee.replay.paths import SUFFIX
from referee.support.files import write_whole
from referee.support.packages import need_cluster
from referee.support.signals import blocked_signals
from referee.tournament.local import LocalPool, without_files, worker_ended
from referee.tournament.package import pack, unpack
from referee.tournament.plan import PlayStopped
from referee.tournament.worker import Terms, replay_path
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from referee.handins.values import Entry
    from referee.tournament.values import Record, Task

#: The most matches in a batch, and the seconds that closing may take.
_MOST_IN_BATCH, _CLOSE_SECONDS = 200, 5.0
#: A batch that has not come back after this multiple of its expected duration is late.
LATE_FACTOR = 5.0


class Batch(NamedTuple):
    """The results of a batch in the order of its matches, with their files by the suffix of the name, and the machine's level."""

    level: str
    seconds: float
    results: Sequence[tuple[Record, Mapping[str, bytes]]]


class _Sent(NamedTuple):
    """A batch under way: its key in Dask, and the time from which it is late. ``has_copy``: it was late and was sent again."""

    tasks: Sequence[Task]
    key: str
    patience: float
    deadline: float
    has_copy: bool = False


class ClusterPool:
    """Plays matches on the workers of a Dask scheduler. Implements ``plan.Pool``.

    ``address`` is that of a scheduler, or ``local:N`` for N worker processes on this machine. ``on_level`` is called with each level
    of isolation, ``on_note`` with sentences for people.
    Raises UsageError if there is no scheduler, if it has no workers, or if a worker can't play.
    """

    #: Seconds: the duration of a batch, the time after which it can be late, for connecting, and between two counts of the workers.
    batch_seconds, late_seconds, connect_seconds, count_seconds = 5.0, 120.0, 20.0, 1.0

    def __init__(
        self,
        terms: Terms,
        teams: Mapping[str, Entry],
        folder: Path,
        address: str,
        *,
        on_level: Callable[[str], None] = lambda _: None,
        on_note: Callable[[str], None] = lambda _: None,
    ) -> None:
        packed = pack(teams.values(), terms.game)
        self._terms, self._folder, self._address = terms, folder, address
        self._on_level, self._on_note = on_level, on_note
        self._levels: set[str] = set()
        self._waiting: deque[Task] = deque()
        self._sent: dict[futures.Future[Batch], _Sent] = {}
        #: The matches without a result.
        self._open: set[str] = set()
        # Before the first result, a batch is one match.
        self._played, self._played_seconds = 1, self.batch_seconds
        self.has_workers = True
        # A coordinator that continues after a kill has the same name, so workers keep the files of the league once.
        self._name = f"referee-{platform.node()}-{folder.resolve()}"
        self._cluster, self._client = _connect(address, self.connect_seconds)
        self._executor = self._client.get_executor(pure=False)
        try:
            deadline = time.monotonic() + self.connect_seconds
            while not (workers := self._client.nthreads()):
                if time.monotonic() > deadline:
                    start = "dask worker ADDRESS --nthreads 1 --nworkers 4"
                    raise UsageError(f"The Dask scheduler at {address} has no workers. Start some: {start}")
                time.sleep(0.2)
            self._count_slots()
            self._client.register_plugin(_league_plugin(self._name, (terms, *packed), workers.keys()))
        except BaseException as error:
            self.close()
            if isinstance(error, ImportError | OSError | RuntimeError):
                raise UsageError(f"{error!s:.1000}") from None
            raise

    @property
    def room(self) -> int:
        """How many more matches it takes."""
        return max(0, self._free * self._batch_size - len(self._waiting))

    @property
    def _free(self) -> int:
        """Return how many more batches should be under way. A late batch and its copy count once."""
        return 2 * self.slots - sum(not sent.has_copy for sent in self._sent.values())

    @property
    def _batch_size(self) -> int:
        return max(1, min(_MOST_IN_BATCH, int(self.batch_seconds * self._played / self._played_seconds)))

    def submit(self, task: Task) -> None:
        """Take a match; it is sent in a batch when a slot needs one."""
        self._open.add(task.key)
        self._waiting.append(without_files(task))

    def wait(self, seconds: float) -> list[Record]:
        """Wait for batches. PlayStopped if the connection to the scheduler is lost, and all batches with it."""
        if self._client.status == "running":
            if time.monotonic() > self._counted + self.count_seconds:
                self._count_slots()
            self._give_out()
            self._copy_late()
            ended = futures.wait(self._sent, seconds, futures.FIRST_COMPLETED).done
        if self._client.status != "running":
            raise PlayStopped(f"The connection to the Dask scheduler at {self._address} is lost.")
        return [record for future in ended for record in self._results(self._sent.pop(future), future)]

    def _count_slots(self) -> None:
        """Count the workers again: some may have joined or left."""
        self._counted = time.monotonic()
        slots: int = sum(self._client.nthreads().values())
        if slots:
            self.slots = slots
        elif self.has_workers:
            self._on_note(f"The Dask scheduler at {self._address} has no workers any more; the league waits for new ones.")
        self.has_workers = slots > 0

    def _give_out(self) -> None:
        """Send waiting matches, in batches that keep all slots busy."""
        while self._waiting and (free := self._free) > 0:
            size = min(self._batch_size, -(-len(self._waiting) // free))
            tasks = [self._waiting.popleft() for _ in range(size)]
            self._send(tasks, max(self.late_seconds, LATE_FACTOR * len(tasks) * self._played_seconds / self._played))

    def _copy_late(self) -> None:
        """Send the late batches of hanging workers again; the first result counts."""
        for future, sent in [*self._sent.items()]:
            if sent.has_copy or time.monotonic() < sent.deadline:
                continue
            self._sent[future] = sent._replace(has_copy=True)
            others = [worker for worker, keys in self._client.processing().items() if sent.key not in keys]
            if tasks := [task for task in sent.tasks if task.key in self._open]:
                self._send(tasks, 2 * sent.patience, workers=others or None, allow_other_workers=bool(others))

    def _send(self, tasks: Sequence[Task], patience: float, **where: Any) -> None:
        key = f"{self._name}-{time.time_ns()}"
        future = self._executor.submit(play_batch, self._name, tasks, key=key, **where)
        self._sent[future] = _Sent(tasks, key, patience, time.monotonic() + patience)

    def _results(self, sent: _Sent, future: futures.Future[Batch]) -> list[Record]:
        """Return the results of a batch; keep its replays. The matches of a lost one are void, except those that a copy of it plays."""
        try:
            batch = future.result()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no result
            tasks = [task for task in sent.tasks if task.key in self._open and not sent.has_copy]
            self._open.difference_update(task.key for task in tasks)
            # One of them may have caused the loss, and must not take the others with it again.
            self.batch_seconds = 0.0
            why = f"No worker could play it: {str(error) or 'it was cancelled':.300}"
            return [worker_ended(task, why, self._terms) for task in tasks]
        if batch.level not in self._levels:
            self._levels.add(batch.level)
            self._on_level(batch.level)
        self._played += len(sent.tasks)
        self._played_seconds += batch.seconds
        return [self._stored(record, files) for record, files in batch.results]

    def _stored(self, record: Record, files: Mapping[str, bytes]) -> Record:
        """Write the files of a match. A second result of a match keeps a replay of its own beside the first one."""
        is_first = record.key in self._open
        self._open.discard(record.key)
        if not record.replay:
            return record
        path = replay_path(self._folder, record.key if is_first else f"{record.key}.second")
        path.parent.mkdir(parents=True, exist_ok=True)
        for end, data in files.items():
            write_whole(path.with_name(path.name.removesuffix(SUFFIX) + end), data)
        return record._replace(replay=str(path.relative_to(self._folder.parent)))

    def close(self) -> None:
        """Delete everything that the scheduler and the workers keep for this league."""
        with contextlib.ExitStack() as stack:
            if self._cluster is not None:
                stack.callback(self._cluster.close, timeout=_CLOSE_SECONDS)
            stack.callback(self._client.close, timeout=_CLOSE_SECONDS)
            if self._client.status == "running":
                # The scheduler or a worker may be gone, or never have got the files.
                stack.enter_context(contextlib.suppress(OSError, TimeoutError, ValueError, RuntimeError, KeyError))
                self._executor.shutdown(wait=False)
                # A worker that hangs doesn't answer, and the method without the underscore waits forever.
                self._client.sync(self._client._unregister_worker_plugin, name=self._name, callback_timeout=_CLOSE_SECONDS)  # noqa: SLF001


def _connect(address: str, seconds: float) -> tuple[Any, Any]:
    """Return the cluster that was started here, None if it is elsewhere, and its client. Neither has types."""
    need_cluster("--cluster")
    distributed: Any = importlib.import_module("distributed")
    # The pool reports a lost connection in a sentence, because it isn't an error of the program.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    kind, _, count = address.partition(":")
    try:
        if kind == "local":
            # Ctrl-C at a terminal is only for this process. Start the loop first, because it unblocks the signal in its starting thread.
            resource_tracker.ensure_running()
            with blocked_signals({signal.SIGINT}):
                # Errors of its workers come back with the batches, as sentences.
                cluster = distributed.LocalCluster(
                    n_workers=int(count), threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL
                )
            return cluster, distributed.Client(cluster, set_as_default=False)
        # Its files come from Dask's own configuration.
        security = distributed.Security(require_encryption=True) if kind == "tls" else None
        return None, distributed.Client(address, security=security, timeout=seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        why = (str(error).splitlines()[0] if str(error) else type(error).__name__).rstrip(".")
        advice = "Check the three variables DASK_DISTRIBUTED__COMM__TLS__* and their files, and start" if kind == "tls" else "Start"
        raise UsageError(
            f"No Dask scheduler answers at {address} ({why}). {advice} one: dask scheduler; its workers: dask worker ADDRESS"
        ) from None


def _league_plugin(plugin_name: str, league: tuple[Terms, Sequence[Entry], bytes], workers: Collection[str]) -> Any:
    """Return the Dask plugin that opens a league on each worker, also on those that join later.

    It fails on a worker of another version or without the isolation that the league asks for. One that joins later leaves again.
    """
    from distributed import WorkerPlugin

    expected, pickled, present = __version__, pickle.dumps(partial(League, *league)), frozenset(workers)

    # The class is local, so that its code travels to workers that have other code.
    class LeaguePlugin(WorkerPlugin):
        """Keeps a league on a worker."""

        name = plugin_name
        league: Any = None

        def setup(self, worker: Any) -> None:
            try:
                from referee.version import __version__ as version

                if version != expected:
                    raise ImportError(f"it has version {version} of the referee, the coordinator has {expected}; install one on all.")
                # Only now is the worker's own ``League`` imported.
                self.league = pickle.loads(pickled)(Path(worker.local_directory))  # noqa: S301 - of the coordinator
            except Exception as error:
                why = f"The worker {worker.address} can't play: {error}"
                if worker.address not in present:
                    worker.loop.add_callback(worker.close, reason=why)
                raise RuntimeError(why) from error

        def teardown(self, worker: Any) -> None:
            if self.league is not None:
                self.league.close()

    return LeaguePlugin()


class League:
    """A league on a Dask worker: the teams' files, and a process for each thread that plays. UsageError without the isolation it asks for."""

    def __init__(self, terms: Terms, teams: Sequence[Entry], archive: bytes, folder: Path) -> None:
        self._level = open_launcher(terms.options.isolation, terms.options.limits).level.name
        self._terms = terms
        self._folder = Path(tempfile.mkdtemp(prefix="referee-matches-", dir=folder))
        self._teams = unpack(teams, archive, self._folder)
        self._pools: list[LocalPool] = []
        self._idle: list[tuple[LocalPool, Path]] = []

    def play(self, tasks: Sequence[Task]) -> Batch:
        """Play some matches, one after another."""
        begun, results = time.monotonic(), []
        try:
            pool, folder = self._idle.pop()
        except IndexError:
            folder = Path(tempfile.mkdtemp(dir=self._folder)) / "replays"
            pool = LocalPool(self._terms, self._teams, folder, 1)
            self._pools.append(pool)
        for task in tasks:
            pool.submit(task)
            while not (ended := pool.wait(60.0)):
                pass
            paths = [path for path in replay_path(folder, task.key).parent.glob(f"{task.key}.*") if path.stat().st_size]
            files = {path.name.removeprefix(task.key): path.read_bytes() for path in paths}
            shutil.rmtree(folder, ignore_errors=True)
            record = ended[0]
            results.append((record._replace(void=f"On {platform.node()}: {record.void}") if record.void else record, files))
        self._idle.append((pool, folder))
        return Batch(self._level, time.monotonic() - begun, results)

    def close(self) -> None:
        """End the processes, and remove all files."""
        for pool in self._pools:
            pool.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def play_batch(name: str, tasks: Sequence[Task]) -> Batch:
    """Play some matches on a Dask worker that has the plugin of this name."""
    league: League = importlib.import_module("distributed").get_worker().plugins[name].league
    return league.play(tasks)
