"""Caps that the kernel doesn't keep: how they are looked after."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from referee.isolation import supervisor
from referee.isolation.probe import can_freeze  # the decision itself; the probe around it takes a sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("look", "pause"), [(0.0, 0.075), (0.001, 0.075), (0.003, 0.075), (0.01, 0.25), (0.05, 1.25), (0.2, 2.0), (9.0, 2.0)]
)
def test_dear_looks_come_seldom(look: float, pause: float) -> None:
    assert supervisor.pause_after(look) == pytest.approx(pause)


@pytest.fixture
def sharers() -> Iterator[list[int]]:
    """Processes that share 64 MiB of memory."""
    shared = mmap.mmap(-1, 64 << 20)
    shared[::4096] = bytes((64 << 20) // 4096)
    ready, told = os.pipe()
    pids = []
    for _ in range(6):
        pid = os.fork()
        if pid == 0:
            shared[::4096]
            os.write(told, b".")
            signal.pause()
            os._exit(0)
        pids.append(pid)
    count = 0
    while count < len(pids):
        count += len(os.read(ready, 10))
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_shared_memory_counts_once(sharers: list[int]) -> None:
    each = supervisor.share_of_memory(sharers[0])
    assert sum(map(supervisor.resident_memory, sharers)) > 6 * (64 << 20)
    assert not supervisor.is_over_memory(sharers, 6 * each + (64 << 20))
    assert supervisor.is_over_memory(sharers, 40 << 20)


def test_processes_that_hold_little_are_not_looked_at_closely(sharers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(supervisor, "share_of_memory", looked.append)
    # They hold what the process of the tests held when they were forked.
    assert not supervisor.is_over_memory(sharers, sum(map(supervisor.resident_memory, sharers)) + (64 << 20))
    assert looked == []


def test_the_host_s_own_files_are_not_counted() -> None:
    """A sandbox that is still being built sees them: a bot was ended for them."""
    assert supervisor.count_inodes([os.getpid()]) == 0


def test_what_has_ended_is_passed_over() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
    assert supervisor.count_inodes([gone.pid]) == 0
    gone.wait()


class Freezer:
    """A group whose freezer needs some tries: a busy machine is late."""

    has_accounts = True

    def __init__(self, late: int) -> None:
        self.late = late
        self.used = 0.0

    def is_frozen(self) -> bool:
        return True

    def seconds(self) -> float:
        self.used += 0.01 if self.late > 0 else 0.0
        return self.used


@pytest.mark.parametrize(("late", "holds"), [(0, True), (1, True), (4, True), (5, False), (100, False)])
def test_one_late_look_at_the_freezer_proves_nothing(late: int, holds: bool) -> None:
    group = Freezer(late)

    class Place:
        def __init__(self) -> None:
            self.group = group

        def stop(self) -> None:
            pass

        def go_on(self) -> None:
            group.late -= 1

    place: Any = Place()
    assert can_freeze(place) == holds
