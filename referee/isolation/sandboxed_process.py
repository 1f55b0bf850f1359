"""A bot in a sandbox: its start in two steps, its freezer and accounts, and the sandbox's report of its end."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from typing import TYPE_CHECKING

from typing_extensions import override

from referee.isolation import bubblewrap, seccomp
from referee.isolation.bot import HOME
from referee.isolation.bot_process import MOST_INODES, BotProcess, ProgramStart, SoftLimits, ended_children, used_seconds
from referee.isolation.endings import CRASH, MEMORY, PROCESSES
from referee.isolation.supervisor import children, descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.isolation.bot import Bot
    from referee.isolation.cgroups import BotGroups
    from referee.isolation.level import Level
    from referee.isolation.users import UserNumber

#: How often to yield the processor before waiting for a freeze with sleeps, and how long such a wait may take, in seconds.
_YIELDS = 20
_STANDING_SECONDS = 10.0


class SandboxedProcess(BotProcess):
    """A bot in bubblewrap; with ``group``, in its own control groups."""

    is_sandbox = True
    home = HOME
    shared_bytes = bubblewrap.SHARED_MEMORY_BYTES

    def __init__(
        self,
        bot: Bot,
        config: bubblewrap.SandboxConfig,
        level: Level,
        group: BotGroups | None,
        user: UserNumber | None,
        give_back: Callable[[], None],
    ) -> None:
        """The limits of ``level`` are those of the bot; those of ``config`` include the programs that start it."""
        self.group = group
        self._user = user
        self._is_build = bool(config.builder)
        #: Gives the copy of the bot's files back.
        self._give_back: Callable[[], None] | None = give_back
        # Write it before the sandbox reads it: a filter fits into a pipe.
        filter_read, self._filter = os.pipe()
        self.news_fd, status_write = os.pipe()
        os.set_blocking(self.news_fd, False)
        # The supervisor also keeps the writing end open, so that the death of the referee doesn't start the bot.
        block_read, self._block = os.pipe()
        fds = (
            filter_read,
            status_write,
            block_read,
            *(_opened(path, content) for path, content in bubblewrap.files(config.limits).items()),
        )
        self.held_fds = (os.dup(self._block),)
        line, starts_as = bubblewrap.command(config), bubblewrap.starts_as(config)
        super().__init__(
            bot, ProgramStart(line, {"PATH": "/usr/bin:/bin"}, "/", fds, starts_as, bubblewrap.STDIN_FD), level.limits, level.name
        )
        self.is_admitted = False
        self._freezer = group if group is not None and group.has_freezer else None
        self._account = group if group is not None and group.has_accounts else None
        self.holds = self._freezer is not None
        self.is_exact = self._account is not None
        self._inner = 0
        self._pidfd = -1
        self._first = 0
        self._news = b""
        # No kernel cap counts files in its scratch space.
        self.watch = SoftLimits(config.limits.memory_bytes if group is None else 0, 0, MOST_INODES)

    @override
    def load_filter(self) -> None:
        """Pass the system call filter to the sandbox, which waits for it. Compiling it takes as long as starting a process."""
        if self._filter >= 0:
            # A sandbox that has ended already explains it on its stderr.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._filter, seccomp.program(is_build=self._is_build))
            os.close(self._filter)
            self._filter = -1

    @override
    def admit(self, before_start: Callable[[int], None] | None = None) -> bool:
        """Put the sandbox into its control groups once its process is known, then let the bot start.

        ``before_start`` is called with its first process in between, for instance to pin it to a core.
        """
        self._read_news()
        if self.is_admitted:
            return True
        match = re.search(rb'"child-pid": (\d+)', self._news)
        if match is None:
            return False
        self._inner = int(match[1])
        with contextlib.suppress(OSError, AttributeError):
            self._pidfd = os.pidfd_open(self._inner)
        if self.group is not None:
            self.group.put(self._inner)
        if before_start is not None:
            before_start(self._inner)
        os.write(self._block, b"g")
        os.close(self._block)
        self._block = -1
        self.is_admitted = True
        return True

    def _read_news(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.news_fd, 4096):
                self._news += data

    @override
    def stop(self) -> None:
        """Freeze everything inside. Without a freezer, stop its process group, which it can undo."""
        self.is_stopped = True
        if self._freezer is not None:
            self._freezer.freeze()
        else:
            super().stop()

    @override
    def go_on(self) -> None:
        """Continue everything inside."""
        self.is_stopped = False
        if self._freezer is not None:
            self._freezer.thaw()
        else:
            super().go_on()

    @override
    def is_moving(self) -> bool:
        return self._freezer is not None and not self._freezer.is_frozen()

    @override
    def stand_still(self) -> None:
        """Wait until the freezer reports that everything is frozen: it stops each thread when that thread leaves the kernel.

        A bot that only waits for its next question is frozen at once. Processes at work in the kernel, such as those that release much
        memory, are frozen later.
        """
        for _ in range(_YIELDS):
            if not self.is_moving():
                return
            # It has just answered and needs the processor for a moment to go to sleep.
            os.sched_yield()
        deadline = time.monotonic() + _STANDING_SECONDS
        while self.is_moving() and time.monotonic() < deadline:
            select.select([], [], [], 0.0002)

    @override
    def pids(self) -> list[int]:
        """Return all processes inside, including bwrap's inner half."""
        if self.group is not None:
            return self.group.pids()
        return [self._inner, *descendants(self._inner)] if self._inner else []

    @override
    def first_pid(self) -> int:
        """Return the program's own process: the first one that the inner half started. Its number doesn't change."""
        if not self._first and self._inner:
            self._first = next(iter(children(self._inner)), 0)
        return self._first

    @override
    def quick_seconds(self) -> float:
        return super().quick_seconds() if self._account is None else self._account.seconds()

    @override
    def clock(self) -> Callable[[], float]:
        return self.quick_seconds if self._account is None else self._account.seconds

    @override
    def seconds(self) -> float:
        if self._account is not None:
            return self._account.seconds()
        if not self._inner:
            return 0.0
        return ended_children(self._inner) + sum(used_seconds(pid) for pid in descendants(self._inner))

    @override
    def evidence_seconds(self) -> float:
        """Processor time of everything inside: its processes are capped."""
        return self.seconds()

    @override
    def kill(self) -> None:
        """Kill the inner half: the kernel then ends everything in its process table."""
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        if self.group is not None:
            self.group.thaw()

    @override
    def exit_status(self, reported: int) -> int:
        """Return bwrap's report of the exit status; without a report the sandbox itself has failed."""
        self._read_news()
        match = re.search(rb'"exit-code": (\d+)', self._news)
        if match is None:
            self.has_failed = self.exceeded is None and not self.is_over_memory()
            return reported
        code = int(match[1])
        return 128 - code if 128 < code < 128 + signal.NSIG else code

    @override
    def is_over_memory(self) -> bool:
        return self.group is not None and self.group.memory_kills() > 0

    @override
    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """Return the cause of its end; the counters of the control groups have priority."""
        if self.is_over_memory():
            return MEMORY
        cause = super().cause(status, words)
        if cause == CRASH and status != 0 and self.group is not None and self.group.refused_processes():
            return PROCESSES
        return cause

    @override
    def may_be_innocent(self, status: int | None, cause: str) -> bool:
        """Also False if the counters of its control groups explain the end of the bot."""
        is_counted = self.is_over_memory() or (cause == PROCESSES and self.group is not None and self.group.refused_processes() > 0)
        return not is_counted and super().may_be_innocent(status, cause)

    @override
    def is_starved(self) -> bool:
        """True if processes were killed for memory, but none because of the group's own cap."""
        return self.is_over_memory() and self.group is not None and not self.group.met_memory_cap()

    @override
    def close(self) -> None:
        """Release descriptors, claims and the copy of the bot's files."""
        super().close()
        for fd in (self._filter, self.news_fd, self._block, *self.held_fds, self._pidfd):
            if fd >= 0:
                os.close(fd)
        self._filter = self.news_fd = self._block = self._pidfd = -1
        self.held_fds = ()
        if self.group is not None:
            self.group.close()
        if self._give_back is not None:
            # First close the copy to the user ID, then let others claim the ID.
            self._give_back()
            self._give_back = None
        if self._user is not None:
            self._user.release()
            self._user = None


def _opened(path: str, content: bytes | None) -> int:
    """Return a descriptor from which a file's content can be read. None: that of the host's file."""
    if content is None:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    # On a machine with many processors the content is larger than a pipe.
    fd = os.memfd_create("data")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
