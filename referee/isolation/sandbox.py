"""One bot's place: how it is started, stopped between its turns, measured, ended, and what its end tells.

``Cell`` is a bot without walls, for the levels ``limits`` and ``none``; ``SandboxCell`` has walls and, where there are control
groups, caps.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.isolation import bubblewrap, seccomp
from referee.isolation.limits import LIMITS, NONE, shown
from referee.isolation.supervisor import children, descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from referee.isolation.cgroups import Group
    from referee.isolation.limits import Limits
    from referee.isolation.users import UserNumber

#: What killed a bot, as a grader tells it apart.
TIME, MEMORY, PROCESSES, DISK, OUTPUT, CRASH = "time", "memory", "processes", "disk", "output", "crash"

#: The last words of programs that met a limit, where the kernel counts nothing that would prove it.
_LAST_WORDS = (
    (
        MEMORY,
        re.compile(rb"MemoryError|OutOfMemoryError|std::bad_alloc|heap out of memory|Cannot allocate memory|out of memory", re.IGNORECASE),
    ),
    (PROCESSES, re.compile(rb"Resource temporarily unavailable|can't start new thread|unable to create (new )?native thread")),
    (DISK, re.compile(rb"No space left on device|File too large|Disk quota exceeded|ENOSPC|EFBIG")),
)
_BY_SIGNAL = {signal.SIGXCPU: TIME, signal.SIGXFSZ: DISK}
#: How many lines of its stderr are looked at for last words.
_LINES = 20

_MOST_INODES = 10_000
#: How often to give up the processor before waiting for a freeze by the clock, and how long such a wait may take, in seconds.
_YIELDS = 20
_STANDING_SECONDS = 10.0


class Start(NamedTuple):
    """What to hand to whoever starts the program: ``fds`` are descriptors that it inherits as 3, 4 and so on."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    fds: tuple[int, ...] = ()


class Watch(NamedTuple):
    """What the supervisor looks after because no kernel cap does: bytes of memory, processes, files in its scratch space; 0 for no cap."""

    memory_bytes: int = 0
    processes: int = 0
    inodes: int = 0


class Cleaning(NamedTuple):
    """What is left when the processes are gone: files to write so that they can die, folders to remove, trees to remove."""

    writes: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


