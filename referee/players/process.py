"""Bots as processes: the programs of one match, started below a supervisor, and the pipes to each."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import StartError
from referee.players import supervisor
from referee.wire.lines import LineBuffer
from referee.wire.shown import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.players.log import Log

#: How long the supervisor may take to start a program, and to end everything, in seconds.
PATIENCE = 10.0

#: Processor time for a question that a bot may use outside its billed time, in seconds: to wake up and to fall asleep again.
UNBILLED = 0.0002


class Program(NamedTuple):
    """What to run for one player: ``argv[0]`` is an absolute path; ``cwd`` the folder that it runs in."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    label: str


class ProcessPlayer:
    """One running bot: our ends of its pipes, what has come over them, and how it ended.

    ``status`` is its exit status once it has one, negative for a signal. Descriptors are -1 when closed.
    """

    is_local = False

    def __init__(self, seat: str, label: str, log: Log, fds: tuple[int, int, int], max_line_bytes: int) -> None:
        self.seat = seat
        self.label = label
        self.name = label
        self.log = log
        self.stdin, self.stdout, self.stderr = fds
        self.has_answered = (self.stdout, select.POLLIN)
        self.lines = LineBuffer(max_line_bytes)
        self.unsent = b""
        self.pid = 0
        self.status: int | None = None
        self.is_stopped = False
        self.billed = 0.0
        self._seen: tuple[float, float] | None = None

    def ponders(self, questions: int) -> bool:
        """Whether it has worked out of turn since this was last called, ``questions`` questions ago.

        It has if its processor time grew by more than what it was billed, or if it has children, whose time isn't seen here. The
        first call only takes the bearings.
        """
        used = self.used_seconds()
        seen, self._seen = self._seen, (used, self.billed)
        if seen is None:
            return False
        unbilled = (used - seen[0]) - (self.billed - seen[1])
        return unbilled > questions * UNBILLED or bool(supervisor.children(self.pid))

    def used_seconds(self) -> float:
        """Processor time of its first process with all threads, in seconds; 0 where the system can't tell."""
        try:
            # The kernel's name for the processor clock of another process (CPUCLOCK_SCHED).
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return 0.0

    def stop(self) -> None:
        """Stop its process group."""
        self.is_stopped = True
        _signal_group(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue its process group."""
        self.is_stopped = False
        _signal_group(self.pid, signal.SIGCONT)

    def send(self, data: bytes) -> bool:
        """Write without waiting; what doesn't fit stays in ``unsent``. False if the bot has closed its stdin."""
        try:
            sent = os.write(self.stdin, data)
            if sent == len(data):
                self.unsent = b""
                return True
        except BlockingIOError:
            sent = 0
        except (BrokenPipeError, OSError):
            self.unsent = b""
            return False
        self.unsent = data[sent:]
        return True

    def read_stdout(self) -> bytes | None:
        """What is there now: None if nothing is, empty at the end."""
        try:
            return os.read(self.stdout, 65_536)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def drain_stderr(self) -> bool:
        """Take in what is there now, a pipe's worth at most; False at the end."""
        try:
            data = os.read(self.stderr, 65_536)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            return False
        self.log.take(data)
        return True

    def close_stdin(self) -> None:
        """Let it read the end of its input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Give up all descriptors and finish the log."""
        self.close_stdin()
        for name in ("stdout", "stderr"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)
        self.log.close()

    def shown_label(self) -> str:
        """What stands for it on the command line, harmless to show."""
        return plain(self.label, 80)

    def ending(self) -> str:
        """How it ended, as the middle of a sentence: how it exited and the last line that it wrote to stderr."""
        if self.status is None:
            how = "closed its stdout"
        elif self.status < 0:
            try:
                how = f"was killed by {signal.Signals(-self.status).name}"
            except ValueError:
                how = f"was killed by signal {-self.status}"
        else:
            how = f"exited with status {self.status}"
        last = self.log.last_line()
        return f"{how}; the last line of its stderr: {plain(last, 160)}" if last else how


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except OSError:
        pass  # It has ended, or changed its user: its pipes will tell.


class Crew:
    """All bots of one match that are processes, with the supervisor that looks after them."""

    def __init__(self) -> None:
        self.players: dict[str, ProcessPlayer] = {}
        self.status_fd = -1
        self.is_lost = False
        self._control = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._order: list[ProcessPlayer] = []
        self._reports = b""
        self._errors: dict[int, str] = {}
        self._children_before: frozenset[int] = frozenset()
        self._was_subreaper = False

    def launch(self, programs: Mapping[str, Program], logs: Mapping[str, Log], max_line_bytes: int = 65_536) -> None:
        """Begin to start the programs; ``wait`` tells how that went."""
        if not programs:
            return
        self._children_before = frozenset(supervisor.children(os.getpid()))
        theirs: list[int] = []
        requests = []
        for index, (seat, program) in enumerate(programs.items()):
            fds = [os.pipe(), os.pipe(), os.pipe()]
            child = [fds[0][0], fds[1][1], fds[2][1]]
            ours = (fds[0][1], fds[1][0], fds[2][0])
            for fd in ours:
                os.set_blocking(fd, False)
            theirs += child
            player = ProcessPlayer(seat, program.label, logs[seat], ours, max_line_bytes)
            self.players[seat] = player
            self._order.append(player)
            requests.append(supervisor.pack("spawn", index, program.argv, dict(program.env), program.cwd, tuple(child)))
        self._start_supervisor(theirs, supervisor.pack("pipes", tuple(theirs)) + b"".join(requests))
        supervisor.become_subreaper()

    def _start_supervisor(self, theirs: list[int], requests: bytes) -> None:
        control_read, self._control = os.pipe()
        self.status_fd, status_write = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__],
                stdin=control_read,
                stdout=status_write,
                pass_fds=theirs,
                start_new_session=True,
                cwd="/",
            )
        finally:
            for fd in (control_read, status_write, *theirs):
                os.close(fd)
        _enlarge(self._control)
        self._request(requests)

    def _request(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._control, data) :]

    def wait(self) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why."""
        deadline = perf_counter() + PATIENCE
        waiting = select.poll()
        if self.status_fd >= 0:
            waiting.register(self.status_fd, select.POLLIN)
        while any(not player.pid and index not in self._errors for index, player in enumerate(self._order)):
            left = deadline - perf_counter()
            if not waiting.poll(min(1.0, max(0.0, left)) * 1000) and left > 0 and self._process is not None:
                # A bot that has started may have stopped the supervisor.
                self._process.send_signal(signal.SIGCONT)
                continue
            if left <= 0 or not self.take_reports():
                raise StartError("The supervisor process of the match did not start the bots; is the machine out of processes or memory?")
        for index, error in self._errors.items():
            player = self._order[index]
            raise StartError(f"The {player.seat} ({plain(player.label)}) can't be started: {error}.")

    def take_reports(self) -> bool:
        """Read what the supervisor reports; False if it is gone."""
        data = os.read(self.status_fd, 65_536)
        if not data:
            self.is_lost = True
            return False
        *lines, self._reports = (self._reports + data).split(b"\n")
        try:
            for line in lines:
                self._take_report(*line.split())
        except (TypeError, ValueError, IndexError):
            # The supervisor writes no such thing: a bot has got at its pipe.
            self.is_lost = True
            return False
        return True

    def _take_report(self, index: bytes, what: bytes, number: bytes) -> None:
        player = self._order[int(index)]
        if what == b"pid":
            player.pid = int(number)
        elif what == b"status":
            player.status = int(number)
        else:
            self._errors[int(index)] = _start_error(int(number))

    def kill(self, seat: str) -> None:
        """End one bot's process group now."""
        self._request(supervisor.pack("kill", self._order.index(self.players[seat])))

    def pids(self) -> list[int]:
        """The supervisor and everything below it."""
        return supervisor.descendants(self._process.pid) if self._process else []

    def close(self) -> None:
        """End every process of the match and everything that they left, then give up all descriptors.

        An impatient second Ctrl-C waits until this is done.
        """
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        try:
            self._end_supervisor()
            for player in self._order:
                if player.stderr >= 0:
                    # What was in the pipe when the bot ended still belongs to its log: a pipe's worth at most.
                    player.drain_stderr()
                player.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _end_supervisor(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        self._request(supervisor.pack("end"))
        os.close(self._control)
        # A bot may have stopped it.
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            # It is still killing what forks as fast as it can, and goes on until nothing is left: better than to end it now.
            pass
        else:
            self._end_adopted()
        os.close(self.status_fd)

    def _end_adopted(self) -> None:
        """End what came to us because the supervisor was killed: new children in sessions other than ours."""
        for _ in range(1000):
            mine = os.getsid(0)
            adopted = [pid for pid in supervisor.children(os.getpid()) if pid not in self._children_before and _session(pid) != mine]
            if not adopted:
                break
            for pid in adopted:
                for found in (*supervisor.descendants(pid), pid):
                    supervisor.send_signal(found, signal.SIGKILL)
            for pid in adopted:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        supervisor.become_subreaper(on=False)


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _enlarge(fd: int) -> None:
    """Let a pipe hold a request with a large environment."""
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(fd, getattr(fcntl, "F_SETPIPE_SZ", 1031), 1 << 20)


def _start_error(number: int) -> str:
    if number == errno.ENOEXEC:
        return "it is neither a program of this machine nor a script whose first line names one (#!/usr/bin/env python3, for instance)"
    if number == errno.ENOENT:
        return "the file, or the interpreter that its first line names, does not exist"
    if number == errno.EACCES:
        return "the file, or the interpreter that its first line names, may not be run by this user"
    text = os.strerror(number)
    return text[:1].lower() + text[1:]
