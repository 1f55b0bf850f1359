"""Asks the players of a match: schedules, polls, measures, and asks the clock what follows. Only here does the referee wait for answers.

Theory of operation. All descriptors are non-blocking and watched by one poll (``polling.py``). A player's time runs from the first byte of its
question to the arrival of its whole answer. There is one deadline for the whole answer: bytes that trickle in never extend it.
A first, short wait serves players that answer at once. Only slower players pay for the bookkeeping of a long wait. ``scheduling.py`` says who
runs meanwhile, ``meter.py`` and ``fair_meter.py`` what is measured, ``clock.py`` what that costs and when a player is late.

The referee never bills its own lateness. If it wakes up after a deadline, it reads once more before it judges. A whole answer then
counts; it is marked as *rescued* and billed up to the limit. If the referee was kept off the processor for longer than
``max_lateness``, and the match's own bots didn't cause this, then a missing answer is nobody's fault and the match is void.

A deadline is the earliest moment at which a limit can be reached. By the fair clock it is postponed by what is left of the limit then; while
programs start side by side, by the processor time of the others.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import MatchVoid
from referee.isolation.bot import Bot
from referee.isolation.building import all_built
from referee.isolation.delays import priority
from referee.isolation.launcher import Launcher
from referee.players.clock import CPU, FAIR, GUARDED, WAIT, WALL, BilledTime, Clock, Verdict
from referee.players.connection import ConnectedPlayer
from referee.players.fair_meter import FairMeter, RefereeWaits
from referee.players.function import LocalPlayer
from referee.players.meter import QUICK, BotMeter, CpuMeter, Meter
from referee.players.pending import PendingQuestion, late, out_of_time
from referee.players.player import Connection, Function, Reply
from referee.players.polling import Polling
from referee.players.program import ProcessPlayer
from referee.players.scheduling import BotTurn, SharedTurn, Turns
from referee.replay.faults import Failure
from referee.support.words import the_seat

if TYPE_CHECKING:
    import select
    from collections.abc import Callable, Mapping

    from referee.isolation.level import Isolation
    from referee.isolation.log import Log
    from referee.isolation.process import Process
    from referee.players.cores import Cores
    from referee.players.link import Link
    from referee.players.player import Player, RunningPlayer

#: How long the first, short wait lasts, and how often a long wait calls ``on_tick``, in seconds.
_SHORT, _TICK = 0.01, 0.25
#: The same in milliseconds, and how long the first look for an answer lasts before the referee looks for bots that work out of turn.
_SHORT_MS, _FIRST_MS = 10, 1
#: Seconds that a bot has to exit after the last message.
GRACE = 1.0


class _BotParts(NamedTuple):
    """What is needed to ask a program of the match."""

    player: ProcessPlayer
    link: Link
    process: Process
    meter: BotMeter
    turn: BotTurn
    poller: select.poll


class Exchange:
    """The exchange with the players of some seats. Call ``open``, then ask; in the end ``close``, however it ends.

    ``kind`` is the time that is billed. With ``stops_idle``, bots are stopped while others are asked. ``max_lateness`` are the seconds for
    which the referee may be kept off the processor. With ``drops_early``, bytes that a program wrote before it was asked are dropped;
    else they are a fault. ``on_tick`` is called about four times a second during long waits. ``logs`` take what the players write to stderr.
    ``launcher`` serves several matches of one process. ``cpu_seconds`` is a kernel limit on the processor time of each
    bot, None for none.
    """

    def __init__(
        self,
        players: Mapping[str, Player],
        isolation: Isolation,
        logs: Mapping[str, Log],
        *,
        kind: BilledTime = WALL,
        stops_idle: bool = False,
        max_lateness: float = math.inf,
        drops_early: bool = False,
        on_tick: Callable[[], None] = lambda: None,
        launcher: Launcher | None = None,
        cpu_seconds: int | None = None,
    ) -> None:
        self.players: dict[str, RunningPlayer] = {}
        #: Runs the programs of the match; the exchange closes its own one.
        self.launcher = launcher or Launcher()
        self._owns_launcher = launcher is None
        self.bots: dict[str, ProcessPlayer] = {}
        #: The players that are asked at present, in a long wait, and since when, by the performance counter.
        self.awaited: dict[str, float] = {}
        self._players = players
        self._isolation = isolation
        self._logs = logs
        self._kind = kind
        self._stops_idle = stops_idle
        self._max_lateness = max_lateness
        self._drops_early = drops_early
        self._on_tick = on_tick
        self._cpu_seconds = cpu_seconds
        self._opened = ExitStack()
        self._bots_by_seat: dict[str, _BotParts] = {}
        #: When the present poll ends at the latest: what lasts longer is the referee's doing.
        self._poll_ends = math.inf

    # The beginning

    def open(self, before_run: Callable[[int, int], None] | None = None) -> None:
        """Start the programs and wait until they run. Raises StartError, MatchVoid and PlayerError as ``Launcher`` does.

        ``before_run`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """
        bots = {seat: player for seat, player in self._players.items() if isinstance(player, Bot)}
        bots = all_built(bots, self._isolation, self.launcher.check)
        processes = self.launcher.launch(bots, self._isolation, self._logs, self._cpu_seconds)
        for seat, player in self._players.items():
            if isinstance(player, Connection):
                self.players[seat] = ConnectedPlayer(seat, player, self._logs[seat])
            elif isinstance(player, Function):
                self.players[seat] = LocalPlayer(seat, player, self._logs[seat])
        self.launcher.wait(before_run)
        # Like the course's servers, take a line of a dialect that came too early as the answer to the next question.
        self.bots |= {seat: ProcessPlayer(process, keeps_early=bots[seat].dialect is not None) for seat, process in processes.items()}
        self.players = {**self.bots, **self.players}
        self._connect()

    def _connect(self) -> None:
        """Make the layers between the players and the questions."""
        bots = self.bots
        self._functions = {seat: player for seat, player in self.players.items() if isinstance(player, LocalPlayer)}
        self._links = {seat: player.link for seat, player in self.players.items() if player.link is not None}
        self._polling = Polling(self._links, self.launcher)
        is_fair = self._kind == FAIR and bool(bots)
        self._referee_waits = RefereeWaits() if is_fair else None
        started_as = priority(self.launcher.watchdog) if is_fair else None
        self._bot_meters = {seat: self._meter(player.process, started_as) for seat, player in bots.items()}
        self._meters: dict[str, Meter] = {seat: self._bot_meters.get(seat) or Meter(records_wall=is_fair) for seat in self._links}
        self._turns = Turns(self._bot_meters, is_enabled=self._stops_idle)
        self._held = self._turns.held
        # By the fair clock a needless look does harm: nothing tells whether the referee waited afterwards or the bot slept.
        self._first_ms = _SHORT_MS if is_fair and not self._held else _FIRST_MS
        for meter in self._meters.values():
            self._opened.callback(meter.close)
        if self._referee_waits is not None:
            self._opened.callback(self._referee_waits.close)

    def _meter(self, process: Process, started_as: tuple[int, int] | None) -> BotMeter:
        if self._kind == FAIR:
            return FairMeter(process, None if process.is_sandbox else started_as)
        return CpuMeter(process) if self._kind == CPU else BotMeter(process)

    def pin(self, cores: Cores) -> None:
        """Keep the bots, then the referee, on the match's cores. A bot that a freezer holds is frozen first, so that it can't fork meanwhile."""
        for index, player in enumerate(self.bots.values()):
            if player.process.holds:
                player.process.stop()
                player.process.stand_still()
            cores.pin(index, player.process.pids())
        cores.pin_self()

    # One question

    def ask(self, seat: str, data: bytes, clock: Clock) -> Reply:
        """Ask one player that is a program of the match or in this process; ``data`` is a whole line with its end."""
        bot = self._bots_by_seat.get(seat)
        if bot is None:
            return self._ask_first(seat, data, clock)
        player, link, process, meter, turn, poller = bot
        limit, guard = clock.limit, clock.guard
        if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
            return Reply(None, 0.0, out_of_time(player, link, meter, limit))
        with turn:
            if self._referee_waits is not None and meter.is_stale:
                meter.renew()
                self._referee_waits.renew()
            if (poller.poll(0) or link.lines.has_bytes or process.status is not None) and (failure := self._early(player, link)):
                return Reply(None, 0.0, failure)
            sent_at = perf_counter()
            if not link.send(data):
                return Reply(None, 0.0, self._polling.unreachable(player))
            events, line = None, None
            if not link.unsent and not link.lines.has_bytes:
                events = poller.poll(self._first_ms)
                if events == link.answered:
                    line = link.receive_answer()
                    seconds = perf_counter() - sent_at + turn.aside
                    if line and seconds <= QUICK and (limit is None or seconds <= limit):
                        used = meter.finish_quickly(seconds)
                        return Reply(line, seconds, None, False, used) if meter.kind != CPU else _by_cpu(line, used, seconds, limit, link)
            question = PendingQuestion(player, link, meter, sent_at, limit, guard, aside=turn.aside)
            return self._ask_on(bot, question, events, line)

    def _ask_first(self, seat: str, data: bytes, clock: Clock) -> Reply:
        """Ask a function, or a bot for the first time."""
        if seat in self._functions:
            return self._functions[seat].ask(data, clock.limit)
        player = self.bots[seat]
        poller = self._polling.poller([player.link])
        self._bots_by_seat[seat] = _BotParts(player, player.link, player.process, self._bot_meters[seat], self._turns.of(seat), poller)
        return self.ask(seat, data, clock)

    def _ask_on(self, bot: _BotParts, question: PendingQuestion, events: list[tuple[int, int]] | None, line: bytes | None) -> Reply:
        """Go on with a question that wasn't answered at once. ``events`` are those of the first look; None if there was none.

        ``line`` is the answer; None if there is none yet, empty if the bot has ended.
        """
        if events == []:
            events = self._look_again(bot, question)
            if events == bot.link.answered:
                line = bot.link.receive_answer()
        now = perf_counter()
        if events and self._held:
            # Also if the first look lasted longer than it should, because the work of another bot kept the referee off the processor.
            # The account is read after the clock, so that it holds all that another bot did in these seconds.
            question.give_back(bot.turn.used_beside(), now)
        if line is None:
            return self._wait({question.seat: question}, bot.turn)[question.seat]
        self._poll_ends = question.sent_at + QUICK + _SHORT
        return self._reply(question, now, line or None, None if line else self._polling.ended(bot.player))

    def _look_again(self, bot: _BotParts, question: PendingQuestion) -> list[tuple[int, int]]:
        """Go on with a short wait after its first look, and return the events. Whoever else works meanwhile is frozen."""
        turn, poller, limit = bot.turn, bot.poller, question.limit
        self._note_silence(poller)
        if self._held:
            question.give_back(turn.freeze_workers(), perf_counter())
        is_long = limit is None or limit > _SHORT or bot.meter.kind == CPU
        events = poller.poll(_SHORT_MS if is_long else math.ceil((limit or 0.0) * 1000))
        if not events:
            self._note_silence(poller)
            if self._held:
                question.give_back(turn.last_long(), perf_counter())
        return events

    def _note_silence(self, poller: select.poll | None) -> None:
        if self._referee_waits is not None and poller is not None:
            self._referee_waits.note_silence(poller)

    def _early(self, player: RunningPlayer, link: Link) -> Failure | None:
        """Return the failure of a player that wrote before it was asked, or that has ended; else None. Blank lines are ignored.

        A player that may answer early keeps what it sent ahead, up to the length of one line.
        """
        has_ended = not link.receive_early() or self._polling.is_gone(player.seat)
        if link.keeps_early:
            has_ended = has_ended and not link.lines.has_bytes
        elif (data := link.lines.clear()) and not self._drops_early:
            return Failure("early", data.strip())
        if has_ended:
            return self._polling.ended(player)
        self._polling.drain()
        return None

    # Several questions at once

    def ask_all(
        self,
        questions: Mapping[str, tuple[bytes, Clock]],
        is_over: Callable[[str], bool] = lambda _: False,
        *,
        is_start: bool = False,
    ) -> dict[str, Reply]:
        """Ask several players at once; each has its own clock.

        ``is_start``: the programs start at the same time, and the limits are those of the start-up. If one of the people leaves while
        another one is still thinking and ``is_over`` says that this ends the match, the people who are still thinking pass.
        """
        self._polling.take_departed()
        with self._turns.shared(questions) as turn:
            pending: dict[str, PendingQuestion] = {}
            replies = {
                seat: reply for seat in questions if (reply := self._send(seat, *questions[seat], pending, is_start=is_start)) is not None
            }
            while pending:
                replies |= self._wait(pending, turn)
                departed = self._polling.take_departed()
                if any(is_over(seat) for seat in departed):
                    for seat in self._polling.people.keys() & pending.keys():
                        replies[seat] = self._reply(pending.pop(seat), perf_counter(), None, None)
        return {seat: replies[seat] for seat in questions}

    def _send(self, seat: str, data: bytes, clock: Clock, pending: dict[str, PendingQuestion], *, is_start: bool) -> Reply | None:
        """Send one of several questions, which is then pending; return the reply if there is one already."""
        limit, guard = (clock.control.startup, clock.control.startup_guard()) if is_start else (clock.limit, clock.guard)
        if seat in self._functions:
            return self._functions[seat].ask(data, limit)
        player, link, meter = self.players[seat], self._links[seat], self._meters[seat]
        failure = self._early(player, link)
        if (limit is not None and limit <= 0.0) or (guard is not None and guard <= 0.0):
            failure = failure or out_of_time(player, link, meter, limit)
        meter.renew()
        if self._referee_waits is not None:
            self._referee_waits.renew()
        sent_at = perf_counter()
        if failure is not None or not link.send(data):
            return Reply(None, 0.0, failure or self._polling.unreachable(player))
        postpones = is_start and meter.kind == WALL and player.process is not None
        pending[seat] = PendingQuestion(player, link, meter, sent_at, limit, guard, is_start=postpones)
        return None

    # The long wait

    def _wait(self, pending: dict[str, PendingQuestion], turn: BotTurn | SharedTurn) -> dict[str, Reply]:
        """Wait until every pending question has its answer or its limit is reached, or until somebody leaves while a person thinks."""
        replies: dict[str, Reply] = {}
        self._poll_ends = math.inf
        for question in list(pending.values()):
            self._settle(question, pending, replies, turn)
        used = self._bots_seconds()
        turn.stop_others()
        ticked = perf_counter()
        while pending:
            now = perf_counter()
            self._poll_ends = due = min(*(question.next_look(now) for question in pending.values()), now + _TICK)
            ready = self._polling.wait({seat: question.link for seat, question in pending.items()}, due - now)
            late_by = 0.0
            if ready is None:
                self._note_silence(self._polling.long_poller)
                late_by = perf_counter() - due
            for seat in ready or ():
                self._receive(pending[seat], pending, replies, turn)
            if self._polling.departed and not self._polling.people.keys().isdisjoint(pending):
                break
            self._judge(pending, replies, turn, late_by, used)
            if pending and perf_counter() - ticked >= _TICK:
                # Do this also while a bot sends byte after byte: the listeners must not wait. The account of the bots' time begins
                # before: if the referee is kept away during the tick, it counts what they used meanwhile.
                used = self._bots_seconds()
                self.awaited = {seat: question.sent_at for seat, question in pending.items()}
                self._on_tick()
                self._look_for_kills(pending, replies)
                ticked = perf_counter()
        self._polling.end_wait()
        self.awaited = {}
        return replies

    def _receive(
        self, question: PendingQuestion, pending: dict[str, PendingQuestion], replies: dict[str, Reply], turn: BotTurn | SharedTurn
    ) -> None:
        """Read a pending player's output, and settle its question if a whole line is there."""
        data = question.link.read()
        if data:
            question.link.lines.feed(data)
            self._settle(question, pending, replies, turn)
        elif data == b"" or self._polling.is_gone(question.seat):
            del pending[question.seat]
            replies[question.seat] = self._reply(question, perf_counter(), None, self._polling.ended(question.player))
            if question.player.process is None:
                self._polling.note_departure(question.seat)

    def _settle(
        self, question: PendingQuestion, pending: dict[str, PendingQuestion], replies: dict[str, Reply], turn: BotTurn | SharedTurn
    ) -> None:
        """BotTurn a whole line, if there is one, into the reply."""
        line = question.link.take()
        if line is not None:
            self._answered(question, line, pending, replies, turn)

    def _answered(
        self,
        question: PendingQuestion,
        line: bytes,
        pending: dict[str, PendingQuestion],
        replies: dict[str, Reply],
        turn: BotTurn | SharedTurn,
    ) -> None:
        now, seat, lines = perf_counter(), question.seat, question.link.lines
        del pending[seat]
        if lines.is_overlong:
            replies[seat] = self._reply(
                question, now, None, Failure("overlong", line, question.link.line_number, detail={"cause": "output"})
            )
        else:
            replies[seat] = self._reply(question, now, line, None)
        if question.player.process is not None and pending:
            turn.end(self._turns.of(seat))

    def _judge(
        self, pending: dict[str, PendingQuestion], replies: dict[str, Reply], turn: BotTurn | SharedTurn, late_by: float, used: float
    ) -> None:
        """Read once more from players whose time is up. A player without a whole answer is late."""
        now = perf_counter()
        for seat, question in list(pending.items()):
            cpu = question.meter.look()
            has_used_up = question.limit is not None and cpu > question.limit
            if now < question.deadline and not has_used_up:
                continue
            line = question.link.receive_rest()
            if line is not None:
                self._answered(question, line, pending, replies, turn)
                continue
            judged = self._verdict(question, now)
            if judged == WAIT:
                continue
            if not has_used_up and late_by > self._max_lateness and self._bots_seconds() - used < late_by / 2:
                raise MatchVoid(
                    f"The referee was kept off the processor for {late_by:.2f} s while {the_seat(seat, begins=False)} was asked, more than the {self._max_lateness:g} s that it accepts: "
                    "the match is void. Run fewer programs beside it."
                )
            del pending[seat]
            replies[seat] = self._reply(question, now, None, late(question.link, is_guard=judged == GUARDED))

    def _verdict(self, question: PendingQuestion, now: float) -> Verdict:
        """Judge a player that hasn't answered by its deadline, and postpone the deadline if it may go on. MatchVoid if nobody can judge it."""
        if question.is_start and question.player.process is not None:
            question.note_beside(self.launcher.seconds_beside(question.player.process))
        return question.verdict(now)

    def _reply(self, question: PendingQuestion, now: float, line: bytes | None, failure: Failure | None) -> Reply:
        """Return one player's reply, with the bill and the time by the clock that isn't billed."""
        late = 0.0
        if self._referee_waits is not None and question.meter.kind == FAIR:
            # A poll that lasted too long is the referee's doing, also where it was stopped and not starved.
            late = max(self._referee_waits.seconds(), now - self._poll_ends)
        return question.reply(now, line, failure, late)

    def _look_for_kills(self, pending: dict[str, PendingQuestion], replies: dict[str, Reply]) -> None:
        """Fault the players of which the kernel has killed a process for its memory."""
        for seat, question in list(pending.items()):
            process = question.player.process
            if process is not None and process.is_over_memory():
                del pending[seat]
                replies[seat] = self._reply(question, perf_counter(), None, question.player.failure())

    def _bots_seconds(self) -> float:
        """Return the bots' processor time so far, in seconds, as far as it can be measured while clocks run."""
        return sum(meter.process.evidence_seconds() for meter in self._bot_meters.values())

    # Beside the questions

    @property
    def stderr_reads(self) -> int:
        """How often a player's stderr was read."""
        return self._polling.stderr_reads

    def tell(self, seat: str, data: bytes) -> None:
        """Send a player something that needs no answer."""
        self._woken(seat).send(data)

    def listen(self, seat: str, seconds: float) -> bytes:
        """Return what a player writes to stdout within a time without being asked; return early once something has come."""
        return self._polling.listen(seat, self._links[seat], seconds)

    def drain(self) -> None:
        """Read every player's stderr once, without waiting."""
        self._polling.drain()

    def _woken(self, seat: str) -> Link:
        """Continue a player if it is stopped, and return the link to it."""
        process = self.players[seat].process
        if process is not None and process.is_stopped:
            process.go_on()
        return self._links[seat]

    def drop(self, seat: str) -> None:
        """End a player that has failed, and stop watching it: its process number may belong to another process now."""
        self._polling.forget(seat)
        if seat in self._bot_meters:
            self.launcher.kill(seat)
            self._turns.forget(seat)
            del self._bot_meters[seat]

    def farewell(self, seat: str) -> Failure | None:
        """Return the failure of a person who left without being asked; None if the person is still there."""
        return self.players[seat].failure() if self._polling.has_left(seat) else None

    def dismiss(self, ends: Mapping[str, bytes], grace: float = GRACE) -> None:
        """Send each bot its last message, close its stdin and give it ``grace`` seconds to leave."""
        leaving = [bot for seat, bot in self.bots.items() if seat in ends]
        for seat, data in ends.items():
            if seat in self._functions:
                self._functions[seat].answer(data.rstrip(b"\n"))
                continue
            link = self._woken(seat)
            link.send(data)
            if not link.unsent:
                link.close_one("stdin")
        deadline = perf_counter() + grace
        while any(bot.process.status is None for bot in leaving) and not self.launcher.is_lost:
            left = deadline - perf_counter()
            if left <= 0:
                break
            self._polling.see_off(leaving, left)

    def wait_for_end(self, seat: str, seconds: float) -> bool:
        """Return whether a bot ends within a time. What it writes meanwhile is dropped."""
        deadline, bot = perf_counter() + seconds, self.bots[seat]
        while bot.process.status is None and not self.launcher.is_lost and (left := deadline - perf_counter()) > 0:
            self._polling.see_off([bot], left)
        return bot.process.status is not None

    def close(self, *, is_sound: bool = False) -> None:
        """End every process and close every connection. ``is_sound``: nothing has gone wrong, so the launcher may serve another match."""
        if self._owns_launcher:
            self.launcher.close()
        else:
            self.launcher.renew(is_sound=is_sound)
        self._opened.close()
        for player in {**self.bots, **self.players}.values():
            if player.link is not None:
                player.link.close()
            else:
                player.log.close()


def _by_cpu(line: bytes, used: float, seconds: float, limit: float | None, link: Link) -> Reply:
    """Return the reply to a quick answer by the processor time that it used; ``seconds`` is its wall time."""
    is_late = limit is not None and used > limit
    return Reply(None if is_late else line, used, late(link) if is_late else None, False, seconds)