class Cell:
    """A bot without walls.

    ``is_sandbox``: whether it is shut off from the rest of the machine. ``holds``: whether nothing inside can undo a stop. ``is_exact``: whether ``seconds`` counts the whole tree, to the last moment.
    """

    is_sandbox = False
    holds = False
    is_exact = False
    has_failed = False
    #: Where news of the start comes from, and what the supervisor holds open; -1 if there is none.
    news_fd = -1
    held_fd = -1
    note_on_disk = ""
    watch = Watch()

    def __init__(self, start: Start, limits: Limits, level: str) -> None:
        self.start = start
        self.limits = limits
        self.level = level
        self.pid = 0
        #: What to do with the first process of a sandbox before the bot in it starts, such as to keep it on a core.
        self.before_start: Callable[[int], None] | None = None
        #: Set by the supervisor's watch.
        self.exceeded: str | None = None
        if level == LIMITS:
            self.watch = Watch(limits.memory_bytes, limits.processes)

    def begun(self, pid: int) -> None:
        """The program was started under this process number."""
        self.pid = pid

    def admit(self) -> bool:
        """Take in news of the start; True when the program runs."""
        return True

    def stop(self) -> None:
        """Stop it between its turns: a courtesy, which it can undo."""
        _signal_group(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        _signal_group(self.pid, signal.SIGCONT)

    def is_moving(self) -> bool:
        """Whether a stop that holds has not reached everything inside yet."""
        return False

    def stand_still(self) -> None:
        """Wait until a stop that holds has reached everything inside."""

    def pids(self) -> list[int]:
        """Its processes, as far as they are known."""
        return [self.pid, *descendants(self.pid)]

    def first_pid(self) -> int:
        """The program's own process."""
        return self.pid

    def quick_seconds(self) -> float:
        """Processor time of its first process with all threads so far: what a look on every question may cost."""
        try:
            # The kernel's name for the processor clock of another process (CPUCLOCK_SCHED).
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return 0.0

    def clock(self) -> Callable[[], float]:
        """What gives ``quick_seconds`` without a detour; it may raise OSError once the program is gone."""
        return partial(time.clock_gettime, (~self.pid << 3) | 2)

    def seconds(self) -> float:
        """Processor time of the whole tree so far: exact where the kernel keeps an account, else with ended children in ticks."""
        first = self.first_pid()
        return sum(used_seconds(pid) for pid in (first, *descendants(first)))

    def evidence_seconds(self) -> float:
        """Processor time that speaks for its having kept the referee from its work: of all that can be looked at while clocks run.

        Outside a sandbox a bot may have any number of processes, and a walk through them would cost the others time.
        """
        return self.quick_seconds()

    def is_over_memory(self) -> bool:
        """Whether the kernel has killed something inside for going over the memory cap."""
        return False

    def kill(self) -> None:
        """End everything in it now, where the supervisor's own way isn't enough."""

    def exit_status(self, reported: int) -> int:
        """The program's own exit status, negative for a signal, from what the supervisor saw."""
        return reported

    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """What ended it, from the kernel's evidence and, where there is none, from the program's last words."""
        if self.exceeded is not None:
            return self.exceeded
        if status is not None and status < 0 and -status in _BY_SIGNAL:
            return _BY_SIGNAL[signal.Signals(-status)]
        if self.level != NONE and status != 0:
            text = b"\n".join(list(words)[-_LINES:])
            for cause, pattern in _LAST_WORDS:
                if pattern.search(text):
                    return cause
        return CRASH

    def over(self, cause: str) -> str:
        """How a limit was met, as the middle of a sentence."""
        limits = self.limits
        if cause == DISK and self.exceeded == DISK:
            return f"made more than {_MOST_INODES:,} files in /tmp and /dev/shm"
        return {
            TIME: "used more processor time than its clock can allow",
            MEMORY: f"used more memory than its limit of {shown(limits.memory_bytes)}",
            PROCESSES: f"started more processes or threads than its limit of {limits.processes}",
            DISK: f"wrote more to disk than its limit of {shown(limits.scratch_bytes)}{self.note_on_disk}",
        }[cause]

    def load_filter(self) -> None:
        """Hand over what is only ready now, while the program is being started."""

    def close(self) -> None:
        """Give up descriptors and claims; its processes must be gone."""


class SandboxCell(Cell):
    """A bot in a sandbox, in control groups of its own where ``group`` is one."""

    is_sandbox = True
    note_on_disk = f" (in /dev/shm of {shown(bubblewrap.SHARED_MEMORY_BYTES)})"

    def __init__(
        self,
        box: bubblewrap.Box,
        level: str,
        group: Group | None,
        user: UserNumber | None,
    ) -> None:
        self.group = group
        self._user = user
        # Filled before the sandbox reads it: a filter is smaller than a pipe.
        filter_read, self._filter = os.pipe()
        self.news_fd, status_write = os.pipe()
        os.set_blocking(self.news_fd, False)
        # The supervisor holds the writing end, too, so that a killed referee doesn't let the bot go.
        block_read, self._block = os.pipe()
        hosts_read, hosts_write = os.pipe()
        os.write(hosts_write, bubblewrap.HOSTS)
        os.close(hosts_write)
        fds = (filter_read, status_write, block_read, hosts_read)
        self.held_fd = os.dup(self._block)
        super().__init__(Start(bubblewrap.command(box), {"PATH": "/usr/bin:/bin"}, "/", fds), box.limits, level)
        self.is_admitted = False
        self.holds = group is not None and group.has_freezer
        self.is_exact = group is not None and group.has_accounts
        self._folder = box.folder
        self._inner = 0
        self._pidfd = -1
        self._first = 0
        self._news = b""
        # No kernel cap counts files in its scratch space.
        self.watch = Watch(box.limits.memory_bytes if group is None else 0, 0, _MOST_INODES)

    def load_filter(self) -> None:
        """Hand the system call filter to the sandbox, which waits for it: compiling it takes as long as a process needs to start."""
        if self._filter >= 0:
            # A sandbox that has ended already says why on its stderr.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._filter, seccomp.program())
            os.close(self._filter)
            self._filter = -1

    def admit(self) -> bool:
        """Put the sandbox into its control groups once its process is known, then let the bot start."""
        self._read_news()
        if self.is_admitted:
            return True
        found = re.search(rb'"child-pid": (\d+)', self._news)
        if found is None:
            return False
        self._inner = int(found[1])
        with contextlib.suppress(OSError, AttributeError):
            self._pidfd = os.pidfd_open(self._inner)
        if self.group is not None:
            self.group.put(self._inner)
        if self.before_start is not None:
            self.before_start(self._inner)
        os.write(self._block, b"g")
        os.close(self._block)
        self._block = -1
        self.is_admitted = True
        return True

    def _read_news(self) -> None:
        try:
            while data := os.read(self.news_fd, 4096):
                self._news += data
        except (BlockingIOError, OSError):
            pass

    def stop(self) -> None:
        """Freeze everything inside; without a freezer stop its process group, which it can undo."""
        if self.group is not None and self.holds:
            self.group.freeze()
        else:
            _signal_group(self.first_pid(), signal.SIGSTOP)

    def go_on(self) -> None:
        """Let everything inside go on."""
        if self.group is not None and self.holds:
            self.group.thaw()
        else:
            _signal_group(self.first_pid(), signal.SIGCONT)

    def is_moving(self) -> bool:
        """Whether the freezer has not reached everything inside yet."""
        return self.group is not None and self.holds and not self.group.is_frozen()

    def stand_still(self) -> None:
        """Wait until the freezer says that everything is frozen: it takes each thread when that leaves the kernel.

        A bot that only waits for its next question is frozen at once. Children that give back much memory, say, work on in the kernel.
        """
        for _ in range(_YIELDS):
            if not self.is_moving():
                return
            # It has just answered, and needs the processor for a moment to fall asleep.
            os.sched_yield()
        deadline = time.monotonic() + _STANDING_SECONDS
        while self.is_moving() and time.monotonic() < deadline:
            select.select([], [], [], 0.0002)

    def pids(self) -> list[int]:
        """Everything inside, bwrap's inner half included."""
        if self.group is not None:
            return self.group.pids()
        return [self._inner, *descendants(self._inner)] if self._inner else []

    def first_pid(self) -> int:
        """The program's own process: the first that the inner half started; its number is the same through all its stages."""
        if not self._first and self._inner:
            self._first = next(iter(children(self._inner)), 0)
        return self._first

    def quick_seconds(self) -> float:
        """Processor time of everything inside so far, where the kernel keeps an account; else of the first process."""
        if self.is_exact:
            assert self.group is not None
            return self.group.seconds()
        first = self.first_pid()
        return _clock(first) if first else 0.0

    def clock(self) -> Callable[[], float]:
        """The group's own account, or a look at the first process."""
        if self.is_exact:
            assert self.group is not None
            return self.group.seconds
        return self.quick_seconds

    def seconds(self) -> float:
        """Processor time of everything inside so far."""
        if self.is_exact:
            assert self.group is not None
            return self.group.seconds()
        if not self._inner:
            return 0.0
        return _ended_children(self._inner) + sum(used_seconds(pid) for pid in descendants(self._inner))

    def evidence_seconds(self) -> float:
        """Processor time of everything inside: its processes are capped."""
        return self.seconds()

    def kill(self) -> None:
        """Kill the inner half: the kernel then ends everything in its process table."""
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        if self.group is not None:
            self.group.thaw()

    def exit_status(self, reported: int) -> int:
        """What bwrap says of the program; without that the sandbox itself has failed."""
        self._read_news()
        found = re.search(rb'"exit-code": (\d+)', self._news)
        if found is None:
            self.has_failed = self.exceeded is None and not self.is_over_memory()
            return reported
        code = int(found[1])
        return 128 - code if 128 < code < 128 + signal.NSIG else code

    def is_over_memory(self) -> bool:
        """Whether the kernel has killed something inside for going over the memory cap."""
        return self.group is not None and self.group.memory_kills() > 0

    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """What ended it; the control groups' own counts come first."""
        if self.is_over_memory():
            return MEMORY
        cause = super().cause(status, words)
        if cause == CRASH and status != 0 and self.group is not None and self.group.refused_processes():
            return PROCESSES
        return cause

    def close(self) -> None:
        """Give up descriptors and claims."""
        for fd in (self._filter, self.news_fd, self._block, self.held_fd, self._pidfd):
            if fd >= 0:
                os.close(fd)
        self._filter = self.news_fd = self._block = self.held_fd = self._pidfd = -1
        if self.group is not None:
            self.group.close()
        if self._user is not None:
            self._user.release()
            self._user = None


def _signal_group(pid: int, number: int) -> None:
    if pid > 0:
        with contextlib.suppress(OSError):
            # It has ended, or changed its user: its pipes will tell.
            os.killpg(pid, number)


def _clock(pid: int) -> float:
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def used_seconds(pid: int) -> float:
    """Processor time of a process and of its children that have ended, in seconds; 0 if it is gone."""
    return _clock(pid) + _ended_children(pid)


_TICKS = os.sysconf("SC_CLK_TCK")


def _ended_children(pid: int) -> float:
    """Processor time of a process's children that have ended and were waited for, in ticks of 10 ms."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[13]) + int(fields[14])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


def facts(status: int | None, lines: Sequence[str], cause: str) -> dict[str, Any]:
    """What a result says of an end, for machines: cause, exit status or signal, the last lines of stderr."""
    detail: dict[str, Any] = {"cause": cause}
    if status is not None:
        detail["status"] = status
        if status < 0:
            with contextlib.suppress(ValueError):
                detail["signal"] = signal.Signals(-status).name
    if lines:
        detail["stderr"] = list(lines)
    return detail
