"""Asks one or more players a question and returns replies with their times. Only here does the referee wait for answers.

Theory of operation. All descriptors are non-blocking and watched by one poll. A player's time runs from the first byte of its
question to the arrival of its whole answer. There is one deadline for the whole answer: bytes that trickle in never extend it.
A first, short wait serves players that answer at once. Only slower players pay for the bookkeeping of a long wait.

With ``stop_idle`` the referee stops bots between their turns. A stop costs more than a quick answer, because it wakes the bot twice without
need. So a bot is stopped for a short wait only if it worked out of turn before. In a long wait the referee stops all others.

In a sandbox with a freezer, a bot can't undo the stop. In a long wait, the asked bot isn't billed until the freezer has reached all others,
because work inside the kernel goes on until then. After a millisecond of a short wait the referee already freezes those that have worked
meanwhile. If an answer has come when the referee wakes up after more than a millisecond, the asked bot isn't billed for what the others
have worked meanwhile. Before each question it reads how much processor time the bot has used since its last answer. If that is more than a
bot needs to go to sleep, then the bot is billed for it, and from then on it is frozen in every turn of others. It is then billed for what
it works in the kernel before a freeze reaches it. After an answer that took little processor time, the referee waits for that freeze only
if the next bot thinks for longer than a millisecond. So quick steps don't pay for the wait.

Without a freezer a bot can undo the stop, and its processor time isn't exact. Every 256 questions the referee compares the processor time of
each bot with its billed time.

One of three clocks bills: the wall clock, the processor time of the bot's whole tree since its last answer (``billing.py``), or the fair clock
(``fair.py``). Where the wall clock doesn't bill, a guard by it ends the wait.

The referee never bills its own lateness. If it wakes up after a deadline, it reads once more before it judges. A whole answer then
counts; it is marked as *rescued* and billed up to the limit. If the referee was kept off the processor for longer than
``max_lateness``, and the match's own bots didn't cause this, then a missing answer is nobody's fault and the match is void.
"""

from __future__ import annotations

import math
import os
import select
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.isolation.delays import priority
from referee.players.billing import Billing, CpuBilling, Pending, late
from referee.players.clock import CPU, FAIR, WALL
from referee.players.fair import STALE, FairBilling
from referee.players.in_process import LocalPlayer
from referee.players.player import Reply
from referee.players.stopping import Stopping
from referee.players.watch import PlayersWatch
from referee.replay.faults import Failure
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from referee.players.pipes import Pipes
    from referee.players.player import RunningPlayer
    from referee.players.process import BotProcess, ProcessPlayer
    from referee.players.processes import BotProcesses

    Questions = Mapping[str, tuple[bytes, float | None, float | None]]

#: How long the first, short wait lasts, and how often a long wait calls ``on_tick``, in seconds.
_SHORT = 0.01
_SHORT_MS = 10
_TICK = 0.25
#: How long the first look for an answer lasts, in seconds and milliseconds, before the referee looks for bots that work out of turn.
_FIRST = 0.001
_FIRST_MS = 1

_POLLIN = select.POLLIN
_NO_GROUP: tuple[dict[int, str], select.poll] = ({}, select.poll())


