"""Bots as processes: the programs of one match, each in its cell, started below a supervisor, and the pipes to each."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import MatchVoid, StartError
from referee.isolation import sandbox as cells
from referee.isolation import seccomp, supervisor
from referee.isolation.level import Isolation
from referee.isolation.supervision import PATIENCE, START_PATIENCE, Supervision
from referee.players import crash_advice, crash_report
from referee.players.faults import CRASHED, EXCEEDED, Fault
from referee.players.own_files import OwnFiles, own_files
from referee.wire.escape import plain
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.isolation.program import Program
    from referee.isolation.sandbox import Cell
    from referee.players.log import Log

#: What the programs before it say when they can't become the bot.
_NOT_STARTED = (b"prlimit: failed to execute", b"setpriv: failed to execute", b"relay: failed to execute", b"landlock: failed to execute")

#: How long news of the supervisor's end may take, in milliseconds.
_NEWS_MS = 500
_NO_SUPERVISOR = "The supervisor process of the match did not start the bots: the match is void; is the machine out of processes or memory?"

#: What to say when no bot can have killed the supervisor.
SUPERVISOR_KILLED = (
    "The supervisor process of the match was killed from outside, which no bot in a sandbox can do: the match is void and nobody loses."
)

#: Processor time for a question that a bot may use outside its billed time, in seconds: to wake up and to fall asleep again.
UNBILLED = 0.0002


class ProcessPlayer:
    """One running bot: our ends of its pipes, what has come over them, and how it ended.

    ``status`` is its exit status once it has one, negative for a signal. Descriptors are -1 when closed.
    """

    #: False for who is no process of ours, and so neither exits nor can be ended.
    is_process = True
    #: Whether what it says before it is asked is its answer to the questions that come, rather than a fault.
    keeps_early = False
    #: How a line begins that answers a question from before the match, if one may still come; it is dropped.
    overdue = b""
    #: How a line of it is told of.
    writes_line = "wrote a stdout line"
    #: How it is told of that nothing more can come from it though it lives.
    hangs_up = "closed its stdout"
    #: Whether a player who is no process has left while it owed nothing.
    has_left = False

    def __init__(self, seat: str, label: str, log: Log, fds: tuple[int, int, int], cell: Cell) -> None:
        self.cell = cell
        self.program: Program | None = None
        self.seat = seat
        self.label = label
        self.log = log
        self.stdin, self.stdout, self.stderr = fds
        self.has_answered = (self.stdout, select.POLLIN)
        self.lines = LineBuffer(cell.limits.line_bytes)
        self.unsent = b""
        self.pid = 0
        self.status: int | None = None
        self.is_stopped = False
        self.billed = 0.0
        self._seen: tuple[float, float] | None = None
        #: The highest reading of its processor time so far, and what it used for its last answer, in seconds.
        self.used_before = self.last_used = 0.0
        #: Processor time so far, in the cheapest way there is; OSError once it is gone.
        self.read_clock: Callable[[], float] = cell.quick_seconds

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
        return unbilled > questions * UNBILLED or (not self.cell.is_exact and bool(supervisor.children(self.pid)))

    def used_seconds(self) -> float:
        """Processor time so far, in seconds, as far as a look on every question may cost; 0 where the system can't tell."""
        return self.cell.quick_seconds()

    def newly_used(self, thoroughly: bool = False) -> float:  # noqa: FBT001, FBT002 - one call a question
        """Processor time since this was last called, in seconds; ``thoroughly`` also where that takes a walk through its processes.

        A walk can miss a process that ends meanwhile, so that a later reading is less. Such a dip bills nothing, and what comes after
        it only counts beyond the highest reading: else all that was billed before would be billed again.
        """
        now = self.cell.seconds() if thoroughly else self.cell.quick_seconds()
        used = now - self.used_before
        if used <= 0.0:
            self.last_used = 0.0
            return 0.0
        self.used_before = now
        self.last_used = used
        return used

    def uses(self, thoroughly: bool = False) -> float:  # noqa: FBT001, FBT002 - as above
        """Processor time since ``newly_used`` was last called, in seconds."""
        return max(0.0, (self.cell.seconds() if thoroughly else self.cell.quick_seconds()) - self.used_before)

    def stop(self) -> None:
        """Stop it between its turns."""
        self.is_stopped = True
        self.cell.stop()

    def go_on(self) -> None:
        """Let it go on."""
        self.is_stopped = False
        self.cell.go_on()

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

    def let_go(self) -> None:
        """It has failed and is asked no more; who is no process of ours can't be ended."""

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
        """How it ended, as the middle of a sentence: a limit that it met, or how it exited, with what its stderr tells of that."""
        words = self.log.last_lines()
        cause = self.cell.cause(self.status, words)
        if cause != cells.CRASH:
            how = self.cell.over(cause)
        elif self.status is None:
            how = self.hangs_up
        elif self.status < 0:
            try:
                how = f"was killed by {signal.Signals(-self.status).name}"
            except ValueError:
                how = f"was killed by signal {-self.status}"
        else:
            how = f"exited with status {self.status}"
        text, own = self.log.tail(), self.own_files()
        advice = crash_advice.advice(self.program, text, self.status, is_sandbox=self.cell.is_sandbox) if self.program is not None else ""
        return f"{how}{crash_report.quoted(text, own, self.status)}{'. ' + advice if advice else ''}"

    def own_files(self) -> OwnFiles:
        """The files of its program, with the paths that its author knows."""
        return own_files(self.program, is_sandbox=self.cell.is_sandbox) if self.program is not None else OwnFiles()

    def fault(self, text: str) -> Fault:
        """The fault of a program that has ended: which kind, and for machines what is known of its end."""
        words = self.log.last_lines()
        cause = self.cell.cause(self.status, words)
        kind = CRASHED if cause == cells.CRASH else EXCEEDED
        own = self.own_files()
        return Fault(kind, text, None, cells.facts(self.status, [own.named(word.decode("utf-8", "replace")) for word in words], cause))

    def is_lost(self) -> bool:
        """Whether we failed it, so that its end is nobody's fault."""
        return self.cell.has_failed

    def start_refusal(self) -> str | None:
        """Why its program could not be started inside its cell, None if it was."""
        words = self.log.last_lines()
        if self.status == 125 and words and words[-1].startswith(b"relay: "):
            return f"The {self.seat} ({self.shown_label()}) can't be started: {plain(words[-1][7:], 200)}"
        if self.status in (126, 127) and words and words[-1].startswith(_NOT_STARTED):
            number = errno.ENOENT if self.status == 127 else errno.EACCES
            if b"format" in words[-1]:
                number = errno.ENOEXEC
            return f"The {self.seat} ({self.shown_label()}) can't be started: {_start_error(number)}"
        return None

    def sandbox_failure(self, why: str = "it ended without a word") -> str:
        """What to say when its sandbox failed, which is nobody's loss; ``why`` where it said nothing itself."""
        words = self.log.last_lines()
        said = plain(words[-1], 200) if words else why
        return f"The sandbox of the {self.seat} ({self.shown_label()}) failed: {said} - the match is void and nobody loses; try: referee doctor"


