"""Commands of the referee in processes that start within milliseconds.

A server process imports the command line once and then forks a child for each command. Such a child is an ordinary process with an exit
status, descriptors, signals and a folder of its own; it runs ``referee.__main__.main`` and ends as Python ends. Only the start of Python, the
imports and taking all of that apart at the end are saved, which take longer than most commands. Tests of the start itself run
``python -m referee``.

Run as a program, this file is the server.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import warnings
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TextIO

from referee.support.processes import start_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Names the test whose referee is to be killed, in the environment of what it starts.
MARK = "REFEREE_TEST_OF"
#: Lets the bots of a command of root run as root, as the fixture ``same_user`` says.
SAME_USER = "REFEREE_TEST_SAME_USER"
#: The variable with the path of the program by whose name a command was called.
CALLED_AS = "REFEREE_CALLED_AS"

_NUMBER = struct.Struct("=i")
_MOST_BYTES = 1 << 17
#: What most commands import when they run.
_IMPORTED = (
    "PIL.Image",
    "PIL.ImageDraw",
    "ctypes",
    "example_bots",
    "importlib.metadata",
    "psutil",
    "referee.match.request",
    "referee.pages.match_pages",
    "referee.arena.arena",
    "referee.author.check.run",
    "referee.pages.pictures",
    "referee.grading.grading",
    "referee.handins.collect",
    "referee.isolation.launcher",
    "referee.tournament.comparison",
    "referee.tournament.local",
    "referee.tournament.many",
    "referee.tournament.ratings",
    "referee.league.report",
    "referee.tournament.roles",
    "referee.tournament.sequential",
    "referee.match.match",
    "referee.pages.render",
    "referee.players.names",
    "referee.replay.analysis_report",
    "referee.replay.match_analysis",
    "referee.replay.reader",
    "referee.pages.serve",
    "scipy.optimize",
    "tomli",
    "typer.rich_utils",
)


class Running:
    """A command that runs, with those members of ``subprocess.Popen`` that tests use; text is UTF-8."""

    def __init__(self, report: int, stdout: int, stderr: int) -> None:
        self._report = report
        self.pid = _NUMBER.unpack(os.read(report, _NUMBER.size))[0]
        self.stdout = open(stdout, encoding="utf-8")
        self.stderr = open(stderr, encoding="utf-8")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status; None as long as it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float) -> int:
        """The exit status, once there is one."""
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("referee", timeout)
            self.returncode = _NUMBER.unpack(os.read(self._report, _NUMBER.size))[0]
            os.close(self._report)
        return self.returncode

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds, and ask for it fifty times a second only, as asking keeps a core from the command; it must not end."""
        while not holds():
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"It has ended with status {self.wait(0.02)}: {self.communicate(60)}")

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it still writes to stdout and stderr until both are closed; the exit status is known then."""
        read: dict[int, str] = {}
        end = monotonic() + timeout
        files = (self.stdout, self.stderr)
        readers = [Thread(target=_read_all, args=(file, number, read), daemon=True) for number, file in enumerate(files)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(max(0.0, end - monotonic()))
        if len(read) < 2:
            self.kill()
            raise subprocess.TimeoutExpired("referee", timeout)
        self.wait(max(0.0, end - monotonic()))
        return read[0], read[1]

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _read_all(file: TextIO, number: int, read: dict[int, str]) -> None:
    # Another thread of the test may have read and closed it.
    text = "" if file.closed else file.read()
    file.close()
    read[number] = text


class Commands:
    """The server, as its user sees it."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Some imports look at these variables.
            environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, pass_fds=[theirs.fileno()])

    def close(self) -> None:
        """End the server."""
        self._control.close()
        self._server.wait()

    def start(
        self, *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, words: str = "", is_joined: bool = False
    ) -> Running:
        """Start a command that reads ``words`` on stdin; ``env`` adds to the environment; ``is_joined``: stderr goes to stdout."""
        # The pipe holds them all before anybody reads.
        assert len(words) < 4096
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **(env or {})}
        request = json.dumps({"arguments": [*map(str, arguments)], "cwd": str(cwd), "env": environment}).encode()
        assert len(request) < _MOST_BYTES
        stdin, feed = os.pipe()
        os.write(feed, words.encode())
        os.close(feed)
        outputs = [os.pipe() for _ in range(3)]
        stdout, stderr, report = (inside for _, inside in outputs)
        socket.send_fds(self._control, [request], [stdin, stdout, stdout if is_joined else stderr, report])
        for fd in (stdin, stdout, stderr, report):
            os.close(fd)
        stdout, stderr, report = (outside for outside, _ in outputs)
        return Running(report, stdout, stderr)

    def run(
        self, *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, words: str = "", timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as ``subprocess.run`` does."""
        running = self.start(*arguments, cwd=cwd, env=env, words=words)
        stdout, stderr = running.communicate(timeout)
        return subprocess.CompletedProcess(arguments, running.wait(0), stdout, stderr)


class _Request(NamedTuple):
    """A command to run: its standard descriptors, and where to report its number and status."""

    arguments: list[str]
    cwd: str
    env: dict[str, str]
    fds: list[int]
    report: int


def _requests(control: socket.socket) -> _Request:
    """Serve forever; return in each child with what it has to run."""
    running: dict[int, int] = {}

    def reap() -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                report = running.pop(found[0])
                with contextlib.suppress(BrokenPipeError):
                    os.write(report, _NUMBER.pack(os.waitstatus_to_exitcode(found[1])))
                os.close(report)

    # A handler alone could be late: Python runs it before or after a call that waits, but not if the signal comes just before the wait.
    signals, wakeup = os.pipe()
    for fd in (signals, wakeup):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    while True:
        ready = select.select([control.fileno(), signals], [], [])[0]
        if signals in ready:
            os.read(signals, 4096)
            reap()
        if control.fileno() not in ready:
            continue
        data, fds, _, _ = socket.recv_fds(control, _MOST_BYTES, 4, socket.MSG_CMSG_CLOEXEC)
        if not data:
            os._exit(0)
        *standard, report = fds
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _Request(**json.loads(data), fds=standard, report=report)
        os.write(report, _NUMBER.pack(pid))
        running[pid] = report
        for fd in standard:
            os.close(fd)


def _become(request: _Request) -> None:
    """Make this child what ``python -m referee`` would be, or what the program that ``CALLED_AS`` names would be."""
    for number, fd in enumerate(request.fds):
        os.dup2(fd, number)
    os.closerange(3, max(request.report, *request.fds) + 64)
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.env)
    import referee

    if os.environ.get(SAME_USER):
        from referee.isolation import users

        users.are_needed = lambda: False
    sys.argv = [os.environ.get(CALLED_AS) or str(Path(referee.__file__).with_name("__main__.py")), *request.arguments]
    sys.path[0] = request.cwd


class _Worker:
    """A process that this command forked, with those members of ``subprocess.Popen`` that pools and live pages use."""

    def __init__(self, pid: int, stdin: int | None) -> None:
        self.pid = pid
        self.stdin = None if stdin is None else open(stdin, "wb")
        self._status: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once there is one."""
        if self._status is None:
            fd = os.pidfd_open(self.pid)
            try:
                if not select.select([fd], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            finally:
                os.close(fd)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        if self._status is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _start_worker(
    module: str, *arguments: str, pass_fds: Sequence[int] = (), stdin: int = subprocess.DEVNULL, stdout: int | None = None
) -> _Worker | subprocess.Popen[bytes]:
    """Do what ``start_module`` does for a worker or the server of a match's pages, but fork this process, which has imported everything."""
    from referee.isolation import launcher

    if os.environ.get(MARK) or threading.active_count() > 1 or not hasattr(os, "pidfd_open") or stdout == subprocess.PIPE:
        return start_module(module, *arguments, pass_fds=pass_fds, stdin=stdin, stdout=stdout)
    inside, feed = os.pipe() if stdin == subprocess.PIPE else (os.open(os.devnull, os.O_RDWR), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(inside)
        return _Worker(pid, feed)
    # What the command tells its user, a worker doesn't.
    launcher._listeners.clear()
    status = 1
    try:
        paths = [*map(os.path.abspath, filter(None, sys.path))]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        sys.path[:] = ["/", *paths]
        os.setsid()
        os.chdir("/")
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError):
                # Python itself ignores these two.
                signal.signal(number, signal.SIG_IGN if number in {signal.SIGPIPE, signal.SIGXFSZ} else signal.SIG_DFL)
        os.dup2(inside, 0)
        if stdout == subprocess.DEVNULL:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        for low, high in pairwise((2, *sorted(pass_fds), 1 << 16)):
            os.closerange(low + 1, high)
        signal.set_wakeup_fd(-1)
        sys.argv = [module, *arguments]
        gc.enable()
        del sys.modules[module]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        # What the command has begun is its own: it is neither flushed nor cleaned up here.
        os._exit(status)


def _build_commands() -> None:
    """Make what typer makes of all commands, once: it takes as long as the rest of a short command."""
    from typer import main as typer_main

    from referee.cli.main import app

    made = typer_main.get_command(app)
    for command in [made, *getattr(made, "commands", {}).values()]:
        for parameter in [each for one in (command, *getattr(command, "commands", {}).values()) for each in one.params]:
            # Newer versions make a parser of each type at its first use.
            getattr(parameter, "get_runtime_param", lambda: None)()
    vars(typer_main)["get_command"] = lambda _: made


def import_all() -> None:
    """Import what commands need, also what typer, pydantic and the table of games import at the first use, and make what pages consist of."""
    # A process that forks has no other threads.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import pydantic
    import typer

    from referee import games
    from referee.isolation import confinement
    from referee.pages import page, render

    for name in _IMPORTED:
        import_module(name)
    for name in games.names():
        games.get(name)
    templates = render._environment()
    for name in templates.list_templates():
        templates.get_template(name)
        page.asset(f"pages/{Path(name).stem}.js")
    page._viewer()
    # The library that makes filters of system calls is looked for by programs of the system.
    confinement.refusal()
    pydantic.create_model("Example", number=(int, 1))
    example = typer.Typer()
    example.command()(lambda: None)
    example([], standalone_mode=False)
    _build_commands()


def _leave(code: object) -> None:
    """End as Python ends after SystemExit, but leave all objects to the kernel. Return if an output can't be flushed: Python has words for that."""
    status = 0 if code is None else code
    if not isinstance(status, int):
        return
    threading._shutdown()  # type: ignore[attr-defined]  # what Python calls first
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status & 0xFF)


def read_to_end(terminal: int) -> bytes:
    """Everything that is written to the other side of a terminal until its last writer has gone; the terminal is closed then."""
    written = b""
    while True:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    os.close(terminal)
    return written


if __name__ == "__main__":
    # As the command line itself does: what is loaded at the start stays.
    gc.disable()
    import_all()
    for name in ("referee.tournament.local", "referee.pages.match_pages"):
        vars(import_module(name))["start_module"] = _start_worker
    gc.freeze()
    _become(_requests(socket.socket(fileno=int(sys.argv[1]))))
    from referee.__main__ import main

    try:
        main()
    except SystemExit as end:
        _leave(end.code)
        raise
    _leave(0)
