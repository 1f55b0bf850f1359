"""The referee's side of a supervisor: starts it, sends requests, reads its reports, and waits for its end."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from referee.isolation import supervisor
from referee.isolation.bot_process import Cleaning
from referee.isolation.copies import Copies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.isolation.bot_process import ProgramStart, SoftLimits
    from referee.isolation.copies import Check

#: How long the supervisor may take to end everything, in seconds.
PATIENCE = 10.0
#: How long supervisor and sandboxes may take to start, in seconds: 200 matches that start at once need half a minute on two cores.
START_PATIENCE = 180.0
#: Runs the supervisor's file as a module, because Python caches compiled modules: compiling takes a third of the start.
_PROGRAM = "import sys; del sys.argv[0]; sys.path.append(sys.argv[0].rpartition('/')[0]); import supervisor; supervisor.main()"
#: A request is sent in pieces of this size, the descriptors with the first.
_PIECE = 1 << 16


def pack(*request: Any) -> bytes:
    """Return a request in the form for supervisor and watchdog."""
    data = marshal.dumps(request)
    return len(data).to_bytes(4, "big") + data


class Supervision:
    """One supervisor with its watchdog, started without bots. ``close`` ends both and all processes below them.

    It serves one match, and another one after each ``renew`` for which ``is_renewed`` is true. ``check`` examines each copy of a program.

    ``reports`` is the descriptor that its reports come on; it reads as closed when the supervisor is gone.
    """

    def __init__(self, check: Check | None = None) -> None:
        ours, theirs = socket.socketpair()
        notes, self._notes = os.pipe()
        # A watchdog that doesn't read must not block the referee.
        os.set_blocking(self._notes, False)
        self._has_notes = True
        self._is_ready = False
        self.reports, reports = os.pipe()
        self._control = ours
        self._cleaning: list[Cleaning] = []
        #: The copies of programs that its matches share.
        self.copies = Copies(self.clean, check)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, supervisor.__file__, str(theirs.fileno())],
                stdin=notes,
                stdout=reports,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                cwd="/",
            )
        except BaseException:
            ours.close()
            os.close(self._notes)
            os.close(self.reports)
            raise
        finally:
            theirs.close()
            os.close(notes)
            os.close(reports)

    @property
    def watchdog(self) -> int:
        """The watchdog's process number. While it lives, all processes of the match are below it."""
        return self._process.pid

    def wait_until_ready(self) -> bool:
        """Wait until supervisor and watchdog are ready; False if they could not be started.

        Create nothing that they must clean up before this returns: the referee can be killed at any moment.
        """
        if not self._is_ready:
            waiting = select.poll()
            waiting.register(self.reports, select.POLLIN)
            self._is_ready = bool(waiting.poll(START_PATIENCE * 1000)) and os.read(self.reports, 1) == b"\n"
        return self._is_ready

    def clean(self, cleaning: Cleaning) -> None:
        """Register what must be removed: trees at the supervisor's end, the rest at the match's. Call this before it is created."""
        self._cleaning.append(cleaning)
        request = pack("clean", *map(list, cleaning))
        self.note(request)
        self._send(request)

    def note(self, request: bytes) -> None:
        """Send a request to the watchdog: a few hundred bytes, which a pipe takes whole or not at all."""
        try:
            os.write(self._notes, request)
        except OSError:
            self._has_notes = False

    def spawn(self, index: int, start: ProgramStart, standard: Sequence[int], held: Sequence[int] = ()) -> None:
        """Start a bot with ``standard`` as its stdin, stdout and stderr. The supervisor keeps ``held`` open.

        All these descriptors can be closed here afterwards.
        """
        with open(os.devnull, "r+b") as null:
            descriptors = start.descriptors(standard, null.fileno())
            request = pack("spawn", index, start.argv, dict(start.env), start.cwd, len(descriptors), len(held), start.user, start.passage)
            self._send(request, [*descriptors, *held])

    def watch(self, index: int, watch: SoftLimits) -> None:
        """Let the supervisor enforce caps that the kernel doesn't enforce."""
        self._send(pack("watch", index, *watch))

    def kill(self, index: int) -> None:
        """Kill a program's process group."""
        self._send(pack("kill", index))

    def renew(self, word: bytes) -> None:
        """Let the supervisor end the match and clean up. It reports the secret word when it can serve the next match."""
        self._send(pack("renew", word))

    def is_renewed(self) -> bool:
        """True if nothing of the match before is left and both processes can serve the next one. Call this after the supervisor's word."""
        if any(os.path.lexists(path) for cleaning in self._cleaning for path in cleaning.folders):
            return False
        self._cleaning = [Cleaning(trees=cleaning.trees) for cleaning in self._cleaning if cleaning.trees]
        self.note(pack("forget"))
        return self._has_notes and self.is_quiet()

    def is_at_work(self) -> bool:
        """True if neither supervisor nor watchdog is stopped; False if the system doesn't show that."""
        pids = [self.watchdog, *supervisor.children(self.watchdog)]
        states = [supervisor.read(f"/proc/{pid}/stat").rpartition(b") ")[2][:1] for pid in pids]
        return len(pids) > 1 and not {b"T", b"t"} & set(states)

    def is_quiet(self) -> bool:
        """True if the watchdog lives and the supervisor has no report, not even of its end."""
        waiting = select.poll()
        waiting.register(self.reports, select.POLLIN)
        return self._process.poll() is None and not waiting.poll(0)

    def go_on(self) -> None:
        """Continue supervisor and watchdog: a bot without a sandbox can stop them, or trace them."""
        for pid in (self.watchdog, *supervisor.children(self.watchdog)):
            _end_tracer(pid, self.watchdog)
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGCONT)

    def _send(self, data: bytes, fds: Sequence[int] = ()) -> None:
        """Send a complete request. If the supervisor is gone, do nothing: its reports show that."""
        with contextlib.suppress(OSError):
            if fds:
                sent = socket.send_fds(self._control, [data[:_PIECE]], list(fds))
                data = data[sent:]
            self._control.sendall(data)

    def end(self) -> None:
        """Let the supervisor kill everything. ``close`` waits for it."""
        self._send(pack("end"))
        self._control.close()
        with contextlib.suppress(OSError):
            os.close(self._notes)
        self._notes = -1
        self.go_on()

    def close(self, *, is_ended: bool) -> bool:
        """Wait for the watchdog after ``end`` and close the descriptors; False if it is still at work.

        ``is_ended``: the reports have ended, so the supervisor has done its work or was killed.
        """
        os.close(self.reports)
        try:
            # It may still be killing processes that fork quickly. Let it continue until nothing is left.
            self._process.wait(PATIENCE if is_ended else 0.1)
        except subprocess.TimeoutExpired:
            return False
        return True

    def clean_up(self) -> None:
        """Remove everything registered that still exists, after all processes have ended: supervisor and watchdog may have been killed."""
        for cleaning in self._cleaning:
            for path, text in cleaning.writes:
                supervisor.attempt(supervisor.write, path, text)
        supervisor.remove(self._cleaning)


def discard(supervision: Supervision) -> None:
    """End a supervision that serves no match."""
    supervision.end()
    if supervision.close(is_ended=True):
        supervision.clean_up()


def _end_tracer(pid: int, watchdog: int) -> None:
    """Kill the tracer of a process if it is below the watchdog. No signal ends a stop by a tracer, only the tracer's own end does."""
    tracer = next(
        (int(line.split()[1]) for line in supervisor.read(f"/proc/{pid}/status").splitlines() if line.startswith(b"TracerPid")), 0
    )
    above = tracer
    while above not in (0, watchdog):
        fields = supervisor.read(f"/proc/{above}/stat").rpartition(b") ")[2].split()
        above = int(fields[1]) if fields else 0
    if above == watchdog:
        supervisor.send_signal(tracer, signal.SIGKILL)