class Crew:
    """All bots of one match that are processes, with the supervisor that looks after them."""

    def __init__(self) -> None:
        self.players: dict[str, ProcessPlayer] = {}
        self.status_fd = -1
        self.is_lost = False
        self._supervision: Supervision | None = None
        self._order: list[ProcessPlayer] = []
        self._reports = b""
        self._errors: dict[int, str] = {}
        self._children_before: frozenset[int] = frozenset()

    def launch(
        self, programs: Mapping[str, Program], logs: Mapping[str, Log], isolation: Isolation | None = None, cpu_seconds: int | None = None
    ) -> None:
        """Begin to start the programs; ``wait`` tells how that went. PlayerError if one has files that can't be taken along."""
        if not programs:
            return
        self._children_before = frozenset(supervisor.children(os.getpid()))
        try:
            self._supervision = Supervision()
            self.status_fd = self._supervision.reports
            supervisor.become_subreaper()
            if isolation is not None and isolation.has_walls:
                # This takes as long as the supervisor needs to start.
                seccomp.program()
            if not self._supervision.wait_until_ready():
                self.is_lost = True
                raise MatchVoid(_NO_SUPERVISOR)
            for seat, program in programs.items():
                self._start(seat, program, logs[seat], isolation or Isolation(), cpu_seconds, self._supervision)
            for player in self._order:
                player.cell.load_filter()
        except (ImportError, OSError) as error:
            self.close()
            raise MatchVoid(f"The bots' sandboxes can't be made ({error}): the match is void; try: referee doctor") from None
        except BaseException:
            self.close()
            raise

    def _start(
        self, seat: str, program: Program, log: Log, isolation: Isolation, cpu_seconds: int | None, supervision: Supervision
    ) -> None:
        """Let the supervisor start one program."""
        cell = isolation.cell(program, cpu_seconds, announce=supervision.clean)
        fds = [os.pipe(), os.pipe(), os.pipe()]
        theirs = (fds[0][0], fds[1][1], fds[2][1])
        ours = (fds[0][1], fds[1][0], fds[2][0])
        for fd in ours:
            os.set_blocking(fd, False)
        index = len(self._order)
        player = ProcessPlayer(seat, program.label, log, ours, cell)
        player.program = program
        self.players[seat] = player
        self._order.append(player)
        held = (cell.held_fd,) if cell.held_fd >= 0 else ()
        supervision.spawn(index, cell.start, theirs, held)
        for fd in (*theirs, *cell.start.fds, *held):
            os.close(fd)
        cell.held_fd = -1
        if any(cell.watch):
            supervision.watch(index, cell.watch)

    def join(self, player: ProcessPlayer) -> None:
        """Take in a player who is no process of ours; after the programs, since those have the cores."""
        self.players[player.seat] = player

    def wait(self) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why."""
        deadline = perf_counter() + START_PATIENCE
        waiting = select.poll()
        if self.status_fd >= 0:
            waiting.register(self.status_fd, select.POLLIN)
        while any(not player.pid and index not in self._errors for index, player in enumerate(self._order)):
            left = deadline - perf_counter()
            if not waiting.poll(min(1.0, max(0.0, left)) * 1000) and left > 0 and self._supervision is not None:
                # A bot that has started may have stopped the supervisor.
                self._supervision.go_on()
                continue
            if left <= 0 or not self.take_reports():
                raise MatchVoid(_NO_SUPERVISOR)
        for index, error in self._errors.items():
            player = self._order[index]
            raise StartError(f"The {player.seat} ({plain(player.label)}) can't be started: {error}.")
        for player in self._order:
            self._admit(player, deadline)

    def _admit(self, player: ProcessPlayer, deadline: float) -> None:
        """Let a bot start once its cell is ready. MatchVoid if the cell, which is ours, fails."""
        while True:
            try:
                if player.cell.admit():
                    return
            except OSError as error:
                self._listen(player)
                raise MatchVoid(player.sandbox_failure(f"it can't be put under its caps ({error.strerror})")) from None
            left = deadline - perf_counter()
            if player.status is not None or self.is_lost or left <= 0:
                self._listen(player)
                is_late = player.status is None and not self.is_lost
                why = f"it did not start within {START_PATIENCE:g} s" if is_late else "it ended without a word"
                raise MatchVoid(player.sandbox_failure(why))
            waiting = select.poll()
            waiting.register(player.cell.news_fd, select.POLLIN)
            waiting.register(self.status_fd, select.POLLIN)
            if any(fd == self.status_fd for fd, _ in waiting.poll(min(1.0, left) * 1000)):
                self.take_reports()

    def _listen(self, player: ProcessPlayer) -> None:
        """Hear out a sandbox that failed: what it says is on the bot's stderr."""
        waiting = select.poll()
        waiting.register(player.stderr, select.POLLIN)
        while waiting.poll(500) and player.drain_stderr():
            pass

    def has_lost_its_supervisor(self) -> bool:
        """Whether the supervisor is gone, which may have happened just now."""
        waiting = select.poll()
        waiting.register(self.status_fd, select.POLLIN)
        while not self.is_lost and waiting.poll(_NEWS_MS):
            self.take_reports()
        return self.is_lost

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
            player.cell.begun(player.pid)
            player.read_clock = player.cell.clock()
        elif what == b"status":
            player.status = player.cell.exit_status(int(number))
        elif what == b"exceeded":
            player.cell.exceeded = (cells.MEMORY, cells.PROCESSES, cells.DISK)[int(number)]
        else:
            self._errors[int(index)] = _start_error(int(number))

    def kill(self, seat: str) -> None:
        """End one bot now: what is in its cell, and its process group."""
        player = self.players[seat]
        player.cell.kill()
        if player.is_process and self._supervision is not None:
            self._supervision.kill(self._order.index(player))
        else:
            player.let_go()

    def seconds_beside(self, player: ProcessPlayer) -> float:
        """Processor time that all other programs of the match have used so far, what they have left behind included, in seconds."""
        own = set(player.cell.pids())
        return sum(cells.used_seconds(pid) for pid in self.pids() if pid not in own)

    def pids(self) -> list[int]:
        """The supervisor and everything below it."""
        return supervisor.descendants(self._supervision.keeper) if self._supervision else []

    def close(self) -> None:
        """End every process of the match and everything that they left, then give up all descriptors.

        An impatient second Ctrl-C waits until this is done.
        """
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        try:
            self._end_supervisor()
            for player in self.players.values():
                if player.stderr >= 0:
                    # What was in the pipe when the bot ended still belongs to its log: a pipe's worth at most.
                    player.drain_stderr()
                player.close()
                player.cell.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _end_supervisor(self) -> None:
        supervision, self._supervision = self._supervision, None
        if supervision is None:
            return
        for player in self._order:
            # What is killed while it is frozen dies only when it is continued.
            player.cell.kill()
        supervision.end()
        # The end of the supervisor closes the pipe of reports, which is known at once; asking again and again is not.
        self._await_end(perf_counter() + PATIENCE)
        if supervision.close(is_ended=self.is_lost):
            self._end_adopted()
            supervision.clean_up()

    def _await_end(self, deadline: float) -> None:
        """Read reports until there will be no more."""
        waiting = select.poll()
        waiting.register(self.status_fd, select.POLLIN)
        while not self.is_lost and (left := deadline - perf_counter()) > 0:
            if waiting.poll(left * 1000):
                self.take_reports()

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


def _start_error(number: int) -> str:
    if number == errno.ENOEXEC:
        return "it is neither a program of this machine nor a script whose first line names one (#!/usr/bin/env python3, for instance)"
    if number == errno.ENOENT:
        return "the file, or the interpreter that its first line names, does not exist"
    if number == errno.EACCES:
        return "the file, or the interpreter that its first line names, may not be run by this user"
    text = os.strerror(number)
    return text[:1].lower() + text[1:]
