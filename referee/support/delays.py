"""Reads the run delay of tasks: the seconds for which a task was ready to run and had no processor. The kernel counts them (Linux).

It counts a wait when it ends: a wait that still lasts isn't in the number. A task that sleeps or is stopped doesn't wait.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class TaskTimes(NamedTuple):
    """The processor time of a task and its run delay so far, in seconds."""

    cpu: float = 0.0
    delay: float = 0.0


class DelayReader:
    """Reads the times of one task by a descriptor that it keeps open, so that a reading costs one system call."""

    def __init__(self, task: str) -> None:
        """``task`` is its name in /proc. OSError if it is gone."""
        self._fd = os.open(f"/proc/{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> TaskTimes:
        """Return its times so far. OSError or ValueError after its end."""
        cpu, delay, _ = os.pread(self._fd, 64, 0).split()
        return TaskTimes(int(cpu) / 1e9, int(delay) / 1e9)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._fd)


@cache
def is_counted() -> bool:
    """True if this kernel counts run delays. Other kernels have no such file, or say that this process ran 0 times."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[2]) > 0
    except (OSError, IndexError, ValueError):
        return False


def run_delay(task: str) -> float:
    """Return the run delay of a task so far, in seconds; 0 if it is gone or the kernel doesn't count them."""
    return _times(f"/proc/{task}/schedstat").delay


def tasks_of(pids: Iterable[int]) -> dict[int, TaskTimes]:
    """Return the times of all tasks of some processes, by number. Those that end meanwhile are left out."""
    times = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                times[int(task)] = _times(f"/proc/{pid}/task/{task}/schedstat")
    return times


def _times(path: str) -> TaskTimes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            cpu, delay, _ = os.read(fd, 64).split()
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return TaskTimes()
    return TaskTimes(int(cpu) / 1e9, int(delay) / 1e9)


def is_ready(task: int) -> bool:
    """True if a task runs or is ready to run."""
    try:
        with open(f"/proc/{task}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


def priority(task: int) -> tuple[int, int] | None:
    """Return the scheduling policy and the nice value of a task, None if it is gone."""
    try:
        return os.sched_getscheduler(task), os.getpriority(os.PRIO_PROCESS, task)
    except OSError:
        return None