class PlayerIO:
    """Asks the players of one match. ``on_tick`` is called about four times a second during long waits.

    ``bots`` are those of the ``players`` that are programs of the match. With ``discards_early``, bytes that a program wrote before it
    was asked are dropped; else they are a fault.
    """

    def __init__(
        self,
        players: Mapping[str, RunningPlayer],
        bots: BotProcesses,
        *,
        stop_idle: bool,
        max_lateness: float,
        on_tick: Callable[[], None],
        clock: str = WALL,
        discards_early: bool = False,
    ) -> None:
        self.players = players
        self.by_cpu, self._is_wall = clock == CPU, clock == WALL
        #: The people and remote programs that have left since ``ask_together`` began.
        self.departed: list[str] = []
        #: Who is asked at present, in a long wait, and since when.
        self.awaited: dict[str, float] = {}
        self._bots = bots
        self._discards_early = discards_early
        self._max_lateness = max_lateness
        self._on_tick = on_tick
        self._lines: dict[str, tuple[ProcessPlayer, Pipes, BotProcess, select.poll]] = {}
        self._groups: dict[tuple[str, ...], tuple[dict[int, str], select.poll]] = {}
        self._long_poll: select.poll | None = None
        self._pending: dict[str, Pending] = {}
        self._local = {seat: player for seat, player in players.items() if isinstance(player, LocalPlayer)}
        self._pipes = {seat: player.pipes for seat, player in players.items() if player.pipes is not None}
        #: The people and remote programs that aren't out, and those of them that have left while they weren't asked.
        self._people = {seat: pipes for seat, pipes in self._pipes.items() if players[seat].process is None}
        self._left: set[str] = set()
        self._processes = [player.process for player in bots.players.values()]
        self.watch = PlayersWatch(self._pipes.values(), bots)
        self._stopping = Stopping(self._processes, enabled=stop_idle)
        self._fair = FairBilling(self._processes, priority(bots.watchdog)) if clock == FAIR and self._processes else None
        self.billing = self._fair or (CpuBilling() if self.by_cpu else Billing())
        self._held = self._stopping.held

    def ask(self, seat: str, data: bytes, limit: float | None, guard: float | None = None) -> Reply:  # noqa: C901, PLR0912, PLR0915 - the loop's inside, in one piece
        """Ask one player that is a program of the match or in this process; ``data`` is a whole line with its end, ``limit`` in seconds of
        the clock that bills, ``guard`` of the wall clock where that is the other one.
        """
        line = self._lines.get(seat)
        if line is None:
            if seat in self._local:
                return self._local[seat].ask(data, limit)
            bot = self._bots.players[seat]
            line = self._lines[seat] = (bot, bot.pipes, bot.process, self.watch.poller([bot.pipes]))
        player, pipes, process, poller = line
        if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
            return Reply(None, 0.0, self.billing.out_of_time(player, pipes, limit))
        owed = self._stopping.prepare(process)
        if self.by_cpu:
            owed = 0.0  # its processor time includes that
        fair = self._fair
        if fair is not None and perf_counter() - fair.delays[process].read_at > STALE:
            fair.renew(process)
        lines = pipes.lines
        if (poller.poll(0) or lines.has_bytes or process.status is not None) and (early := self._early(player, pipes)):
            return Reply(None, 0.0, early)
        begun = perf_counter() - owed
        # Inlined from ``pipes.send``, because nearly every question takes this path.
        try:
            sent = 0 if pipes.unsent else os.write(pipes.stdin, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return Reply(None, 0.0, self.watch.unreachable(player))
        if sent != len(data):
            pipes.unsent += data[sent:]
        elif not lines.has_bytes:
            # By the fair clock a needless look does harm: nothing tells whether the referee waited afterwards or the bot slept.
            events = poller.poll(_FIRST_MS if fair is None or self._held else _SHORT_MS)
            if not events:
                self.billing.note_silence(poller)
                if self._held:
                    # The time that other bots took isn't billed.
                    begun = min(begun + self._stopping.freeze_others(process, is_long=False), perf_counter() - owed)
                events = poller.poll(_SHORT_MS if limit is None or limit > _SHORT or self.by_cpu else math.ceil(limit * 1000))
                if not events:
                    self.billing.note_silence(poller)
                    if self._held:
                        begun = min(begun + self._stopping.freeze_others(process, is_long=True), perf_counter() - owed)
            if len(events) == 1 and events[0] == pipes.has_answered:
                try:
                    chunk = os.read(pipes.stdout, 65_536)
                except BlockingIOError:
                    # A bot can take back what it wrote.
                    return self._wait_for(seat, begun, limit, guard, owed)
                seconds = perf_counter() - begun
                if seconds > _FIRST and self._held:
                    # Also if the first look lasted longer than it should, because the work of another bot kept the referee off the processor.
                    # The account is read after the clock, so that it holds all that another bot did in these seconds.
                    taken = min(self._stopping.used_beside(process), seconds - owed)
                    begun, seconds = begun + taken, seconds - taken
                if chunk and chunk.find(b"\n") == len(chunk) - 1 and len(chunk) <= lines.max_bytes and chunk[0] > 32:
                    lines.number += 1
                    process.billed += seconds
                    if fair is not None and (seconds > _FIRST or (limit is not None and seconds > limit)):
                        fair.poll_ends = begun + owed + _FIRST + _SHORT
                        return fair.reply(Pending(player, pipes, begun, limit, guard, owed), begun + seconds, chunk[:-1], None)
                    if fair is not None and not process.sandbox.is_exact:
                        return Reply(chunk[:-1], seconds, None, False, seconds)
                    if self.by_cpu:
                        used = process.used_for(seconds)
                        if limit is not None and used > limit:
                            return Reply(None, used, late(pipes), False, seconds)
                        return Reply(chunk[:-1], used, None, False, seconds)
                    # Inlined from ``process.newly_used``, for the same reason.
                    try:
                        now = process.read_clock()
                    except OSError:
                        now = process.used_before
                    used = process.last_used = now - process.used_before
                    process.used_before = now
                    if limit is not None and seconds > limit:
                        return Reply(chunk[:-1], limit, None, True, used)
                    return Reply(chunk[:-1], seconds, None, False, used if fair is None else seconds)
                lines.feed(chunk)
                if not chunk:
                    return self.billing.reply(Pending(player, pipes, begun, limit, guard), begun + seconds, None, self.watch.ended(player))
            elif events and self._held:
                seconds = perf_counter() - begun
                begun += min(self._stopping.used_beside(process), seconds - owed)
        return self._wait_for(seat, begun, limit, guard, owed)

    def _wait_for(self, seat: str, begun: float, limit: float | None, guard: float | None, owed: float) -> Reply:
        """Wait for one player's answer."""
        player = self._bots.players[seat]
        return self._wait({seat: self.billing.pending(Pending(player, player.pipes, begun, limit, guard, owed))})[seat]

    def ask_together(self, questions: Questions, *, is_start: bool = False) -> dict[str, Reply]:
        """Ask several players at once; each has its own limit and guard, as for ``ask``, and its own clock.

        ``is_start``: the programs start at the same time. The processor time of the others postpones a program's deadline.

        If some of the ``people`` are still thinking when another one leaves, only the replies so far are returned. The caller knows whether
        the match is over by that; ``resume`` returns the others.
        """
        self.departed = []
        seats = tuple(questions)
        by_fd, poller = self._groups.get(seats) or self._group(seats)
        is_quick = bool(by_fd) and not poller.poll(0)
        replies: dict[str, Reply] = {}
        self._pending = pending = {}
        for seat, (data, limit, guard) in questions.items():
            if seat in self._local:
                replies[seat] = self._local[seat].ask(data, limit)
                continue
            player, pipes = self.players[seat], self._woken(seat)
            is_quick = is_quick and not pipes.lines.has_bytes and (limit is None or limit > _SHORT)
            early = None if is_quick else self._early(player, pipes)
            if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
                early = early or self.billing.out_of_time(player, pipes, limit)
            self.billing.renew(player.process)
            begun = perf_counter()
            if early is not None or not pipes.send(data):
                replies[seat] = Reply(None, 0.0, early or self.watch.unreachable(player))
            else:
                pending[seat] = entry = self.billing.pending(Pending(player, pipes, begun, limit, guard))
                if is_start and limit is not None and player.process is not None and self._is_wall:
                    entry.latest = begun + (guard or limit)
        while is_quick and pending and (events := poller.poll(_SHORT_MS)):
            is_quick = self._read_quickly(events, by_fd, pending, replies)
        return {**replies, **self._wait(pending)} if pending else replies

    def resume(self, *, is_over: bool) -> dict[str, Reply]:
        """Return further replies to the questions of ``ask_together``. If the match is over, the people who are still thinking pass."""
        self.departed = []
        replies = {}
        for seat in self._people.keys() & self._pending.keys() if is_over else ():
            replies[seat] = self.billing.reply(self._pending.pop(seat), perf_counter(), None, None)
        return {**replies, **self._wait(self._pending)}

    def _group(self, seats: tuple[str, ...]) -> tuple[dict[int, str], select.poll]:
        """Return what the first, short wait for remote programs needs, which are neither stopped nor measured; nothing for others."""
        group = _NO_GROUP
        if all(seat in self._people and self._pipes[seat].keeps_early for seat in seats):
            asked = {seat: self._pipes[seat] for seat in seats}
            group = {pipes.stdout: seat for seat, pipes in asked.items()}, self.watch.poller(asked.values())
        self._groups[seats] = group
        return group

    def _read_quickly(
        self, events: list[tuple[int, int]], by_fd: Mapping[int, str], pending: dict[str, Pending], replies: dict[str, Reply]
    ) -> bool:
        """Read answers that are one whole line each. False if something else has arrived; then the long wait handles it."""
        for fd, _ in events:
            seat = by_fd.get(fd, "")
            entry = pending.get(seat)
            if entry is None:
                return False
            pipes = entry.pipes
            chunk = pipes.read()
            seconds = perf_counter() - entry.begun
            if pipes.overdue or not chunk or chunk.find(b"\n") != len(chunk) - 1 or len(chunk) > pipes.lines.max_bytes or chunk[0] <= 32:
                pipes.lines.feed(chunk or b"")
                return False
            pipes.lines.number += 1
            del pending[seat]
            replies[seat] = Reply(chunk[:-1], seconds)
        return True

    def tell(self, seat: str, data: bytes) -> None:
        """Send a player something that needs no answer."""
        self._woken(seat).send(data)

    def _woken(self, seat: str) -> Pipes:
        """Continue a player if it is stopped, and return its pipes."""
        process = self.players[seat].process
        if process is not None and process.is_stopped:
            process.go_on()
        return self._pipes[seat]

    def _early(self, player: RunningPlayer, pipes: Pipes) -> Failure | None:
        """Return the failure of a player that wrote before it was asked, or that has ended; else None. Blank lines are ignored.

        A player that may answer early keeps what it sent ahead, up to the length of one line.
        """
        lines, process = pipes.lines, player.process
        chunk: bytes | None = None
        while not (pipes.keeps_early and lines.is_full) and (chunk := pipes.read()):
            lines.feed(chunk)
            if lines.is_full:
                break
        has_ended = chunk == b"" or self._is_gone(process)
        if pipes.keeps_early:
            has_ended = has_ended and not lines.has_bytes
        elif (said := lines.clear()) and not self._discards_early:
            return Failure("early", said.strip())
        if has_ended:
            return self.watch.ended(player)
        self.watch.drain()
        return None

    def drop(self, seat: str) -> None:
        """End a player that has failed, and stop watching it: its process number may belong to another process now."""
        self._long_poll = None
        if (process := self.players[seat].process) is not None:
            self._bots.kill(seat)
            self._stopping.forget(process)
        elif (pipes := self._people.pop(seat, None)) is not None and not pipes.is_remote:
            # The page's server then knows that the seat is empty. A remote program still receives the result.
            pipes.close_one("stdin")

    def farewell(self, seat: str) -> Failure | None:
        """Return the failure of a person who left without being asked; None if the person is still there."""
        return self.players[seat].failure() if seat in self._left else None

    def _wait(self, pending: dict[str, Pending]) -> dict[str, Reply]:
        """Wait until every pending question has its answer or its deadline has passed, or until somebody leaves while a person thinks."""
        replies: dict[str, Reply] = {}
        for seat in list(pending):
            self._settle(seat, pending, replies)
        used = self._bots_seconds()
        self._stopping.stop_others([entry.process for entry in pending.values()])
        ticked = perf_counter()
        while pending:
            if self._long_poll is None:
                self._long_poll = self._watch(pending)
            now = perf_counter()
            due = min(*(self.billing.due(entry, now) for entry in pending.values()), now + _TICK)
            self.billing.poll_ends = due
            events = self._long_poll.poll(math.ceil(max(0.0, due - now) * 1000))
            if not events:
                self.billing.note_silence(self._long_poll)
            late_by = perf_counter() - due if not events else 0.0
            count = len(pending)
            self._take(events, pending, replies)
            if self.departed and not self._people.keys().isdisjoint(pending):
                break
            self._judge(pending, replies, late_by, used)
            if len(pending) != count:
                self._long_poll = None
            if pending and perf_counter() - ticked >= _TICK:
                # Do this also while a bot sends byte after byte: the listeners must not wait. The account of the bots' time begins
                # before: if the referee is kept away during the tick, it counts what they used meanwhile.
                used = self._bots_seconds()
                self.awaited = {seat: entry.begun for seat, entry in pending.items()}
                self._on_tick()
                self._look_for_kills(pending, replies)
                ticked = perf_counter()
        self._long_poll, self.awaited = None, {}
        return replies

    def _watch(self, pending: dict[str, Pending]) -> select.poll:
        """A poll for the seats that are still pending, with the stdin of those that haven't read their question."""
        poller = self.watch.poller([entry.pipes for entry in pending.values()], is_passing=True)
        for entry in pending.values():
            if entry.pipes.unsent:
                poller.register(entry.pipes.stdin, select.POLLOUT)
        for pipes in self._people_beside(pending).values():
            poller.register(pipes.stdout, _POLLIN)
        return poller

    def _people_beside(self, pending: Container[str]) -> dict[str, Pipes]:
        """Return the people who aren't asked now but may leave."""
        return {
            seat: pipes
            for seat, pipes in self._people.items()
            if seat not in pending and seat not in self._left and not pipes.lines.is_full
        }

    def _take(self, events: list[tuple[int, int]], pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        ready = {fd for fd, _ in events}
        poller = self._long_poll
        assert poller is not None
        self.watch.read(ready)
        if self._bots.status_fd in ready and not self._bots.take_reports():
            poller.unregister(self._bots.status_fd)
        for seat, pipes in self._people_beside(pending).items():
            if pipes.stdout in ready:
                self._hear_out(seat, pipes)
        for seat, entry in list(pending.items()):
            pipes = entry.pipes
            if pipes.stdin in ready and pipes.unsent and (not pipes.send(b"") or not pipes.unsent):
                poller.unregister(pipes.stdin)
            if pipes.stdout in ready or self._is_gone(entry.process):
                self._read(seat, pending, replies)

    def _hear_out(self, seat: str, pipes: Pipes) -> None:
        """Read from a person who isn't asked; note a departure."""
        chunk = pipes.read()
        if chunk:
            pipes.lines.feed(chunk)
        elif chunk == b"":
            self._left.add(seat)
            self.departed.append(seat)
            self._long_poll = None

    def _is_gone(self, process: BotProcess | None) -> bool:
        """True if a player can't send anything more."""
        return process is not None and (process.status is not None or self._bots.is_lost)

    def _read(self, seat: str, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Read a pending player's output, and settle its question if a whole line is there."""
        entry = pending[seat]
        chunk = entry.pipes.read()
        if chunk:
            entry.pipes.lines.feed(chunk)
            self._settle(seat, pending, replies)
        elif chunk == b"" or self._is_gone(entry.process):
            del pending[seat]
            replies[seat] = self.billing.reply(entry, perf_counter(), None, self.watch.ended(entry.player))
            if entry.process is None:
                self.departed.append(seat)

    def _settle(self, seat: str, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Turn a whole line, if there is one, into the reply."""
        entry = pending[seat]
        pipes, process = entry.pipes, entry.process
        line = pipes.lines.take()
        if line is not None and pipes.overdue and line.startswith(pipes.overdue):
            pipes.overdue = b""
            line = pipes.lines.take()
        if line is None:
            return
        del pending[seat]
        now = perf_counter()
        failure = None
        if pipes.lines.is_overlong:
            failure, line = Failure("overlong", line, pipes.lines.number, detail={"cause": "output"}), None
        if process is not None:
            process.billed += now - entry.begun
        replies[seat] = self.billing.reply(entry, now, line, failure, rescued=now > entry.deadline)
        if process is not None and pending and self._stopping.enabled:
            process.stop()

    def _judge(self, pending: dict[str, Pending], replies: dict[str, Reply], late_by: float, used: float) -> None:
        """Read once more from players whose time is up. A player without a whole answer is late."""
        now = perf_counter()
        for seat, entry in list(pending.items()):
            has_used_up = self.billing.look(entry)
            if entry.deadline <= now < entry.latest:
                beside = 0.0 if entry.process is None else self._bots.seconds_beside(entry.process)
                entry.deadline = min(entry.latest, entry.begun + (entry.limit or 0.0) + beside)
            if now < entry.deadline and not has_used_up:
                continue
            while seat in pending and (chunk := entry.pipes.read()):
                entry.pipes.lines.feed(chunk)
                self._settle(seat, pending, replies)
                if perf_counter() > now + 0.05:
                    break
            if seat not in pending or (failure := self.billing.failure(entry, now)) is None:
                continue
            if not has_used_up and late_by > self._max_lateness and self._bots_seconds() - used < late_by / 2:
                raise MatchVoid(
                    f"The referee was kept off the processor for {late_by:.2f} s while {the_seat(seat, begins=False)} was asked, more than the {self._max_lateness:g} s that it accepts: "
                    "the match is void. Run fewer programs beside it."
                )
            del pending[seat]
            replies[seat] = self.billing.reply(entry, now, None, failure)

    def _look_for_kills(self, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Fault the players of which the kernel has killed a process for its memory."""
        for seat, entry in list(pending.items()):
            if entry.process is not None and entry.process.sandbox.is_over_memory():
                del pending[seat]
                replies[seat] = self.billing.reply(entry, perf_counter(), None, entry.player.failure())
                self._long_poll = None

    def _bots_seconds(self) -> float:
        """Return the bots' processor time so far, in seconds, as far as it can be measured while clocks run."""
        return sum(process.sandbox.evidence_seconds() for process in self._processes)

    def dismiss(self, ends: Mapping[str, bytes], grace: float) -> None:
        """Send each bot its last message, close its stdin and give it ``grace`` seconds to leave."""
        leaving = [bot for seat, bot in self._bots.players.items() if seat in ends]
        for seat, data in ends.items():
            if seat in self._local:
                self._local[seat].answer(data.rstrip(b"\n"))
                continue
            pipes = self._woken(seat)
            pipes.send(data)
            if not pipes.unsent:
                pipes.close_one("stdin")
        deadline = perf_counter() + grace
        while any(bot.process.status is None for bot in leaving) and not self._bots.is_lost:
            left = deadline - perf_counter()
            if left <= 0:
                break
            self.watch.see_off(leaving, left)
