"""Workers on many machines: Dask sends matches to them and results back. Only the store decides which matches are done.

Each Dask worker plays in a child process, tests its own sandbox, and sends back results with their replays. Only the
coordinator writes. At most twice as many batches are under way as there are slots, so the scheduler's memory doesn't grow with the league.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import logging
import platform
import queue
import signal
import time
from collections import deque
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.replay.paths import SUFFIX
from referee.support.files import write_whole
from referee.support.packages import install_command
from referee.tournament.cluster_worker import Batch, ClusterHost, examine, play_batch
from referee.tournament.local import Finished, worker_ended
from referee.tournament.package import pack
from referee.tournament.worker import Completed, Terms, Void, replay_path
from referee.version import __version__

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from referee.games.game import Json
    from referee.tournament.package import Package
    from referee.tournament.values import MatchTask, Team
    from referee.tournament.worker import Report

#: The duration of a batch, in seconds, and the most matches in it.
_BATCH_SECONDS, _MOST_IN_BATCH = 20.0, 200
#: The first batches are shorter, because a batch brings no result before its end: the duration of the first, in seconds, and the share of the
#: time played so far that each later one takes.
_FIRST_SECONDS, _SHARE = 1.0, 0.2
#: The weight of the last batch in the mean duration of a match.
_WEIGHT = 0.3
#: A batch that has not come back after this multiple of its expected duration, and at least this number of seconds, is sent again.
LATE_FACTOR, LATE_SECONDS = 5.0, 120.0
#: A batch that was lost so often is played match by match; a match that was lost so often is void.
_MOST_LOSSES = 3
#: The number of batches under way for each slot: one that is played and one that waits.
_BATCHES_EACH = 2
_CONNECT_SECONDS, _CLOSE_SECONDS = 20.0, 5.0
#: Dask's own variables for the files of TLS: the authority's certificate, this client's, and its key.
_TLS = tuple(f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"))
#: The seconds after which the slots are counted again.
COUNT_SECONDS = 1.0


class _Sent(NamedTuple):
    """A batch that was given out. ``has_copy``: it was late and has been given out again."""

    tasks: tuple[MatchTask, ...]
    losses: int
    begun: float
    future: Any
    has_copy: bool = False


class ClusterPool:
    """Plays matches on the workers of a Dask scheduler.

    ``address`` is that of a scheduler, or ``local:N`` for N worker processes on this machine. ``on_host`` is called for each machine when its first results come, ``on_note`` with sentences for people.
    Raises UsageError if there is no scheduler, if it has no workers, or if a worker can't play.
    """

    def __init__(
        self,
        terms: Terms,
        teams: Mapping[str, Team],
        folder: Path,
        address: str,
        *,
        on_host: Callable[[ClusterHost], None] = lambda _: None,
        on_note: Callable[[str], None] = lambda _: None,
        batch_seconds: float = _BATCH_SECONDS,
        late_seconds: float = LATE_SECONDS,
        connect_seconds: float = _CONNECT_SECONDS,
    ) -> None:
        packages = [pack(team) for team in teams.values()]
        self._terms = terms
        self._folder = folder
        self._on_host = on_host
        self._on_note = on_note
        self._batch_seconds = batch_seconds
        self._late_seconds = late_seconds
        self._connect_seconds = connect_seconds
        self._address = address
        self._cluster: Any = None
        self._hosts: set[str] = set()
        self._waiting: deque[MatchTask] = deque()
        self._lost_batches: deque[tuple[tuple[MatchTask, ...], int]] = deque()
        self._sent: dict[int, _Sent] = {}
        self._done: queue.SimpleQueue[tuple[int, Batch | BaseException]] = queue.SimpleQueue()
        self._open: set[str] = set()
        self._count = 0
        # Nothing is known of how long a match takes, so the first batches are one match each.
        self._mean = batch_seconds
        self._is_measured = False
        self._played_seconds = 0.0
        self.has_workers = True
        self._key = ""
        self._client = self._connect(address)
        try:
            self.slots = self._wait_for_workers()
            self._counted = time.monotonic()
            self._check_workers(terms)
            self._send_files(terms, packages)
        except BaseException:
            self.close()
            raise

    def _connect(self, address: str) -> Any:
        try:
            # It has no types.
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise UsageError(f"--cluster needs Dask; install what is missing: {install_command('distributed')}") from None
        # What matters of it comes as a sentence: a connection that is lost is no error of the program.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        kind, _, count = address.partition(":")
        if kind == "local" and (not count.isdecimal() or not 1 <= int(count) <= 1024):
            raise UsageError(f"--cluster is {self._address}, but after local: there must be a number from 1 to 1,024.")
        # Its files come from Dask's own configuration.
        security = distributed.Security(require_encryption=True) if kind == "tls" else None
        if security is not None and not (security.tls_ca_file and security.tls_client_cert and security.tls_client_key):
            raise UsageError(f"--cluster is {self._address}, so it needs the variables {', '.join(_TLS)}.")
        try:
            if kind == "local":
                with _workers_spared():
                    # What matters of its workers' errors comes back with the batches, as sentences.
                    self._cluster = distributed.LocalCluster(
                        n_workers=int(count), threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL
                    )
                return distributed.Client(self._cluster, set_as_default=False)
            return distributed.Client(address, security=security, timeout=self._connect_seconds, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            why = (str(error).splitlines()[0] if str(error) else type(error).__name__).rstrip(".")
            advice = "Check the three certificate files, and start" if security is not None else "Start"
            raise UsageError(
                f"No Dask scheduler answers at {self._address} ({why}). {advice} one: dask scheduler; its workers: dask worker ADDRESS"
            ) from None

    def _wait_for_workers(self) -> int:
        deadline = time.monotonic() + self._connect_seconds
        while not (threads := self._client.nthreads()):
            if time.monotonic() > deadline:
                raise UsageError(
                    f"The Dask scheduler at {self._address} has no workers. Start some: dask worker ADDRESS --nthreads 1 --nworkers 4"
                )
            time.sleep(0.2)
        return sum(threads.values())

    def _check_workers(self, terms: Terms) -> None:
        """Raise UsageError if a worker has another version of the referee, or can't prove its sandbox."""

        # The function is local, so that its code travels to workers that have other code.
        def version() -> str:
            from referee.version import __version__

            return __version__

        for worker, reply in self._client.run(version, on_error="return").items():
            if reply != __version__:
                problem = f"has version {reply} of the referee" if isinstance(reply, str) else f"has no referee ({reply!s:.200})"
                raise UsageError(
                    f"The worker {worker} {problem}; the coordinator has version {__version__}. Install the same version on all."
                )
        for worker, reply in self._client.run(examine, terms, on_error="return").items():
            if isinstance(reply, BaseException):
                raise UsageError(f"The worker {worker} can't play: {reply!s:.1000}")

    def _send_files(self, terms: Terms, packages: Sequence[Package]) -> None:
        """Send every team's files to every worker once; workers that join later get them, too."""
        # A coordinator that continues after a kill has the same key, so the scheduler keeps these files once.
        place = [platform.node(), str(self._folder.resolve()), repr(terms), *(package.name + package.hash for package in packages)]
        self._key = hashlib.sha256("\n".join(place).encode()).hexdigest()[:16]
        self._client.register_plugin(_files_plugin(self._key, terms, packages))

    @property
    def room(self) -> int:
        """How many more matches it takes."""
        return max(0, _BATCHES_EACH * self.slots * self._batch_size() - len(self._open))

    @property
    def batches(self) -> int:
        """How many batches are under way. A late batch and its copy count once."""
        return sum(not sent.has_copy for sent in self._sent.values())

    def _batch_size(self) -> int:
        seconds = min(self._batch_seconds, max(_FIRST_SECONDS, _SHARE * self._played_seconds / self.slots))
        return max(1, min(_MOST_IN_BATCH, int(seconds / self._mean)))

    def submit(self, task: MatchTask) -> None:
        """Take a match; it is sent in a batch when a slot needs one."""
        self._open.add(task.key)
        self._waiting.append(task)

    def _give_out(self) -> None:
        """Send what waits, in batches that keep all slots busy."""
        while (free := _BATCHES_EACH * self.slots - self.batches) > 0:
            if self._lost_batches:
                self._send(*self._lost_batches.popleft())
            elif self._waiting:
                size = max(1, min(self._batch_size(), -(-len(self._waiting) // free)))
                self._send(tuple(self._waiting.popleft() for _ in range(min(size, len(self._waiting)))), 0)
            else:
                return

    def _send(self, tasks: tuple[MatchTask, ...], losses: int, avoid: Sequence[str] = ()) -> None:
        self._count += 1
        number = self._count
        # Dask plays a batch again if its worker is lost, so a result can come twice.
        where: dict[str, Json] = {}
        if avoid and (others := [worker for worker in self._client.nthreads() if worker not in avoid]):
            where = {"workers": others, "allow_other_workers": True}
        name = f"referee-{self._key}-{time.time_ns()}-{number}"
        future = self._client.submit(play_batch, self._key, tasks, key=name, pure=False, retries=0, **where)
        self._sent[number] = _Sent(tasks, losses, time.monotonic(), future)
        future.add_done_callback(lambda _: self._fetch(number, future))

    def _fetch(self, number: int, future: Any) -> None:
        """Put the results of a batch into the queue. Its worker may hang with the results, so nothing waits for them here."""
        if future.status != "finished":
            lost = "it was cancelled" if future.status == "cancelled" else str(future.exception())
            self._done.put((number, RuntimeError(lost)))
            return
        client = self._client

        async def gather() -> Batch:
            (batch,) = await client.gather([future], asynchronous=True)
            assert isinstance(batch, Batch)
            return batch

        def put(gathered: concurrent.futures.Future[Batch]) -> None:
            if not gathered.cancelled():
                self._done.put((number, gathered.exception() or gathered.result()))

        if client is not None:
            asyncio.run_coroutine_threadsafe(gather(), client.loop.asyncio_loop).add_done_callback(put)

    def wait(self, seconds: float) -> list[Finished]:
        """Wait for a batch."""
        if self._client.status != "running":
            return self._cut_off()
        self._count_slots()
        self._give_out()
        self._copy_late()
        try:
            number, outcome = self._done.get(timeout=seconds)
        except queue.Empty:
            return []
        sent = self._sent.pop(number)
        if isinstance(outcome, Batch):
            return self._take(sent, outcome)
        if self._client.status != "running":
            self._lost_batches.append((sent.tasks, sent.losses))
            return self._cut_off()
        return self._lost(sent, str(outcome))

    def _cut_off(self) -> list[Finished]:
        """Stop the league: the connection to the scheduler is lost, and with it everything that was under way."""
        tasks = [*(task for sent in self._sent.values() for task in sent.tasks), *self._waiting]
        tasks += [task for batch, _ in self._lost_batches for task in batch]
        text = f"The connection to the Dask scheduler at {self._address} is lost."
        return [Finished(task, Void(task.key, text, "", is_fatal=True)) for task in tasks[:1]]

    def _count_slots(self) -> None:
        """Learn of workers that have joined or left."""
        if time.monotonic() - self._counted < COUNT_SECONDS:
            return
        self._counted = time.monotonic()
        slots = sum(self._client.nthreads().values())
        if slots:
            self.slots = slots
        elif self.has_workers:
            self._on_note(f"The Dask scheduler at {self._address} has no workers any more; the league waits for new ones.")
        self.has_workers = slots > 0

    def _take(self, sent: _Sent, batch: Batch) -> list[Finished]:
        """Keep the replays of a batch, and give its results to the engine."""
        if batch.host.name not in self._hosts:
            self._hosts.add(batch.host.name)
            self._on_host(batch.host)
        mean = max(0.001, batch.seconds / len(sent.tasks))
        self._mean = _WEIGHT * mean + (1 - _WEIGHT) * self._mean if self._is_measured else mean
        self._is_measured = True
        self._played_seconds += batch.seconds
        return [
            Finished(task, self._stored(task, report, files, batch.host))
            for task, report, files in zip(sent.tasks, batch.reports, batch.files, strict=True)
        ]

    def _stored(self, task: MatchTask, report: Report, files: Mapping[str, bytes], host: ClusterHost) -> Report:
        """Write the files of a match. A second result of a match keeps a replay of its own beside the first one."""
        is_first = task.key in self._open
        self._open.discard(task.key)
        if isinstance(report, Void):
            return report._replace(text=f"On {host.name}: {report.text}")
        if not isinstance(report, Completed):
            return report
        path = replay_path(self._folder, task.key if is_first else f"{task.key}.second")
        path.parent.mkdir(parents=True, exist_ok=True)
        for end, data in files.items():
            write_whole(path.with_name(path.name.removesuffix(SUFFIX) + end), data)
        return Completed(report.record._replace(replay=str(path.relative_to(self._folder.parent))))

    def _lost(self, sent: _Sent, why: str) -> list[Finished]:
        """Give the matches of a lost batch out again: its workers died, and few of its matches can have caused that.

        Dask itself gives a batch to another worker at first. It gives up when several workers have died with it (allowed-failures).
        """
        tasks = tuple(task for task in sent.tasks if task.key in self._open)
        if not tasks or sent.has_copy:
            return []
        if sent.losses + 1 < _MOST_LOSSES:
            self._lost_batches.append((tasks, sent.losses + 1))
            return []
        if len(tasks) > 1:
            self._lost_batches.extend(((task,), 0) for task in tasks)
            return []
        self._open.discard(tasks[0].key)
        return [Finished(tasks[0], worker_ended(tasks[0], f"No worker could play it: {why:.300}", self._terms))]

    def _copy_late(self) -> None:
        """Give out again what a worker that hangs has kept for long; whichever result comes first counts."""
        now = time.monotonic()
        late = {}
        for number, sent in self._sent.items():
            patience = max(self._late_seconds, LATE_FACTOR * self._mean * len(sent.tasks)) * 2 ** min(sent.losses, 6)
            if not sent.has_copy and now - sent.begun > patience:
                late[number] = sent
        if not late:
            return
        places = self._client.processing()
        for number, sent in late.items():
            self._sent[number] = sent._replace(has_copy=True)
            tasks = tuple(task for task in sent.tasks if task.key in self._open)
            if tasks:
                self._send(tasks, sent.losses + 1, [worker for worker, keys in places.items() if sent.future.key in keys])

    def close(self) -> None:
        """Delete everything that the scheduler and the workers keep for this league."""
        client, self._client = self._client, None
        cluster, self._cluster = self._cluster, None
        try:
            if client is not None:
                try:
                    if client.status == "running":
                        client.cancel([sent.future for sent in self._sent.values()], force=True)
                        if self._key:
                            # A worker that hangs doesn't answer, and the method without the underscore waits for ever.
                            drop = client._unregister_worker_plugin  # noqa: SLF001 - as said
                            client.sync(drop, name=f"referee-{self._key}", callback_timeout=_CLOSE_SECONDS)
                except (OSError, TimeoutError, ValueError, RuntimeError, KeyError):
                    # The scheduler or a worker is gone, or never got the files.
                    pass
                finally:
                    client.close(timeout=_CLOSE_SECONDS)
        finally:
            if cluster is not None:
                cluster.close(timeout=_CLOSE_SECONDS)


@contextlib.contextmanager
def _workers_spared() -> Iterator[None]:
    """Ctrl-C at a terminal is for this process alone: threads and processes that begin meanwhile don't get it. It waits until the end."""
    # It unblocks the signal in the thread that starts it, so it is started before.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _files_plugin(key: str, terms: Terms, packages: Sequence[Package]) -> Any:
    """Return the Dask plugin that gives each worker the teams' files, also those workers that join later.

    A worker that joins with another version of the referee, or without the isolation that the league asks for, leaves again.
    """
    from distributed import WorkerPlugin

    expected = __version__

    # The class is local, so that its code travels to workers that have other code.
    class TeamFiles(WorkerPlugin):
        """Keeps the teams' files of a league on a worker."""

        name = f"referee-{key}"

        async def setup(self, worker: Any) -> None:
            try:
                from referee.version import __version__ as own

                if own != expected:
                    raise ImportError(f"it has version {own} of the referee, the coordinator has {expected}")
                from referee.tournament import cluster_worker

                await cluster_worker.examine(terms)
                cluster_worker.keep_setup(key, terms, packages, Path(worker.local_directory))
            except Exception as error:
                worker.loop.add_callback(worker.close, reason=f"it can't play: {error}")
                raise

        async def teardown(self, worker: Any) -> None:
            from referee.tournament import cluster_worker

            await cluster_worker.forget(key)

    return TeamFiles()
