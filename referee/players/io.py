"""Asks one or more players a question and returns replies with their times. This is the only place where the referee waits for players.

Theory of operation. All descriptors are non-blocking and watched by one poll. A player's time runs from the first byte of its
question to the arrival of its whole answer. There is one deadline for the whole answer: bytes that trickle in never extend it.
A first, short wait serves players that answer at once. Only slower players pay for the bookkeeping of a long wait.

With ``stop_idle`` the referee stops bots between their turns. In a sandbox with a freezer, a bot can't undo the stop. There the referee
stops bots in every turn, and bills nobody until the freezer has reached everything, because work inside the kernel goes on until
then. If a bot used little processor time for its last answer, the referee checks whether it is frozen only when the next bot thinks for
longer than a millisecond. So quick steps don't pay for the check.

Without a freezer a bot can undo the stop, and the stop costs more than a quick answer, because it wakes the bot twice for nothing. There
the first, short wait stops a bot only if it was found at work out of turn before. Every 256 questions the referee compares
the processor time of each bot with its billed time. In a long wait it stops all other bots.

Two clocks. Every answer is measured by the wall clock and by the processor time of the bot's whole tree, and one of the two is
billed. When processor time is billed, all time since the previous answer counts. So working out of turn gains nothing, and other
programs on the machine cost a bot no time. A wall-clock guard then ends the wait for a bot that sleeps.

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
from referee.players.billing import Billing, Pending
from referee.players.faults import MALFORMED, Fault
from referee.players.reply import Reply, late
from referee.players.stderr_monitor import StderrMonitor
from referee.players.stopping import CHECK_EVERY, LITTLE, Stopping
from referee.wire.escape import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.players.in_process import LocalPlayer
    from referee.players.process import BotProcesses, ProcessPlayer

#: How long the first, short wait lasts, and how often a long wait calls ``on_tick``, in seconds.
_SHORT = 0.01
_SHORT_MS = 10
_TICK = 0.25
#: How long the first look for an answer lasts, in milliseconds, before the referee waits for the freeze of other bots.
_FIRST_MS = 1

_POLLIN = select.POLLIN
_NO_GROUP: tuple[dict[int, ProcessPlayer], select.poll] = ({}, select.poll())
_new = tuple.__new__


class PlayerIO:
    """Asks the players of one match. ``on_tick`` is called about four times a second during long waits."""

    def __init__(
        self,
        bots: BotProcesses,
        local: Mapping[str, LocalPlayer],
        *,
        stop_idle: bool,
        max_lateness: float,
        on_tick: Callable[[], None],
        by_cpu: bool = False,
    ) -> None:
        self.by_cpu = by_cpu
        self.discards_early = False
        #: Return True if the match goes on after a seat has left. If not, no other player needs to answer.
        self.goes_on_without: Callable[[str], bool] = lambda _: False
        self._bots = bots
        self._local = local
        self._max_lateness = max_lateness
        self._on_tick = on_tick
        self._lines: dict[str, tuple[ProcessPlayer, select.poll]] = {}
        self._groups: dict[tuple[str, ...], tuple[dict[int, ProcessPlayer], select.poll]] = {}
        self._long_poll: select.poll | None = None
        self.watch = watch = StderrMonitor(bots)
        self._processes = watch.players
        self._stopping = Stopping(watch.players, enabled=stop_idle)
        self._billing = Billing(by_cpu=by_cpu)
        self._ponderers = self._stopping.ponderers
        self._unchecked = 1

    def ask(self, seat: str, data: bytes, limit: float | None, guard: float | None = None) -> Reply:  # noqa: C901, PLR0912, PLR0915 - the loop's inside, in one piece
        """Ask one player; ``data`` is a whole line with its end, ``limit`` in seconds of the clock that bills, ``guard`` of the wall
        clock where that is the other one.
        """
        line = self._lines.get(seat)
        if line is None:
            if seat in self._local:
                return self._local[seat].ask(data, limit)
            line = self._lines[seat] = (self._bots.players[seat], self.watch.poller([seat]))
        player, poller = line
        if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
            return Reply(None, 0.0, late(player, is_guard=limit is None or limit > 0.0))
        self._unchecked -= 1
        if not self._unchecked:
            self._unchecked = CHECK_EVERY
            self._stopping.look_for_work()
        if self._ponderers:
            # The others first: the kernel rewrites its own code whenever the last frozen group is thawed or the first one frozen,
            # which takes fifteen times as long as the rest.
            for other in self._ponderers:
                if other is not player and not other.is_stopped:
                    other.stop()
                    if other.last_used > LITTLE:
                        other.sandbox.stand_still()
        if player.is_stopped:
            player.go_on()
        lines = player.lines
        if (poller.poll(0) or lines.has_bytes or player.status is not None) and (early := self._early(player)):
            return Reply(None, 0.0, early)
        begun = perf_counter()
        # Inlined from ``player.send``, because nearly every question takes this path.
        try:
            sent = 0 if player.unsent else os.write(player.stdin, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return Reply(None, 0.0, self.watch.unreachable(player))
        if sent != len(data):
            player.unsent += data[sent:]
        elif not lines.has_bytes:
            events = poller.poll(_FIRST_MS)
            if not events:
                if self._ponderers:
                    # The time that other bots took isn't billed.
                    taken = self._stopping.wait_for_frozen(player)
                    now = perf_counter()
                    begun = now if begun + taken > now else begun + taken
                events = poller.poll(_SHORT_MS if limit is None or limit > _SHORT or self.by_cpu else math.ceil(limit * 1000))
            if len(events) == 1 and events[0] == player.has_answered:
                try:
                    chunk = os.read(player.stdout, 65_536)
                except BlockingIOError:
                    # A bot can take back what it wrote.
                    return self._wait({seat: Pending(player, begun, limit, guard if self.by_cpu else limit)})[seat]
                seconds = perf_counter() - begun
                if chunk and chunk.find(b"\n") == len(chunk) - 1 and len(chunk) <= lines.max_bytes and chunk[0] > 32:
                    lines.number += 1
                    player.billed += seconds
                    if self.by_cpu:
                        used = player.newly_used(self.by_cpu)
                        if limit is not None and used > limit:
                            return Reply(None, used, late(player), False, seconds)
                        return _new(Reply, (chunk[:-1], used, None, False, seconds))
                    # Inlined from ``player.newly_used``, for the same reason.
                    try:
                        now = player.read_clock()
                    except OSError:
                        now = player.used_before
                    used = player.last_used = now - player.used_before
                    player.used_before = now
                    if limit is not None and seconds > limit:
                        return Reply(chunk[:-1], limit, None, True, used)
                    return _new(Reply, (chunk[:-1], seconds, None, False, used))
                lines.feed(chunk)
                if not chunk:
                    return self._billing.reply(Pending(player, begun, limit, guard), begun + seconds, None, self.watch.ended(player))
        return self._wait({seat: Pending(player, begun, limit, guard if self.by_cpu else limit)})[seat]

    def ask_together(
        self, questions: Mapping[str, tuple[bytes, float | None, float | None]], *, is_start: bool = False
    ) -> dict[str, Reply]:
        """Ask several players at once; each has its own limit and guard, as for ``ask``, and its own clock.

        ``is_start``: the programs start at the same time. The processor time of the others postpones a program's deadline.
        """
        quick = self._ask_remote(questions)
        if quick is not None:
            return quick
        replies: dict[str, Reply] = {}
        pending: dict[str, Pending] = {}
        for seat, (data, limit, guard) in questions.items():
            if seat in self._local:
                replies[seat] = self._local[seat].ask(data, limit)
                continue
            player = self._bots.players[seat]
            if player.is_stopped:
                player.go_on()
            early = self._early(player)
            if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
                early = early or late(player, is_guard=limit is None or limit > 0.0)
            begun = perf_counter()
            if early is not None or not player.send(data):
                replies[seat] = Reply(None, 0.0, early or self.watch.unreachable(player))
            else:
                pending[seat] = entry = Pending(player, begun, limit, guard if self.by_cpu else limit)
                if is_start and limit is not None and player.is_process and not self.by_cpu:
                    entry.latest = begun + (guard or limit)
        if pending:
            replies.update(self._wait(pending))
        return {seat: replies[seat] for seat in questions}

    def _ask_remote(self, questions: Mapping[str, tuple[bytes, float | None, float | None]]) -> dict[str, Reply] | None:
        """The fast path for remote programs, which are neither stopped nor measured. None if the slow path is needed."""
        seats = tuple(questions)
        group = self._groups.get(seats)
        if group is None:
            players = [self._bots.players[seat] for seat in seats if seat not in self._local]
            is_remote = len(players) == len(seats) and all(player.keeps_early and not player.is_process for player in players)
            group = self._groups[seats] = (
                ({player.stdout: player for player in players}, self.watch.poller(seats)) if is_remote else _NO_GROUP
            )
        by_fd, poller = group
        if not by_fd or poller.poll(0):
            return None
        for player in by_fd.values():
            limit = questions[player.seat][1]
            if player.unsent or player.lines.has_bytes or (limit is not None and limit <= _SHORT):
                return None
        pending: dict[str, Pending] = {}
        replies: dict[str, Reply] = {}
        for player in by_fd.values():
            data, limit, _ = questions[player.seat]
            begun = perf_counter()
            if player.send(data) or player.unsent:
                pending[player.seat] = Pending(player, begun, limit, limit)
            else:
                replies[player.seat] = Reply(None, 0.0, self.watch.unreachable(player))
        while pending and (events := poller.poll(_SHORT_MS)):
            if not self._read_quickly(events, by_fd, pending, replies):
                break
        if pending:
            replies.update(self._wait(pending))
        return {seat: replies[seat] for seat in seats}

    def _read_quickly(
        self, events: list[tuple[int, int]], by_fd: Mapping[int, ProcessPlayer], pending: dict[str, Pending], replies: dict[str, Reply]
    ) -> bool:
        """Read answers that are one whole line each. False if something else has arrived; then the long wait handles it."""
        for fd, _ in events:
            player = by_fd.get(fd)
            entry = pending.get(player.seat) if player is not None else None
            if player is None or entry is None:
                return False
            chunk = player.read_stdout()
            seconds = perf_counter() - entry.begun
            if player.overdue or not chunk or chunk.find(b"\n") != len(chunk) - 1 or len(chunk) > player.lines.max_bytes or chunk[0] <= 32:
                player.lines.feed(chunk or b"")
                return False
            player.lines.number += 1
            player.billed += seconds
            del pending[player.seat]
            replies[player.seat] = Reply(chunk[:-1], seconds)
        return True

    def tell(self, seat: str, data: bytes) -> None:
        """Send a player something that needs no answer."""
        player = self._bots.players[seat]
        if player.is_stopped:
            player.go_on()
        if player.unsent:
            player.unsent += data
        else:
            player.send(data)

    def _early(self, player: ProcessPlayer) -> Fault | None:
        """Return the fault of a player that wrote before it was asked, or None. Blank lines are ignored."""
        if player.keeps_early:
            return self._kept(player)
        while True:
            chunk = player.read_stdout()
            if not chunk:
                break
            player.lines.feed(chunk)
            if player.lines.is_full:
                break
        said = player.lines.clear()
        if said and not self.discards_early:
            text = f"The {player.seat} wrote to stdout before it was asked: {quoted(said.strip())} - answer each question once, and print to stderr."
            return Fault(MALFORMED, text, quoted(said.strip(), 500))
        if chunk == b"" or player.status is not None:
            return self.watch.ended(player)
        self.watch.drain()
        return None

    def _kept(self, player: ProcessPlayer) -> Fault | None:
        """Keep what a player sent ahead, up to the length of one line. Return the fault of a player that has ended, else None."""
        chunk: bytes | None = None
        while not player.lines.is_full and (chunk := player.read_stdout()):
            player.lines.feed(chunk)
        if (chunk == b"" or player.status is not None) and not player.lines.has_bytes:
            return self.watch.ended(player)
        self.watch.drain()
        return None

    def forget(self, seat: str) -> None:
        """Stop watching a player that was ended: its process number may belong to another process now."""
        self._stopping.forget(self._bots.players[seat])
        self._long_poll = None

    def farewell(self, seat: str) -> Fault | None:
        """Return the fault of a person who left without being asked; None if the person is still there."""
        player = self._bots.players[seat]
        return self.watch.crash(player) if player.has_left else None

    def _wait(self, pending: dict[str, Pending]) -> dict[str, Reply]:
        """Wait until every pending question has its answer or its deadline has passed."""
        replies: dict[str, Reply] = {}
        for seat in list(pending):
            self._settle(seat, pending, replies)
        used = self._bots_seconds()
        self._stopping.stop_others(pending)
        ticked = perf_counter()
        while pending:
            if self._long_poll is None:
                self._long_poll = self._watch(pending)
            now = perf_counter()
            due = min(*(self._billing.due(entry, now) for entry in pending.values()), now + _TICK)
            events = self._long_poll.poll(math.ceil(max(0.0, due - now) * 1000))
            late_by = perf_counter() - due if not events else 0.0
            count = len(pending)
            self._take(events, pending, replies)
            self._judge(pending, replies, late_by, used)
            if len(pending) != count:
                self._long_poll = None
            if pending and perf_counter() - ticked >= _TICK:
                # Do this also while a bot sends byte after byte: the listeners must not wait. The account of the bots' time begins
                # before: if the referee is kept away during the tick, it counts what they used meanwhile.
                used = self._bots_seconds()
                self._on_tick()
                self._look_for_kills(pending, replies)
                ticked = perf_counter()
        self._long_poll = None
        return replies

    def _watch(self, pending: dict[str, Pending]) -> select.poll:
        """A poll for the seats that are still pending, with the stdin of those that haven't read their question."""
        poller = self.watch.poller(pending, is_passing=True)
        for entry in pending.values():
            if entry.player.unsent:
                poller.register(entry.player.stdin, select.POLLOUT)
        for player in self.watch.people_beside(pending):
            poller.register(player.stdout, _POLLIN)
        return poller

    def _take(self, events: list[tuple[int, int]], pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Handle the events of a poll."""
        ready = {fd for fd, _ in events}
        poller = self._long_poll
        assert poller is not None
        self.watch.read(ready)
        if self._bots.status_fd in ready and not self._bots.take_reports():
            poller.unregister(self._bots.status_fd)
        for player in self.watch.people_beside(pending):
            if player.stdout in ready:
                self._hear_out(player, pending, replies)
        for seat, entry in list(pending.items()):
            if seat not in pending:
                # It was released because another player left.
                continue
            player = entry.player
            if player.stdin in ready and player.unsent and (not player.send(player.unsent) or not player.unsent):
                poller.unregister(player.stdin)
            if player.stdout in ready or self._is_gone(player):
                self._read(seat, pending, replies)

    def _hear_out(self, player: ProcessPlayer, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Read from a person who isn't asked; handle a departure."""
        chunk = player.read_stdout()
        if chunk:
            player.lines.feed(chunk)
        elif chunk == b"":
            player.has_left = True
            self._long_poll = None
            self._release(player, pending, replies)

    def _release(self, player: ProcessPlayer, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """If this departure ends the match, release the people who are still thinking: they pass, without a fault."""
        if self.goes_on_without(player.seat):
            return
        for seat, entry in list(pending.items()):
            if not entry.player.is_process:
                del pending[seat]
                replies[seat] = self._billing.reply(entry, perf_counter(), None, None)

    def _is_gone(self, player: ProcessPlayer) -> bool:
        """True if a player can't send anything more."""
        return player.status is not None or (player.is_process and self._bots.is_lost)

    def _read(self, seat: str, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Read a pending player's output, and settle its question if a whole line is there."""
        player = pending[seat].player
        chunk = player.read_stdout()
        if chunk:
            player.lines.feed(chunk)
            self._settle(seat, pending, replies)
        elif chunk == b"" or self._is_gone(player):
            entry = pending.pop(seat)
            replies[seat] = self._billing.reply(entry, perf_counter(), None, self.watch.ended(player))
            if not player.is_process:
                self._release(player, pending, replies)

    def _settle(self, seat: str, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Turn a whole line, if there is one, into the reply."""
        entry = pending[seat]
        player = entry.player
        line = player.lines.take()
        if line is not None and player.overdue and line.startswith(player.overdue):
            player.overdue = b""
            line = player.lines.take()
        if line is None:
            return
        del pending[seat]
        now = perf_counter()
        fault = None
        if player.lines.is_overlong:
            text = (
                f"The {player.seat} {player.writes_line} (number {player.lines.number}) of more than {player.lines.max_bytes:,} bytes: "
                f"{quoted(line)} - an answer must be shorter."
            )
            fault, line = Fault(MALFORMED, text, quoted(line, 500), {"cause": "output"}), None
        player.billed += now - entry.begun
        replies[seat] = self._billing.reply(entry, now, line, fault, rescued=now > entry.deadline)
        if self._stopping.enabled and pending:
            player.stop()

    def _judge(self, pending: dict[str, Pending], replies: dict[str, Reply], late_by: float, used: float) -> None:
        """Read once more from players whose time is up. A player without a whole answer is late."""
        now = perf_counter()
        for seat, entry in list(pending.items()):
            has_used_up = self._billing.has_used_up(entry)
            if entry.deadline <= now < entry.latest:
                beside = self._bots.seconds_beside(entry.player)
                entry.deadline = min(entry.latest, entry.begun + (entry.limit or 0.0) + beside)
            if now < entry.deadline and not has_used_up:
                continue
            while seat in pending and (chunk := entry.player.read_stdout()):
                entry.player.lines.feed(chunk)
                self._settle(seat, pending, replies)
                if perf_counter() > now + 0.05:
                    break
            if seat not in pending:
                continue
            if not has_used_up and late_by > self._max_lateness and self._bots_seconds() - used < late_by / 2:
                raise MatchVoid(
                    f"The referee was kept off the processor for {late_by:.2f} s while the {seat} was asked, more than the {self._max_lateness:g} s that it accepts: "
                    "the match is void. Run fewer programs beside it."
                )
            del pending[seat]
            replies[seat] = self._billing.reply(entry, now, None, late(entry.player, is_guard=self.by_cpu and not has_used_up))

    def _look_for_kills(self, pending: dict[str, Pending], replies: dict[str, Reply]) -> None:
        """Fault the players of which the kernel has killed a process for its memory."""
        for seat, entry in list(pending.items()):
            if entry.player.sandbox.is_over_memory():
                del pending[seat]
                fault = entry.player.fault(f"The {seat} ({entry.player.shown_label()}) {entry.player.ending()}.")
                replies[seat] = self._billing.reply(entry, perf_counter(), None, fault)
                self._long_poll = None

    def _bots_seconds(self) -> float:
        """Return the bots' processor time so far, in seconds, as far as it can be measured while clocks run."""
        return sum(player.sandbox.evidence_seconds() for player in self._processes)

    def dismiss(self, ends: Mapping[str, bytes], grace: float) -> None:
        """Send each bot its last message, close its stdin and give it ``grace`` seconds to leave."""
        leaving: list[ProcessPlayer] = []
        for seat, data in ends.items():
            if seat in self._local:
                self._local[seat].answer(data.rstrip(b"\n"))
                continue
            player = self._bots.players[seat]
            if player.is_stopped:
                player.go_on()
            player.send(player.unsent + data)
            if not player.unsent:
                player.close_stdin()
            if player.is_process:
                leaving.append(player)
        deadline = perf_counter() + grace
        while any(player.status is None for player in leaving) and not self._bots.is_lost:
            left = deadline - perf_counter()
            if left <= 0:
                break
            self.watch.see_off(leaving, left)
