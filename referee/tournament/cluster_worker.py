"""The part of a league on a cluster that runs in the Dask workers: they check themselves, keep the teams' files and play batches.

A Dask worker plays each match in a process below it, because a match needs the main thread and the child processes of a process.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.isolation.launcher import open_launcher
from referee.replay.paths import SUFFIX
from referee.tournament.local import LocalPool
from referee.tournament.package import unpack
from referee.tournament.values import Team
from referee.tournament.worker import Completed, Report, Terms, replay_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.isolation.limits import Limits
    from referee.tournament.package import Package
    from referee.tournament.values import MatchTask


class ClusterHost(NamedTuple):
    """A machine that plays: its name, and the isolation level that the test of its sandbox has reached."""

    name: str
    level: str


class Batch(NamedTuple):
    """The results of a batch in the order of its matches. ``files`` holds each match's replay and logs, by what follows the key in the name."""

    host: ClusterHost
    seconds: float
    reports: Sequence[Report]
    files: Sequence[dict[str, bytes]]


class _Setup(NamedTuple):
    """What a worker needs to play the matches of a league. ``folder`` is that of the Dask worker."""

    terms: Terms
    packages: Sequence[Package]
    folder: Path


class _Slot(NamedTuple):
    """The process that plays for one thread of a Dask worker, and its folder."""

    pool: LocalPool
    folder: Path

    def close(self) -> None:
        self.pool.close()
        shutil.rmtree(self.folder, ignore_errors=True)


# A Dask worker imports this module once, and all its threads share these.
_lock = threading.Lock()
_setups: dict[str, _Setup] = {}
_teams: dict[str, dict[str, Team]] = {}
_slots: dict[str, dict[int, _Slot]] = {}
_hosts: dict[tuple[str, Limits], ClusterHost] = {}


def this_host(terms: Terms) -> ClusterHost:
    """Return this machine, after a test that its sandbox has the isolation that the league asks for. UsageError if it hasn't."""
    with _lock:
        options = terms.options
        host = _hosts.get((options.isolation, options.limits))
        if host is None:
            level = open_launcher(options.isolation, options.limits).level.name
            host = _hosts[options.isolation, options.limits] = ClusterHost(platform.node(), level)
        return host


async def examine(terms: Terms) -> ClusterHost:
    """Check this worker as ``this_host`` does, without blocking its connection to the scheduler."""
    return await asyncio.to_thread(this_host, terms)


def keep_setup(key: str, terms: Terms, packages: Sequence[Package], folder: Path) -> None:
    """Store the data that the matches of a league need."""
    with _lock:
        _setups[key] = _Setup(terms, packages, folder)
        _slots.setdefault(key, {})


async def forget(key: str) -> None:
    """Do what ``drop_setup`` does, without blocking this worker's connection to the scheduler."""
    await asyncio.to_thread(drop_setup, key)


def drop_setup(key: str) -> None:
    """Forget a league, and end the processes that play for it."""
    with _lock:
        _setups.pop(key, None)
        _teams.pop(key, None)
        slots = _slots.pop(key, {})
    for slot in slots.values():
        slot.close()


def play_batch(key: str, tasks: Sequence[MatchTask]) -> Batch:
    """Play some matches on a Dask worker, one after another."""
    begun = time.monotonic()
    slot, terms = _slot(key)
    reports = []
    files = []
    for task in tasks:
        slot.pool.submit(task)
        while not (ended := slot.pool.wait(60.0)):
            pass
        report = ended[0].report
        reports.append(report)
        files.append(_take_files(slot.folder / "replays", task.key, is_kept=isinstance(report, Completed)))
    return Batch(this_host(terms), time.monotonic() - begun, reports, files)


def _take_files(folder: Path, key: str, *, is_kept: bool) -> dict[str, bytes]:
    """Remove the replay and the logs of a match from this machine; return them if they are to be kept."""
    files = {}
    for path in sorted(replay_path(folder, key).parent.glob(f"{key}.*")):
        if is_kept and (path.name == key + SUFFIX or path.stat().st_size):
            files[path.name.removeprefix(key)] = path.read_bytes()
        path.unlink()
    return files


def _slot(key: str) -> tuple[_Slot, Terms]:
    """Return the process of this thread, and the terms of the league."""
    thread = threading.get_ident()
    with _lock:
        setup = _setups.get(key)
        if setup is None:
            raise UsageError(f"The worker on {platform.node()} has no files of this league.")
        if key not in _teams:
            _teams[key] = {package.name: _unpacked(package, setup.folder) for package in setup.packages}
        slot = _slots[key].get(thread)
        if slot is None:
            folder = Path(tempfile.mkdtemp(prefix="referee-matches-", dir=setup.folder))
            slot = _slots[key][thread] = _Slot(LocalPool(setup.terms, _teams[key], folder / "replays", 1), folder)
    return slot, setup.terms


def _unpacked(package: Package, folder: Path) -> Team:
    return Team(package.name, package.players, package.hash, str(unpack(package, folder / "referee-teams")))
