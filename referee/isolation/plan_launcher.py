"""Starts the bots of a match, or a build, by their plans: each in its sandbox below one supervisor. Learns of their ends, and ends all their processes.

A launcher serves one match after another. Between them it keeps the supervisor, with the copies of the bots' files, if it can be trusted.
"""

from __future__ import annotations

import contextlib
import os
import signal
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import SUPERVISOR, MatchVoid, StartError, of_seat
from referee.isolation import seccomp, supervisor
from referee.isolation.bot_process import is_ending, start_error, used_seconds
from referee.isolation.endings import DISK, MEMORY, PROCESSES
from referee.isolation.processes import make_process
from referee.isolation.supervision import PATIENCE, START_PATIENCE, Supervision, discard
from referee.support import delays
from referee.support.poll import readable
from referee.support.signals import blocked_signals
from referee.support.words import who

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.isolation.bot_process import BotProcess
    from referee.isolation.copies import Check
    from referee.isolation.level import Level
    from referee.isolation.log import Log
    from referee.isolation.plan import Plan

#: A supervisor that is silent for this number of seconds at the end of a match is continued: it may have been stopped.
_SILENCE_SECONDS = 0.5
#: How long to wait for the report that the supervisor has ended, in milliseconds.
_NEWS_MS = 500
#: How long to wait for the exit status of a bot that has closed its stdout, in seconds.
_PARTING = 0.5
_NO_SUPERVISOR = "The supervisor process of the match did not start the bots: the match is void; is the machine out of processes or memory?"

#: The messages for a killed supervisor: if no bot can have killed it, and if one can.
_KILLED_FROM_OUTSIDE = (
    "The supervisor process of the match was killed from outside, which none of its bots can do: the match is void and nobody loses."
)
_KILLED = (
    "The supervisor process of the match was killed. Without a sandbox each bot can do that ({}), so the match is void and nobody loses; "
    "--isolation strict prevents it."
)


