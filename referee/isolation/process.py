"""A running bot: stops, measures and ends it, and finds the cause of its end.

``Process`` is for the levels ``limits`` and ``none``, which don't separate the bot from the machine. ``SandboxedProcess`` is in bubblewrap,
with caps if there are control groups.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import MatchVoid
from referee.isolation import bubblewrap, machine, seccomp
from referee.isolation.endings import CRASH, DISK, MEMORY, PROCESSES, REFUSAL, TIME, Excess, cause_of, facts, is_doubtful
from referee.isolation.file_names import FileNames, file_names
from referee.isolation.limits import LIMITS, NONE
from referee.isolation.supervisor import children, descendants, read
from referee.support.escape import escape
from referee.support.poll import readable
from referee.support.words import who

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from referee.games.game import Json
    from referee.isolation.bot import Bot
    from referee.isolation.cgroups import BotGroups
    from referee.isolation.limits import Limits
    from referee.isolation.log import Log
    from referee.isolation.users import UserNumber

_MOST_INODES = 10_000
_PIPE_BYTES = 65_536
#: Messages of the wrapper programs, by exit status, when they can't set what the bot needs, and when they can't start the bot.
_NOT_PREPARED = {125: (b"relay: ", b"landlock: "), 1: (b"prlimit: failed to set ",)}
_NOT_STARTED = (b"prlimit: failed to execute", b"setpriv: failed to execute", b"relay: failed to execute", b"landlock: failed to execute")
#: The flag of a process that is ending, <linux/sched.h>: PF_EXITING.
_EXITING = 4
#: How often to yield the processor before waiting for a freeze with sleeps, and how long such a wait may take, in seconds.
_YIELDS = 20
_STANDING_SECONDS = 10.0


class ProgramStart(NamedTuple):
    """The data for starting the program: it inherits the descriptors ``fds`` as 3, 4 and so on.

    ``user`` is the user and group ID under which it starts, without further groups; None for those of the supervisor. ``passage`` are the
    arguments of ``user_start.enter`` for a program that the supervisor alone separates from root, else None. ``pipes_at`` is the
    number under which it finds the bot's stdin, with the bot's stdout behind it; 0: they are its own.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    fds: tuple[int, ...] = ()
    user: int | None = None
    pipes_at: int = 0
    passage: tuple[tuple[str, ...], ...] | None = None

    def descriptors(self, standard: Sequence[int], null: int) -> list[int]:
        """Return what the program inherits, from 0 on. ``standard`` are the bot's stdin, stdout and stderr, ``null`` leads nowhere."""
        if not self.pipes_at:
            return [*standard, *self.fds]
        return [null, null, standard[2], *self.fds[: self.pipes_at - 3], *standard[:2], *self.fds[self.pipes_at - 3 :]]


class SoftLimits(NamedTuple):
    """Caps that the supervisor enforces because the kernel doesn't: bytes of memory, processes, files in the scratch space; 0: no cap."""

    memory_bytes: int = 0
    processes: int = 0
    inodes: int = 0


class Cleaning(NamedTuple):
    """What to clean up: ``writes`` let frozen processes end; ``folders`` are removed when the processes are gone, ``trees`` after the last match."""

    writes: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


