"""A running bot: stops, measures and ends it, and finds the cause of its end.

``BotProcess`` is for the levels ``limits`` and ``none``, which don't separate the bot from the machine.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import MatchVoid
from referee.isolation import machine
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
    from referee.isolation.limits import Limits
    from referee.isolation.log import Log

#: The most files in the scratch space of a sandbox.
MOST_INODES = 10_000
_PIPE_BYTES = 65_536
#: Messages of the wrapper programs, by exit status, when they can't set what the bot needs, and when they can't start the bot.
_NOT_PREPARED = {125: (b"relay: ", b"landlock: "), 1: (b"prlimit: failed to set ",)}
_NOT_STARTED = (b"prlimit: failed to execute", b"setpriv: failed to execute", b"relay: failed to execute", b"landlock: failed to execute")
#: The flag of a process that is ending, <linux/sched.h>: PF_EXITING.
_EXITING = 4


class ProgramStart(NamedTuple):
    """The data for starting the program: it inherits the descriptors ``fds`` as 3, 4 and so on.

    ``user`` is the user and group ID under which it starts, without further groups; None for those of the supervisor. ``passage`` are the
    arguments of ``user_start.enter`` for a program that only the supervisor separates from root, else None. ``pipes_at`` is the
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
        """Return what the program inherits, from 0 on. ``standard`` are the bot's stdin, stdout and stderr, ``null`` is open to /dev/null."""
        if not self.pipes_at:
            return [*standard, *self.fds]
        return [null, null, standard[2], *self.fds[: self.pipes_at - 3], *standard[:2], *self.fds[self.pipes_at - 3 :]]


class SoftLimits(NamedTuple):
    """Caps that the supervisor enforces because the kernel doesn't: bytes of memory, processes, files in the scratch space; 0: no cap."""

    memory_bytes: int = 0
    processes: int = 0
    inodes: int = 0


class Cleaning(NamedTuple):
    """What to clean up: ``writes`` let frozen processes end; ``folders`` are removed after the processes, ``trees`` after the last match."""

    writes: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


