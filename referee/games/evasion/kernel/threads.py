"""Whether a call for many games runs on several threads of numba, and how these threads wait."""

from __future__ import annotations

import os
from threading import Lock

import numba

#: With fewer steps than this in one call, to start the other threads takes longer than the steps.
FEW = 1_024
#: OpenMP reads this variable once, when numba loads it. Without it a thread that waits for the next call keeps its core busy. On a machine
#: with other load, that made two threads 20 times as slow as one.
_WAIT_POLICY = "OMP_WAIT_POLICY"


class _Threads:
    """What this process knows about the threads of numba."""

    def __init__(self) -> None:
        self.have_started = False
        self.are_lost = False
        self.lock = Lock()

    def start(self) -> None:
        """Start the threads, unless they run already, so that they sleep while they wait. A policy that the user has set stays."""
        if self.have_started:
            return
        self.have_started = True
        is_ours = _WAIT_POLICY not in os.environ
        if is_ours:
            os.environ[_WAIT_POLICY] = "passive"
        try:
            numba.get_num_threads()
        finally:
            # Other libraries, and programs that this process starts, have their own policy.
            if is_ours:
                del os.environ[_WAIT_POLICY]

    def begin_in_fork(self) -> None:
        """Forget the threads of the parent process. GNU OpenMP would end a forked process that uses them."""
        self.lock = Lock()
        try:
            self.are_lost = numba.threading_layer() == "omp"  # type: ignore[attr-defined]  # numba's stubs don't export it
        except ValueError:  # numba has not started them
            self.have_started = False


_threads = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.begin_in_fork)


def start() -> None:
    """Start the threads of numba so that they sleep while they wait for the next call."""
    _threads.start()


def are_worth(steps: int) -> bool:
    """Whether a call with this number of steps of games should run on several threads."""
    if steps < FEW or _threads.are_lost:
        return False
    _threads.start()
    return numba.get_num_threads() > 1


def turn() -> Lock:
    """Return the lock that a call holds while it runs on several threads: numba's own threads serve one call at a time."""
    return _threads.lock