class Process:
    """A bot that isn't separated from the machine.

    ``stdin``, ``stdout`` and ``stderr`` are the referee's ends of its pipes. ``pid`` is its process number once it runs, ``status`` its exit
    status once it has ended, negative for a signal. ``is_sandbox``: true if the bot is separated. ``holds``: true if nothing inside can undo a
    stop. ``is_exact``: true if ``seconds`` counts all processes exactly. ``is_doubtful``: the machine may be to blame for its end.
    """

    seat = label = ""
    stdin = stdout = stderr = -1
    pid = 0
    status: int | None = None
    is_stopped = False
    is_doubtful = False
    exceeded: str | None = None
    log: Log
    _file_names: FileNames | None = None
    _owns_pipes = False

    is_sandbox = False
    holds = False
    is_exact = False
    has_failed = False
    #: The descriptor for reports about the start, -1 if there is none, and those that the supervisor keeps open.
    news_fd = -1
    held_fds: tuple[int, ...] = ()
    #: What it may write to /dev/shm besides its limit on the disk, in bytes.
    shared_bytes = 0
    watch = SoftLimits()
    #: Where the bot finds the copy of its files; "" if it runs from where they are.
    home = ""

    def __init__(self, bot: Bot, start: ProgramStart, limits: Limits, level: str) -> None:
        self.bot = bot
        self.label = bot.label
        self.start = start
        self.limits = limits
        self.level = level
        if level == LIMITS:
            self.watch = SoftLimits(limits.memory_bytes, limits.processes)

    def connect(self, seat: str, log: Log) -> tuple[int, int, int]:
        """Make its pipes, and return its own ends of them: stdin, stdout and stderr. ``log`` will take its stderr."""
        (stdin, self.stdin), (self.stdout, stdout), (self.stderr, stderr) = os.pipe(), os.pipe(), os.pipe()
        self._owns_pipes = True
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)
        self.seat, self.log = seat, log
        if self.bot.home:
            # Leagues and gradings publish logs and replays, without folders of this machine.
            log.rename_files(lambda data: self.file_names().published(data))
        elif self.is_sandbox:
            log.rename_files(lambda data: self.file_names().named_bytes(data))
        return stdin, stdout, stderr

    def file_names(self) -> FileNames:
        """The names of its files as it sees them and as its author knows them."""
        if self._file_names is None:
            self._file_names = file_names(self.bot, is_sandbox=self.is_sandbox, home=self.home)
        return self._file_names

    def hand_over(self) -> None:
        """Close the descriptors that the supervisor has now: those of the start, and those that it keeps open."""
        for fd in (*self.start.fds, *self.held_fds):
            os.close(fd)
        self.held_fds = ()

    def begun(self, pid: int) -> None:
        """The program was started under this process number."""
        self.pid = pid

    def end(self, reported: int) -> None:
        """Note that the program has ended with this exit status, as the supervisor saw it."""
        self.status = self.exit_status(reported)

    def exceed(self, cap: str) -> None:
        """Note the cap that the bot exceeded, according to the supervisor."""
        self.exceeded = cap

    def admit(self, before_start: Callable[[int], None] | None = None) -> bool:
        """Read reports about the start; True when the program runs. Nothing comes before the start of a bot that isn't separated."""
        return True

    def stop(self) -> None:
        """Stop it between its turns; it can undo this."""
        self.is_stopped = True
        _signal_group(self.first_pid(), signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue it."""
        self.is_stopped = False
        _signal_group(self.first_pid(), signal.SIGCONT)

    def is_moving(self) -> bool:
        """True if a stop that can't be undone hasn't yet reached everything inside."""
        return False

    def stand_still(self) -> None:
        """Wait until a stop that can't be undone has reached everything inside."""

    def pids(self) -> list[int]:
        """Return its known processes."""
        return [self.pid, *descendants(self.pid)]

    def first_pid(self) -> int:
        """The program's own process."""
        return self.pid

    def is_ending(self) -> bool:
        """True if its own process ends at this moment or has ended, so that news of its exit status is certain to come."""
        fields = read(f"/proc/{self.first_pid()}/stat").rpartition(b") ")[2].split()
        return not fields or fields[0] in b"ZX" or bool(int(fields[6]) & _EXITING)

    def quick_seconds(self) -> float:
        """Return the processor time of its first process with all threads, in seconds; cheap enough for every question."""
        return _clock(self.first_pid())

    def clock(self) -> Callable[[], float]:
        """Return a fast function for ``quick_seconds``; it may raise OSError after the program's end."""
        return partial(time.clock_gettime, _clock_of(self.pid))

    def seconds(self) -> float:
        """Return the processor time of all its processes, in seconds: exact if the kernel counts it, else with ended children in ticks."""
        first = self.first_pid()
        return sum(used_seconds(pid) for pid in (first, *descendants(first)))

    def evidence_seconds(self) -> float:
        """Return the processor time that counts as evidence that this bot starved the referee, in seconds, cheaply enough while clocks run.

        Without a sandbox a bot can have any number of processes, and reading all of them would cost the others time.
        """
        return self.quick_seconds()

    def is_over_memory(self) -> bool:
        """Whether the kernel has killed something inside for going over the memory cap."""
        return False

    def is_starved(self) -> bool:
        """True if the kernel has killed something inside for lack of memory although the bot was within its own memory cap."""
        return False

    def kill(self) -> None:
        """Kill everything in it now, if the supervisor's kill isn't enough."""

    def exit_status(self, reported: int) -> int:
        """Return the program's exit status, negative for a signal, from the status that the supervisor saw."""
        return reported

    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """Return the cause of its end, from the kernel's counters, or else from the program's last lines."""
        return cause_of(status, words) if self.exceeded is None else self.exceeded

    def may_be_innocent(self, status: int | None, cause: str) -> bool:
        """True if the machine may be to blame for the end of the bot, not the bot."""
        return self.exceeded is None and is_doubtful(status, cause)

    def ending(self) -> dict[str, Json]:
        """Return the facts about its end. MatchVoid if its sandbox failed, or if the machine ran out of memory."""
        if self.has_failed:
            raise MatchVoid(self.sandbox_failure())
        if self.is_starved():
            raise machine.starved(who(self.seat, self.label), self.limits, (self.seat,))
        words, names = self.log.last_lines(), self.file_names()
        cause = self.cause(self.status, words)
        self.is_doubtful = self.may_be_innocent(self.status, cause)
        return facts(self.status, [names.named(word.decode("utf-8", "replace")) for word in words], cause)

    def start_refusal(self) -> str | None:
        """Return why its program could not be started in its sandbox; None if it was started."""
        words, status = self.log.last_lines(), self.status
        if words and words[-1].startswith(_NOT_PREPARED.get(status or 0, ())):
            return f"{who(self.seat, self.label)} can't be started: {escape(words[-1].partition(b': ')[2], 200)}"
        if status in (126, 127) and words and words[-1].startswith(_NOT_STARTED):
            number = errno.ENOENT if status == 127 else errno.EACCES
            if b"format" in words[-1]:
                number = errno.ENOEXEC
            return f"{who(self.seat, self.label)} can't be started: {start_error(number)}"
        return None

    def sandbox_failure(self, why: str = "it ended without a word") -> str:
        """Return the message for a failed sandbox, which makes the match void. ``why`` is used if the sandbox printed nothing."""
        words = self.log.last_lines()
        reason = escape(words[-1], 200) if words else why
        return f"The sandbox of {who(self.seat, self.label, begins=False)} failed: {reason} - the match is void and nobody loses; try: referee doctor"

    def excess(self, cause: str) -> Excess | None:
        """Return the limit of this sandbox that is the cause of its end; None for a program that ended by itself."""
        if cause in (CRASH, REFUSAL) or (self.level == NONE and cause not in (self.exceeded, TIME)):
            return None
        if cause == DISK and self.exceeded == DISK:
            return Excess("files", _MOST_INODES)
        limits = self.limits
        most = {TIME: 0, MEMORY: limits.memory_bytes, PROCESSES: limits.processes, DISK: limits.scratch_bytes}[cause]
        return Excess(cause, most, self.shared_bytes)

    def load_filter(self) -> None:
        """Pass the system call filter to the sandbox while the program starts."""

    def take_pipes(self) -> tuple[int, int, int]:
        """Return stdin, stdout and stderr. From now on the caller reads and closes them, and finishes the log."""
        self._owns_pipes = False
        fds = self.stdin, self.stdout, self.stderr
        self.stdin = self.stdout = self.stderr = -1
        return fds

    def close_stdin(self) -> None:
        """Let the program read the end of its input."""
        os.close(self.stdin)
        self.stdin = -1

    def read_stdout(self) -> bytes:
        """Return what has come on stdout, perhaps nothing. At its end stdout is closed."""
        try:
            data = os.read(self.stdout, _PIPE_BYTES)
        except BlockingIOError:
            # It has taken back what it had written.
            return b""
        if not data:
            os.close(self.stdout)
            self.stdout = -1
        return data

    def log_stderr(self, milliseconds: int = 0) -> bool:
        """Log what comes on stderr within some time, at most one full pipe; False if nothing comes any more or it is closed."""
        if self.stderr < 0 or not readable([self.stderr]).poll(milliseconds):
            return False
        try:
            data = os.read(self.stderr, _PIPE_BYTES)
        except BlockingIOError:
            return False
        if not data:
            os.close(self.stderr)
            self.stderr = -1
            return False
        self.log.take(data)
        return True

    def close(self) -> None:
        """Close descriptors and release claims; its processes must be gone."""
        if self._owns_pipes:
            # At most one full pipe is left.
            self.log_stderr()
            self.log.close()
            for fd in filter(lambda fd: fd >= 0, self.take_pipes()):
                os.close(fd)


class SandboxedProcess(Process):
    """A bot in bubblewrap; with ``group``, in its own control groups."""

    is_sandbox = True
    home = bubblewrap.HOME
    shared_bytes = bubblewrap.SHARED_MEMORY_BYTES

    def __init__(
        self,
        bot: Bot,
        config: bubblewrap.SandboxConfig,
        limits: Limits,
        level: str,
        group: BotGroups | None,
        user: UserNumber | None,
        give_back: Callable[[], None],
    ) -> None:
        """``limits`` are those of the bot; those of ``config`` have room for what starts it."""
        self.group = group
        self._user = user
        self._is_build = bool(config.builder)
        #: Gives the copy of the bot's files back.
        self._give_back: Callable[[], None] | None = give_back
        # Write it before the sandbox reads it: a filter fits into a pipe.
        filter_read, self._filter = os.pipe()
        self.news_fd, status_write = os.pipe()
        os.set_blocking(self.news_fd, False)
        # The supervisor keeps the writing end open, too, so that the end of a killed referee doesn't start the bot.
        block_read, self._block = os.pipe()
        fds = (
            filter_read,
            status_write,
            block_read,
            *(_opened(path, content) for path, content in bubblewrap.files(config.limits).items()),
        )
        self.held_fds = (os.dup(self._block),)
        line, starts_as = bubblewrap.command(config), bubblewrap.starts_as(config)
        super().__init__(bot, ProgramStart(line, {"PATH": "/usr/bin:/bin"}, "/", fds, starts_as, bubblewrap.STDIN_FD), limits, level)
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
        self.watch = SoftLimits(config.limits.memory_bytes if group is None else 0, 0, _MOST_INODES)

    def load_filter(self) -> None:
        """Pass the system call filter to the sandbox, which waits for it. Compiling it takes as long as starting a process."""
        if self._filter >= 0:
            # A sandbox that has ended already explains it on its stderr.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._filter, seccomp.program(is_build=self._is_build))
            os.close(self._filter)
            self._filter = -1

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

    def stop(self) -> None:
        """Freeze everything inside. Without a freezer, stop its process group, which it can undo."""
        self.is_stopped = True
        if self._freezer is not None:
            self._freezer.freeze()
        else:
            super().stop()

    def go_on(self) -> None:
        """Continue everything inside."""
        self.is_stopped = False
        if self._freezer is not None:
            self._freezer.thaw()
        else:
            super().go_on()

    def is_moving(self) -> bool:
        """Whether the freezer has not reached everything inside yet."""
        return self._freezer is not None and not self._freezer.is_frozen()

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

    def pids(self) -> list[int]:
        """Return all processes inside, including bwrap's inner half."""
        if self.group is not None:
            return self.group.pids()
        return [self._inner, *descendants(self._inner)] if self._inner else []

    def first_pid(self) -> int:
        """Return the program's own process: the first one that the inner half started. Its number doesn't change."""
        if not self._first and self._inner:
            self._first = next(iter(children(self._inner)), 0)
        return self._first

    def quick_seconds(self) -> float:
        """Return the processor time of everything inside if the kernel counts it, else of the first process, in seconds."""
        return super().quick_seconds() if self._account is None else self._account.seconds()

    def clock(self) -> Callable[[], float]:
        """Return a function for the group's account, or for the first process."""
        return self.quick_seconds if self._account is None else self._account.seconds

    def seconds(self) -> float:
        """Processor time of everything inside so far."""
        if self._account is not None:
            return self._account.seconds()
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
        """Return bwrap's report of the exit status; without a report the sandbox itself has failed."""
        self._read_news()
        match = re.search(rb'"exit-code": (\d+)', self._news)
        if match is None:
            self.has_failed = self.exceeded is None and not self.is_over_memory()
            return reported
        code = int(match[1])
        return 128 - code if 128 < code < 128 + signal.NSIG else code

    def is_over_memory(self) -> bool:
        """Whether the kernel has killed something inside for going over the memory cap."""
        return self.group is not None and self.group.memory_kills() > 0

    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """Return the cause of its end; the counters of the control groups have priority."""
        if self.is_over_memory():
            return MEMORY
        cause = super().cause(status, words)
        if cause == CRASH and status != 0 and self.group is not None and self.group.refused_processes():
            return PROCESSES
        return cause

    def may_be_innocent(self, status: int | None, cause: str) -> bool:
        """False also if the counters of its control groups explain the end of the bot."""
        is_counted = self.is_over_memory() or (cause == PROCESSES and self.group is not None and self.group.refused_processes() > 0)
        return not is_counted and super().may_be_innocent(status, cause)

    def is_starved(self) -> bool:
        """True if processes were killed for memory, but none because of the group's own cap."""
        return self.is_over_memory() and self.group is not None and not self.group.met_memory_cap()

    def close(self) -> None:
        """Give up descriptors, claims and the copy of the bot's files."""
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
    # A machine with many processors has more to tell than fits into a pipe.
    fd = os.memfd_create("data")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _signal_group(pid: int, number: int) -> None:
    if pid > 0:
        with contextlib.suppress(OSError):
            # It has ended, or changed its user; its pipes will show which.
            os.killpg(pid, number)


def _clock_of(pid: int) -> int:
    """Return the kernel's number for the processor clock of another process (CPUCLOCK_SCHED)."""
    return (~pid << 3) | 2


def _clock(pid: int) -> float:
    """Return the processor time of a process with all threads, in seconds; 0 if it is gone or there is none."""
    try:
        return time.clock_gettime(_clock_of(pid)) if pid else 0.0
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


def start_error(number: int) -> str:
    """Return why the system refused to start a program, by the number of its error."""
    if number == errno.ENOEXEC:
        return "it is neither a program of this machine nor a script whose first line names one (#!/usr/bin/env python3, for instance)"
    if number == errno.ENOENT:
        return "the file, or the interpreter that its first line names, does not exist"
    if number == errno.EACCES:
        return "the file, or the interpreter that its first line names, may not be run by this user"
    text = os.strerror(number)
    return text[:1].lower() + text[1:]