class BotProcess:
    """A running bot, or one whose match has ended, that isn't separated from the machine; the subclasses separate it.

    ``stdin``, ``stdout`` and ``stderr`` are the referee's ends of its pipes. ``pid`` is its process number once it runs, ``status`` its exit
    status once it has ended, negative for a signal. ``is_sandbox``: it is separated from the machine. ``holds``: nothing inside can undo a
    stop. ``is_exact``: ``seconds`` counts all processes exactly. ``is_doubtful``: the machine may be to blame for its end.
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
    #: The descriptor for reports about the start (-1: none), and those that the supervisor keeps open.
    news_fd = -1
    held_fds: tuple[int, ...] = ()
    #: The number of bytes that it may write to /dev/shm besides its limit on the disk.
    shared_bytes = 0
    watch = SoftLimits()
    #: The bot's path for the copy of its files; "" if it runs without a copy.
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
            # Leagues and gradings publish logs and replays, which must not show folders of this machine.
            log.rename_files(lambda data: self.file_names().published(data))
        elif self.is_sandbox:
            log.rename_files(lambda data: self.file_names().named_bytes(data))
        return stdin, stdout, stderr

    def file_names(self) -> FileNames:
        """Return the names of its files as it sees them and as its author knows them."""
        if self._file_names is None:
            self._file_names = file_names(self.bot, is_sandbox=self.is_sandbox, home=self.home)
        return self._file_names

    def hand_over(self) -> None:
        """Close the descriptors that the supervisor has taken over: those of the start, and those that it keeps open."""
        for fd in (*self.start.fds, *self.held_fds):
            os.close(fd)
        self.held_fds = ()

    def begun(self, pid: int) -> None:
        """Note that the program was started with this process number."""
        self.pid = pid

    def end(self, reported: int) -> None:
        """Note that the program has ended with this exit status, as the supervisor saw it."""
        self.status = self.exit_status(reported)

    def exceed(self, cap: str) -> None:
        """Note the cap that the bot exceeded, according to the supervisor."""
        self.exceeded = cap

    def admit(self, before_start: Callable[[int], None] | None = None) -> bool:
        """Read reports about the start; True when the program runs. Without a sandbox there are no reports."""
        return True

    def stop(self) -> None:
        """Stop it between its turns. Unless it ``holds``, the bot can undo this."""
        self.is_stopped = True
        _signal_group(self.first_pid(), signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue it."""
        self.is_stopped = False
        _signal_group(self.first_pid(), signal.SIGCONT)

    def is_moving(self) -> bool:
        """Return whether a freeze hasn't yet reached all its processes."""
        return False

    def stand_still(self) -> None:
        """Wait until a freeze has reached all its processes."""

    def pids(self) -> list[int]:
        """Return its known processes."""
        return [self.pid, *descendants(self.pid)]

    def first_pid(self) -> int:
        """Return the number of the program's own process."""
        return self.pid

    def below(self) -> list[int]:
        """Return all processes below the program's own, parents first."""
        return descendants(self.first_pid())

    def has_children(self) -> bool:
        """Return whether there are processes below the one that was started."""
        return bool(children(self.pid))

    def quick_seconds(self) -> float:
        """Return its processor time in seconds by one reading: of all processes if the kernel counts that, else of the first one."""
        return _clock(self.first_pid())

    def clock(self) -> Callable[[], float]:
        """Return a fast function for ``quick_seconds``. It may raise OSError after the program's end."""
        return partial(time.clock_gettime, _clock_of(self.pid))

    def seconds(self) -> float:
        """Return the processor time of all its processes, in seconds: exact if the kernel counts it, else with ended children in ticks."""
        first = self.first_pid()
        return sum(used_seconds(pid) for pid in (first, *descendants(first)))

    def evidence_seconds(self) -> float:
        """Return the processor time that is evidence for starving the referee, in seconds; cheap enough while clocks run."""
        # Without a sandbox a bot can have any number of processes, and reading all of them would cost the others time.
        return self.quick_seconds()

    def is_over_memory(self) -> bool:
        """Return whether the kernel has killed something inside for going over the memory cap."""
        return False

    def is_starved(self) -> bool:
        """True if the kernel has killed one of its processes for lack of memory although the bot was within its memory cap."""
        return False

    def kill(self) -> None:
        """Kill all its processes now, if the supervisor's kill isn't enough."""

    def exit_status(self, reported: int) -> int:
        """Return the program's exit status, negative for a signal, from the status that the supervisor saw."""
        return reported

    def cause(self, status: int | None, words: Iterable[bytes]) -> str:
        """Return the cause of its end, from the kernel's counters, or else from the program's last lines."""
        return cause_of(status, words) if self.exceeded is None else self.exceeded

    def may_be_innocent(self, status: int | None, cause: str) -> bool:
        """True if the machine, not the bot, may be to blame for the bot's end."""
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
        """Return the message for a failed sandbox, which voids the match. ``why`` is the reason if the sandbox printed nothing."""
        words = self.log.last_lines()
        reason = escape(words[-1], 200) if words else why
        return f"The sandbox of {who(self.seat, self.label, begins=False)} failed: {reason} - the match is void and nobody loses; try: referee doctor"

    def excess(self, cause: str) -> Excess | None:
        """Return the limit that caused its end; None for a program that ended by itself."""
        if cause in (CRASH, REFUSAL) or (self.level == NONE and cause not in (self.exceeded, TIME)):
            return None
        if cause == DISK and self.exceeded == DISK:
            return Excess("files", MOST_INODES)
        limits = self.limits
        most = {TIME: 0, MEMORY: limits.memory_bytes, PROCESSES: limits.processes, DISK: limits.scratch_bytes}[cause]
        return Excess(cause, most, self.shared_bytes)

    def load_filter(self) -> None:
        """Pass the system call filter to the sandbox while the program starts."""

    def take_pipes(self) -> tuple[int, int, int]:
        """Return the referee's ends of stdin, stdout and stderr. From now on the caller reads and closes them, and finishes the log."""
        self._owns_pipes = False
        fds = self.stdin, self.stdout, self.stderr
        self.stdin = self.stdout = self.stderr = -1
        return fds

    def close_stdin(self) -> None:
        """Let the program read the end of its input."""
        os.close(self.stdin)
        self.stdin = -1

    def read_stdout(self) -> bytes:
        """Return the available output on stdout, perhaps none. At its end stdout is closed."""
        try:
            data = os.read(self.stdout, _PIPE_BYTES)
        except BlockingIOError:
            # The bot has read its own output back.
            return b""
        if not data:
            os.close(self.stdout)
            self.stdout = -1
        return data

    def log_stderr(self, milliseconds: int = 0) -> bool:
        """Log the output on stderr within some time, at most one full pipe; False without output or at its end."""
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


def is_ending(pid: int) -> bool:
    """True if a process is ending or has ended, so that a report of its exit status is certain to follow."""
    fields = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    return not fields or fields[0] in b"ZX" or bool(int(fields[6]) & _EXITING)


def _signal_group(pid: int, number: int) -> None:
    if pid > 0:
        with contextlib.suppress(OSError):
            # It has ended or changed its user; its pipes will show which.
            os.killpg(pid, number)


def _clock_of(pid: int) -> int:
    """Return the kernel's number for the processor clock of another process (CPUCLOCK_SCHED)."""
    return (~pid << 3) | 2


def _clock(pid: int) -> float:
    """Return the processor time of a process with all threads, in seconds; 0 if it is gone or never existed."""
    try:
        return time.clock_gettime(_clock_of(pid)) if pid else 0.0
    except OSError:
        return 0.0


def used_seconds(pid: int) -> float:
    """Processor time of a process and of its children that have ended, in seconds; 0 if it is gone."""
    return _clock(pid) + ended_children(pid)


_TICKS = os.sysconf("SC_CLK_TCK")


def ended_children(pid: int) -> float:
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