class PlanLauncher:
    """Runs the bots of one match after another. ``close`` ends everything.

    ``check`` is called with each bot whose files are copied, and the folder of the copy; it raises an error if the copy must not be used.
    ``processes`` are those of the present match, or of the last one, by seat. ``reports`` is the descriptor on which the supervisor reports,
    -1 without one; it reads as closed when the supervisor is gone. ``is_lost``: the supervisor has ended too early.
    """

    def __init__(self, check: Check | None = None) -> None:
        self.check = check
        #: The supervision of the match before, for the next one.
        self.idle: Supervision | None = None
        #: The one that was started before its first match.
        self._fresh: Supervision | None = None
        self._supervision: Supervision | None = None
        #: True if no bot of the present match, or of the last one, can signal the processes of its supervision.
        self._is_guarded = True
        self._begin_match()

    def start(self) -> None:
        """Start the supervisor of the first match while the match is prepared."""
        self._fresh = Supervision(self.check)

    def new_folder(self) -> str:
        """Return a new folder that all users can enter. The supervisor of the first match removes it, also if this process is killed."""
        self._fresh = self._fresh or Supervision(self.check)
        if not self._fresh.wait_until_ready():
            raise MatchVoid(_NO_SUPERVISOR)
        folder = self._fresh.copies.new_folder()
        os.chmod(folder, 0o755)
        return folder

    def _begin_match(self) -> None:
        self.processes: dict[str, BotProcess] = {}
        self.reports = -1
        self.is_lost = False
        #: The word by which the supervisor reports that it can serve the next match; None until it is asked.
        self._word: bytes | None = None
        self._is_renewed = False
        #: Processor time that the supervisor and bots of earlier matches had used before this match, in seconds.
        self._seconds_before = 0.0
        self._order: list[BotProcess] = []
        self._unread = b""
        self._errors: dict[int, str] = {}
        #: True if the user of a bot can't get access to its files.
        self._is_closed = False
        self._children_before: frozenset[int] = frozenset()
        #: The seats whose bots can kill the supervisor.
        self._unguarded: tuple[str, ...] = ()

    def launch_plans(
        self, plans: Mapping[str, Plan], level: Level, logs: Mapping[str, Log], cpu_seconds: int | None = None
    ) -> Mapping[str, BotProcess]:
        """Start the bots of a match by seat without waiting, and return their processes; ``wait`` raises the errors.

        ``cpu_seconds`` is a kernel limit on the processor time of each bot, None for none. PlayerError if a bot has files that can't be copied.
        """
        self._begin_match()
        if not plans:
            return self.processes
        self._children_before = frozenset(supervisor.children(os.getpid()))
        try:
            self._unguarded = () if level.guards_supervisor else tuple(plans)
            idle = self._take_idle(is_guarded=level.guards_supervisor)
            self._supervision, self._fresh = idle or self._fresh or Supervision(self.check), None
            self._is_guarded = level.guards_supervisor
            self.reports = self._supervision.reports
            supervisor.become_subreaper()
            if idle is not None:
                self._seconds_before = sum(map(used_seconds, self.pids()))
            if level.has_sandbox:
                # Compile the filter now: the supervisor needs as long to start.
                seccomp.program()
            if idle is None and not self._supervision.wait_until_ready():
                self.is_lost = True
                raise MatchVoid(_NO_SUPERVISOR)
            for seat, plan in plans.items():
                with of_seat(seat):
                    process = make_process(level, plan, cpu_seconds, self._supervision.copies)
                self._start(seat, process, logs[seat], self._supervision)
            for process in self._order:
                process.load_filter()
        except (ImportError, OSError) as error:
            self._end_match(is_sound=False)
            raise MatchVoid(f"The bots' sandboxes can't be made ({error}): the match is void; try: referee doctor") from None
        except BaseException:
            self._end_match(is_sound=False)
            raise
        return self.processes

    def _start(self, seat: str, process: BotProcess, log: Log, supervision: Supervision) -> None:
        index = len(self._order)
        self._order.append(process)
        self.processes[seat] = process
        standard = process.connect(seat, log)
        supervision.spawn(index, process.start, standard, process.held_fds)
        for fd in standard:
            os.close(fd)
        process.hand_over()
        if any(process.watch):
            supervision.watch(index, process.watch)

    def wait(self, before_start: Callable[[int, int], None] | None = None) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why.

        ``before_start`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """
        deadline = perf_counter() + START_PATIENCE
        waiting = readable([self.reports] if self.reports >= 0 else [])
        while any(not process.pid and index not in self._errors for index, process in enumerate(self._order)):
            left = deadline - perf_counter()
            if not waiting.poll(min(1.0, max(0.0, left)) * 1000) and left > 0 and self._supervision is not None:
                # A bot that has started may have stopped the supervisor.
                self._supervision.go_on()
                continue
            if left <= 0 or not self.take_reports():
                raise MatchVoid(_NO_SUPERVISOR, SUPERVISOR if self._unguarded else "", self._unguarded)
        if self._is_closed:
            raise MatchVoid(
                f"A bot's user can't get access to its files ({next(iter(self._errors.values()))}); install the referee in /opt."
            )
        for index, error in self._errors.items():
            process = self._order[index]
            raise StartError(f"{who(process.seat, process.label)} can't be started: {error}.", process.seat, is_doubtful=True)
        for index, process in enumerate(self._order):
            self._admit(process, deadline, None if before_start is None else partial(before_start, index))

    def _admit(self, process: BotProcess, deadline: float, before_start: Callable[[int], None] | None) -> None:
        """Let a bot start when its sandbox is ready. MatchVoid if the sandbox fails, because it belongs to the referee."""
        while True:
            try:
                if process.admit(before_start):
                    return
            except OSError as error:
                self._listen(process)
                raise MatchVoid(process.sandbox_failure(f"it can't be put under its caps ({error.strerror})")) from None
            left = deadline - perf_counter()
            if process.status is not None or self.is_lost or left <= 0:
                self._listen(process)
                is_late = process.status is None and not self.is_lost
                why = f"it did not start within {START_PATIENCE:g} s" if is_late else "it ended without a message"
                raise MatchVoid(process.sandbox_failure(why))
            waiting = readable((process.news_fd, self.reports))
            if any(fd == self.reports for fd, _ in waiting.poll(min(1.0, left) * 1000)):
                self.take_reports()

    @staticmethod
    def _listen(process: BotProcess) -> None:
        """Read the message of a failed sandbox from the bot's stderr."""
        while process.log_stderr(_NEWS_MS):
            pass

    def supervisor_killed(self) -> MatchVoid:
        """Return why a match without its supervisor is void."""
        if not self._unguarded:
            return MatchVoid(_KILLED_FROM_OUTSIDE)
        able = " and ".join(who(seat, self.processes[seat].label, begins=False) for seat in self._unguarded if seat in self.processes)
        return MatchVoid(_KILLED.format(able), SUPERVISOR, self._unguarded)

    def has_lost_its_supervisor(self) -> bool:
        """True if the supervisor has ended, even a moment ago."""
        if self.reports < 0:
            return False
        waiting = readable([self.reports])
        while not self.is_lost and waiting.poll(_NEWS_MS):
            self.take_reports()
        return self.is_lost

    def await_end(self, process: BotProcess) -> None:
        """Wait a moment for the exit status of a program that has closed its stdout: half a second, longer if it ends in a sandbox."""
        begun, patience = perf_counter(), _PARTING
        waiting = readable([self.reports])
        while process.status is None and not self.is_lost and (left := begun + patience - perf_counter()) > 0:
            if waiting.poll(left * 1000):
                self.take_reports()
            elif process.is_sandbox and is_ending(process.first_pid()):
                # The report takes longer from there, especially on a busy machine.
                patience = PATIENCE

    def take_reports(self) -> bool:
        """Read what the supervisor reports; False if it is gone."""
        data = os.read(self.reports, 65_536)
        if not data:
            self.is_lost = True
            return False
        *lines, self._unread = (self._unread + data).split(b"\n")
        try:
            for line in lines:
                if line == self._word:
                    self._is_renewed = True
                else:
                    self._take_report(*line.split())
        except (TypeError, ValueError, IndexError):
            # The supervisor never writes this: a bot has written to its pipe.
            self.is_lost = True
            return False
        return True

    def _take_report(self, index: bytes, what: bytes, number: bytes) -> None:
        process = self._order[int(index)]
        if what == b"pid":
            process.begun(int(number))
        elif what == b"status":
            process.end(int(number))
        elif what == b"exceeded":
            process.exceed((MEMORY, PROCESSES, DISK)[int(number)])
        else:
            self._is_closed |= what == b"closed"
            self._errors[int(index)] = os.strerror(int(number)) if self._is_closed else start_error(int(number))

    def kill(self, seat: str) -> None:
        """End one bot now: everything in its sandbox, and its process group."""
        process = self.processes[seat]
        process.kill()
        if self._supervision is not None:
            self._supervision.kill(self._order.index(process))

    def seconds_beside(self, process: BotProcess) -> float:
        """Return the processor time of all other programs of the match so far, in seconds, including processes that they left behind."""
        inside = set(process.pids())
        return sum(used_seconds(pid) for pid in self.pids() if pid not in inside) - self._seconds_before

    def priority(self) -> tuple[int, int] | None:
        """Return the scheduling policy and the nice value of the process above the supervisor, from which the bots have theirs."""
        return delays.priority(self._supervision.watchdog) if self._supervision else None

    def pids(self) -> list[int]:
        """Return the supervisor and all processes below it."""
        return supervisor.descendants(self._supervision.watchdog) if self._supervision else []

    def renew(self, *, is_sound: bool) -> None:
        """End every process of the match and everything that they left, and close all descriptors but those of the supervisor.

        ``is_sound``: the match has ended properly, so that its supervisor may serve the next one. A second Ctrl-C has no effect until
        this is done.
        """
        with blocked_signals():
            self._end_match(is_sound=is_sound)

    def close(self) -> None:
        """Do the same, and end the supervisor."""
        self.renew(is_sound=False)
        for supervision in filter(None, (self.idle, self._fresh)):
            discard(supervision)
        self.idle = self._fresh = None

    def _take_idle(self, *, is_guarded: bool) -> Supervision | None:
        """Return the supervision of the match before; None without one, or if it can't be trusted.

        ``is_guarded``: no bot of the next match can signal its processes. Such bots and others don't share one, nor copies of programs.
        """
        idle, self.idle = self.idle, None
        if idle is None or (self._is_guarded == is_guarded and idle.is_quiet()):
            return idle
        discard(idle)
        return None

    def _end_match(self, *, is_sound: bool) -> None:
        self._end_supervisor(is_sound=is_sound)
        for process in self._order:
            process.close()

    def _end_supervisor(self, *, is_sound: bool) -> None:
        supervision, self._supervision = self._supervision, None
        if supervision is None:
            return
        for process in self._order:
            # A process that is killed while frozen ends only when it is thawed.
            process.kill()
        if is_sound and self._is_trusted() and supervision.is_at_work() and self._is_ready_again(supervision):
            self.reports = -1
            supervisor.become_subreaper(on=False)
            self.idle = supervision
            return
        supervision.end()
        # The supervisor's end closes the report pipe, and poll reports that at once; polling its status would be slower.
        self._await(supervision, lambda: False)
        if supervision.close(is_ended=self.is_lost):
            self._end_adopted()
            supervision.clean_up()

    def _is_trusted(self) -> bool:
        """True if neither a sandbox nor the supervisor has failed, and no bot has exceeded a cap."""
        return not self.is_lost and not any(process.has_failed or process.exceeded is not None for process in self._order)

    def _is_ready_again(self, supervision: Supervision) -> bool:
        """Let the supervisor end everything and serve the next match; False if it may not be able to."""
        self._word = os.urandom(8).hex().encode()
        supervision.renew(self._word)
        self._await(supervision, lambda: self._is_renewed)
        return self._is_renewed and not self.is_lost and supervision.is_renewed()

    def _await(self, supervision: Supervision, is_done: Callable[[], bool]) -> None:
        """Take reports until it is done, the supervisor is gone or patience ends. A supervisor that is silent may have been stopped."""
        deadline = perf_counter() + PATIENCE
        waiting = readable([self.reports])
        while not is_done() and not self.is_lost and (left := deadline - perf_counter()) > 0:
            if waiting.poll(min(_SILENCE_SECONDS, left) * 1000):
                self.take_reports()
            else:
                supervision.go_on()

    def _end_adopted(self) -> None:
        """Kill the processes that this process adopted because the supervisor was killed: new children in other sessions."""
        for _ in range(1000):
            mine = os.getsid(0)
            adopted = [pid for pid in supervisor.children(os.getpid()) if pid not in self._children_before and _session(pid) != mine]
            if not adopted:
                break
            for pid in adopted:
                for descendant in (*supervisor.descendants(pid), pid):
                    supervisor.send_signal(descendant, signal.SIGKILL)
            for pid in adopted:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        supervisor.become_subreaper(on=False)


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1
