"""The programs of one match, each in its sandbox below one supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import SUPERVISOR, MatchVoid, StartError, of_seat
from referee.isolation import seccomp, supervisor
from referee.isolation.endings import DISK, MEMORY, PROCESSES
from referee.isolation.level import Isolation
from referee.isolation.sandbox import used_seconds
from referee.isolation.supervision import PATIENCE, START_PATIENCE, Supervision, SupervisionReserve, new_supervision
from referee.players.link import Link, readable
from referee.players.process import BotProcess, ProcessPlayer, start_error
from referee.support.words import who
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from referee.isolation.bot import Bot
    from referee.isolation.plan import Plan
    from referee.isolation.sandbox import Sandbox
    from referee.players.log import Log

_SAME_LEVEL: Mapping[str, Isolation] = {}

#: After how many silent seconds a supervisor that ends a match is continued: it may have been stopped.
_SILENCE_SECONDS = 0.5
#: How long to wait for the news that the supervisor has ended, in milliseconds.
_NEWS_MS = 500
_NO_SUPERVISOR = "The supervisor process of the match did not start the bots: the match is void; is the machine out of processes or memory?"

#: The message for a killed supervisor when no bot can have killed it, and the other one.
_KILLED_FROM_OUTSIDE = (
    "The supervisor process of the match was killed from outside, which none of its bots can do: the match is void and nobody loses."
)
_KILLED = (
    "The supervisor process of the match was killed. Without a sandbox each bot can do that ({}), so the match is void and nobody loses; "
    "--isolation strict prevents it."
)


class BotProcesses:
    """The programs of one match as players, by seat, with their supervisor.

    With a ``reserve``, bots use the supervisor of the match before, and leave it to the next match.
    """

    def __init__(self, reserve: SupervisionReserve | None = None) -> None:
        self.players: dict[str, ProcessPlayer] = {}
        self.status_fd = -1
        self.is_lost = False
        self._supervision: Supervision | None = None
        self._reserve = reserve
        #: The supervisor's word that it has ended the match and can serve the next one; None until it is asked.
        self._word: bytes | None = None
        self._is_renewed = False
        #: Processor time that the supervisor and bots of earlier matches had used before this match, in seconds.
        self._seconds_before = 0.0
        self._order: list[ProcessPlayer] = []
        self._reports = b""
        self._errors: dict[int, str] = {}
        #: True if the user of a program can't be let in to its files.
        self._is_closed = False
        self._children_before: frozenset[int] = frozenset()
        #: The seats whose bots can kill the supervisor.
        self._unguarded: tuple[str, ...] = ()

    def launch(
        self,
        plans: Mapping[str, Plan],
        logs: Mapping[str, Log],
        isolation: Isolation | None = None,
        cpu_seconds: int | None = None,
        keeping_early: Container[str] = (),
        levels: Mapping[str, Isolation] = _SAME_LEVEL,
    ) -> None:
        """Start the programs without waiting; ``wait`` raises the errors. PlayerError if a program has files that can't be copied.

        ``keeping_early`` are the seats whose lines from before a question, also blank ones, are answers to later questions. ``levels`` are
        the isolation levels of seats that have another one than ``isolation``.
        """
        if not plans:
            return
        self._children_before = frozenset(supervisor.children(os.getpid()))
        try:
            self._unguarded = tuple(seat for seat in plans if not levels.get(seat, isolation or Isolation()).guards_supervisor)
            is_guarded = not self._unguarded
            reserved = self._reserve.take(is_guarded=is_guarded) if self._reserve is not None else None
            check = self._reserve.check if self._reserve is not None else None
            self._supervision = reserved or new_supervision(check, is_guarded=is_guarded)
            self.status_fd = self._supervision.reports
            supervisor.become_subreaper()
            if reserved is not None:
                self._seconds_before = sum(map(used_seconds, self.pids()))
            if isolation is not None and isolation.has_sandbox:
                # Compile the filter now: the supervisor needs as long to start.
                seccomp.program()
            if reserved is None and not self._supervision.wait_until_ready():
                self.is_lost = True
                raise MatchVoid(_NO_SUPERVISOR)
            for seat, plan in plans.items():
                with of_seat(seat):
                    sandbox = levels.get(seat, isolation or Isolation()).sandbox(
                        plan, cpu_seconds, announce=self._supervision.clean, copies=self._supervision.copies
                    )
                self._start(seat, plan.bot, logs[seat], sandbox, self._supervision, keeps_early=seat in keeping_early)
            for player in self._order:
                player.process.sandbox.load_filter()
        except (ImportError, OSError) as error:
            self.close()
            raise MatchVoid(f"The bots' sandboxes can't be made ({error}): the match is void; try: referee doctor") from None
        except BaseException:
            self.close()
            raise

    def _start(self, seat: str, bot: Bot, log: Log, sandbox: Sandbox, supervision: Supervision, *, keeps_early: bool) -> None:
        fds = [os.pipe(), os.pipe(), os.pipe()]
        theirs = (fds[0][0], fds[1][1], fds[2][1])
        index = len(self._order)
        lines = LineBuffer(sandbox.limits.line_bytes, keeps_blank=keeps_early)
        pipes = Link((fds[0][1], fds[1][0], fds[2][0]), log, lines, keeps_early=keeps_early)
        player = self.players[seat] = ProcessPlayer(seat, bot.label, log, pipes, BotProcess(bot, sandbox))
        if bot.home:
            # Leagues and gradings publish logs and replays, without folders of this machine.
            log.rename_files(lambda data: player.process.own_files().published(data))
        elif sandbox.is_sandbox:
            log.rename_files(lambda data: player.process.own_files().named_bytes(data))
        self._order.append(player)
        supervision.spawn(index, sandbox.start, theirs, sandbox.held_fds)
        for fd in theirs:
            os.close(fd)
        sandbox.hand_over()
        if any(sandbox.watch):
            supervision.watch(index, sandbox.watch)

    def wait(self, before_start: Callable[[int, int], None] | None = None) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why.

        ``before_start`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """
        deadline = perf_counter() + START_PATIENCE
        waiting = readable([self.status_fd] if self.status_fd >= 0 else [])
        while any(not player.process.pid and index not in self._errors for index, player in enumerate(self._order)):
            left = deadline - perf_counter()
            if not waiting.poll(min(1.0, max(0.0, left)) * 1000) and left > 0 and self._supervision is not None:
                # A bot that has started may have stopped the supervisor.
                self._supervision.go_on()
                continue
            if left <= 0 or not self.take_reports():
                raise MatchVoid(_NO_SUPERVISOR, SUPERVISOR if self._unguarded else "", self._unguarded)
        if self._is_closed:
            raise MatchVoid(
                f"A bot's user can't be let in to its files ({next(iter(self._errors.values()))}); install the referee in /opt."
            )
        for index, error in self._errors.items():
            player = self._order[index]
            raise StartError(f"{who(player.seat, player.label)} can't be started: {error}.", player.seat, is_doubtful=True)
        for index, player in enumerate(self._order):
            self._admit(player, deadline, None if before_start is None else partial(before_start, index))

    def _admit(self, player: ProcessPlayer, deadline: float, before_start: Callable[[int], None] | None) -> None:
        """Let a bot start when its cell is ready. MatchVoid if the cell fails, since the cell belongs to the referee."""
        while True:
            try:
                if player.process.sandbox.admit(before_start):
                    return
            except OSError as error:
                self._listen(player)
                raise MatchVoid(player.sandbox_failure(f"it can't be put under its caps ({error.strerror})")) from None
            left = deadline - perf_counter()
            if player.process.status is not None or self.is_lost or left <= 0:
                self._listen(player)
                is_late = player.process.status is None and not self.is_lost
                why = f"it did not start within {START_PATIENCE:g} s" if is_late else "it ended without a word"
                raise MatchVoid(player.sandbox_failure(why))
            waiting = readable((player.process.sandbox.news_fd, self.status_fd))
            if any(fd == self.status_fd for fd, _ in waiting.poll(min(1.0, left) * 1000)):
                self.take_reports()

    def _listen(self, player: ProcessPlayer) -> None:
        """Read the message of a failed sandbox from the bot's stderr."""
        waiting = readable([player.pipes.stderr])
        while waiting.poll(500) and player.pipes.drain_stderr():
            pass

    def supervisor_killed(self) -> MatchVoid:
        """Return why a match without its supervisor is void."""
        if not self._unguarded:
            return MatchVoid(_KILLED_FROM_OUTSIDE)
        able = " and ".join(who(seat, self.players[seat].label, begins=False) for seat in self._unguarded if seat in self.players)
        return MatchVoid(_KILLED.format(able), SUPERVISOR, self._unguarded)

    def has_lost_its_supervisor(self) -> bool:
        """True if the supervisor has ended, even a moment ago."""
        if self.status_fd < 0:
            return False
        waiting = readable([self.status_fd])
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
        process = self._order[int(index)].process
        if what == b"pid":
            process.pid = int(number)
            process.sandbox.begun(process.pid)
        elif what == b"status":
            process.status = process.sandbox.exit_status(int(number))
        elif what == b"exceeded":
            process.sandbox.exceed((MEMORY, PROCESSES, DISK)[int(number)])
        else:
            self._is_closed |= what == b"closed"
            self._errors[int(index)] = os.strerror(int(number)) if self._is_closed else start_error(int(number))

    def kill(self, seat: str) -> None:
        """End one bot now: everything in its sandbox, and its process group."""
        player = self.players[seat]
        player.process.sandbox.kill()
        if self._supervision is not None:
            self._supervision.kill(self._order.index(player))

    def seconds_beside(self, process: BotProcess) -> float:
        """Return the processor time of all other programs of the match so far, in seconds, including processes that they left behind."""
        own = set(process.sandbox.pids())
        return sum(used_seconds(pid) for pid in self.pids() if pid not in own) - self._seconds_before

    @property
    def watchdog(self) -> int:
        """The number of the process above the supervisor, from which the bots have their priority; 0 if there are no programs."""
        return self._supervision.watchdog if self._supervision else 0

    def pids(self) -> list[int]:
        """The supervisor and everything below it."""
        return supervisor.descendants(self._supervision.watchdog) if self._supervision else []

    def close(self, *, is_sound: bool = False) -> None:
        """End every process of the match and everything that they left, then give up all descriptors.

        ``is_sound``: the match has ended properly, so that its supervisor may serve the next one. A second Ctrl-C has no effect until
        this is done.
        """
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        try:
            self._end_supervisor(is_sound=is_sound)
            for player in self.players.values():
                player.pipes.close()
                player.process.sandbox.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _end_supervisor(self, *, is_sound: bool) -> None:
        supervision, self._supervision = self._supervision, None
        if supervision is None:
            return
        for player in self._order:
            # A process that is killed while frozen ends only when it is thawed.
            player.process.sandbox.kill()
        if is_sound and self._reserve is not None and self._is_trusted() and supervision.is_at_work() and self._renew(supervision):
            self.status_fd = -1
            supervisor.become_subreaper(on=False)
            self._reserve.give(supervision)
            return
        supervision.end()
        # The supervisor's end closes the report pipe, and poll reports that at once; polling its status would be slower.
        self._await(supervision, lambda: False)
        if supervision.close(is_ended=self.is_lost):
            self._end_adopted()
            supervision.clean_up()

    def _is_trusted(self) -> bool:
        """True if neither a sandbox nor the supervisor has failed, and no bot has exceeded a cap."""
        sandboxes = [player.process.sandbox for player in self._order]
        return not self.is_lost and not any(one.has_failed or one.exceeded is not None for one in sandboxes)

    def _renew(self, supervision: Supervision) -> bool:
        """Let the supervisor end everything and serve the next match; False if there is any doubt that it can."""
        self._word = os.urandom(8).hex().encode()
        supervision.renew(self._word)
        self._await(supervision, lambda: self._is_renewed)
        return self._is_renewed and not self.is_lost and supervision.is_renewed()

    def _await(self, supervision: Supervision, is_done: Callable[[], bool]) -> None:
        """Take reports until it is done, the supervisor is gone or patience ends. A supervisor that is silent may have been stopped."""
        deadline = perf_counter() + PATIENCE
        waiting = readable([self.status_fd])
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
