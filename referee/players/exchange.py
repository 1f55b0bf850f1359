"""Asks the players of a match: schedules, polls, measures, and lets the clock judge.

Theory of operation. All descriptors are non-blocking and watched by one poll (``polling.py``). A player's time runs from the first byte of its
question to the arrival of its whole answer. There is one deadline for the whole answer: bytes that trickle in never extend it.
The short wait in this module serves players that answer at once. Only slower players pay for the bookkeeping of a long wait (``waiting.py``).
``scheduling.py`` decides who runs meanwhile, ``meter.py`` and ``fair_meter.py`` measure, ``clock.py`` computes the bill and decides when a
player is late.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.bot import Bot
from referee.players.clock import CPU, FAIR, WALL, BilledTime, Clock
from referee.players.connection import ConnectedPlayer
from referee.players.fair_meter import FairMeter, RefereeWaits
from referee.players.function import LocalPlayer
from referee.players.link import Link
from referee.players.meter import QUICK, BotMeter, CpuMeter, Meter
from referee.players.pending import PendingQuestion, late, out_of_time
from referee.players.player import GRACE, Connection, Function, Reply, RunningPlayer
from referee.players.polling import Polling
from referee.players.scheduling import BotTurn, Turns
from referee.players.waiting import AnswerWait
from referee.replay.faults import Failure
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    import select
    from collections.abc import Callable, Mapping

    from referee.isolation.bot_process import BotProcess
    from referee.isolation.log import Log
    from referee.isolation.process import Launcher
    from referee.players.cores import Cores
    from referee.players.player import Player

#: How long the first, short wait lasts, in seconds.
_SHORT = 0.01
#: The same in milliseconds, and how long the first look for an answer lasts before the referee looks for bots that work out of turn.
_SHORT_MS, _FIRST_MS = 10, 1


class _BotParts(NamedTuple):
    """The objects that ask one program of the match."""

    player: RunningPlayer
    link: Link
    process: BotProcess
    meter: BotMeter
    turn: BotTurn
    poller: select.poll


class Exchange:
    """The exchange with the players of some seats. Call ``open``, then ask; in the end ``close``, however it ends.

    ``launcher`` runs those that are bots; ``processes`` are theirs. ``logs`` take the players' stderr. ``kind`` is the time that is billed.
    With ``stops_idle``, bots are stopped while others are asked. ``max_lateness`` are the seconds for which the referee may be
    kept off the processor. With ``drops_early``, bytes that a program wrote before it was asked are dropped;
    else they are a fault. ``on_tick`` is called about four times a second during long waits. ``cpu_seconds`` is a kernel limit on the processor
    time of each bot, None for none.
    """

    def __init__(
        self,
        players: Mapping[str, Player],
        logs: Mapping[str, Log],
        launcher: Launcher,
        *,
        kind: BilledTime = WALL,
        stops_idle: bool = False,
        max_lateness: float = math.inf,
        drops_early: bool = False,
        on_tick: Callable[[], None] = lambda: None,
        cpu_seconds: int | None = None,
    ) -> None:
        self.players: dict[str, RunningPlayer] = {}
        self.processes: Mapping[str, BotProcess] = {}
        self._launcher = launcher
        self._players = players
        self._logs = logs
        self._kind = kind
        self._stops_idle = stops_idle
        self._max_lateness = max_lateness
        self._drops_early = drops_early
        self._on_tick = on_tick
        self._cpu_seconds = cpu_seconds
        self._opened = ExitStack()
        self._bots_by_seat: dict[str, _BotParts] = {}

    # The beginning

    def open(self, before_run: Callable[[int, int], None] | None = None) -> None:
        """Start the programs and wait until they run. Raises StartError, MatchVoid and PlayerError as ``Launcher`` does.

        ``before_run`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """
        bots = {seat: player for seat, player in self._players.items() if isinstance(player, Bot)}
        processes = self._launcher.launch(bots, self._logs, self._cpu_seconds)
        for seat, player in self._players.items():
            if isinstance(player, Connection):
                self.players[seat] = ConnectedPlayer(seat, player, self._logs[seat])
            elif isinstance(player, Function):
                self.players[seat] = LocalPlayer(seat, player, self._logs[seat])
        self._launcher.wait(before_run)
        self.processes = processes
        self.players = {**{seat: self._program(process, bots[seat]) for seat, process in processes.items()}, **self.players}
        self._connect()

    @staticmethod
    def _program(process: BotProcess, bot: Bot) -> RunningPlayer:
        """Return a program of the match with the link to it."""
        # Like the course's servers, take a line of a dialect that came too early as the answer to the next question.
        keeps_early = bot.dialect is not None
        lines = LineBuffer(process.limits.line_bytes, keeps_blank=keeps_early)
        link = Link(process.take_pipes(), process.log, lines, keeps_early=keeps_early)
        return RunningPlayer(process.seat, process.label, process.log, link, process)

    def _connect(self) -> None:
        """Make the layers between the players and the questions."""
        processes = self.processes
        self._functions = {seat: player for seat, player in self.players.items() if isinstance(player, LocalPlayer)}
        self._links = {seat: player.link for seat, player in self.players.items() if player.link is not None}
        self._polling = Polling(self._links, self._launcher)
        is_fair = self._kind == FAIR and bool(processes)
        self._referee_waits = RefereeWaits() if is_fair else None
        started_as = self._launcher.priority() if is_fair else None
        self._bot_meters = {seat: self._meter(process, started_as) for seat, process in processes.items()}
        self._meters: dict[str, Meter] = {seat: self._bot_meters.get(seat) or Meter(records_wall=is_fair) for seat in self._links}
        self._turns = Turns(self._bot_meters, is_enabled=self._stops_idle)
        self._held = self._turns.held
        self._waiting = AnswerWait(
            self._polling, self._turns, self._bot_meters, self._referee_waits, self._launcher, self._max_lateness, self._on_tick
        )
        # With the fair clock an unnecessary poll does harm: afterwards, a wait of the referee and sleep of the bot look the same.
        self._first_ms = _SHORT_MS if is_fair and not self._held else _FIRST_MS
        for meter in self._meters.values():
            self._opened.callback(meter.close)
        if self._referee_waits is not None:
            self._opened.callback(self._referee_waits.close)

    def _meter(self, process: BotProcess, started_as: tuple[int, int] | None) -> BotMeter:
        if self._kind == FAIR:
            return FairMeter(process, None if process.is_sandbox else started_as)
        return CpuMeter(process) if self._kind == CPU else BotMeter(process)

    def pin(self, cores: Cores) -> None:
        """Keep the bots, then the referee, on the match's cores. A bot that a freezer holds is frozen first, so that it can't fork meanwhile."""
        for index, process in enumerate(self.processes.values()):
            if process.holds:
                process.stop()
                process.stand_still()
            cores.pin(index, process.pids())
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
        link, meter = self._links[seat], self._bot_meters[seat]
        poller = self._polling.poller([link])
        self._bots_by_seat[seat] = _BotParts(self.players[seat], link, meter.process, meter, self._turns.of(seat), poller)
        return self.ask(seat, data, clock)

    def _ask_on(self, bot: _BotParts, question: PendingQuestion, events: list[tuple[int, int]] | None, line: bytes | None) -> Reply:
        """Continue with a question that wasn't answered at once. ``events`` are those of the first poll; None without one.

        ``line`` is the answer; None if it is missing so far, empty if the bot has ended.
        """
        if events == []:
            events = self._look_again(bot, question)
            if events == bot.link.answered:
                line = bot.link.receive_answer()
        now = perf_counter()
        if events and self._held:
            # Also if the first poll took too long, because the work of another bot kept the referee off the processor.
            # The account is read after the clock, so that it holds all that another bot did in these seconds.
            question.give_back(bot.turn.used_beside(), now)
        if line is None:
            return self._waiting.wait({question.seat: question}, bot.turn)[question.seat]
        failure = None if line else self._polling.ended(bot.player)
        return self._waiting.reply(question, now, line or None, failure, question.sent_at + QUICK + _SHORT)

    def _look_again(self, bot: _BotParts, question: PendingQuestion) -> list[tuple[int, int]]:
        """Continue a short wait after its first poll, and return the events. Other bots that work meanwhile are frozen."""
        turn, poller, limit = bot.turn, bot.poller, question.limit
        self._waiting.note_silence(poller)
        if self._held:
            question.give_back(turn.freeze_workers(), perf_counter())
        is_long = limit is None or limit > _SHORT or bot.meter.kind == CPU
        events = poller.poll(_SHORT_MS if is_long else math.ceil((limit or 0.0) * 1000))
        if not events:
            self._waiting.note_silence(poller)
            if self._held:
                question.give_back(turn.last_long(), perf_counter())
        return events

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
                replies |= self._waiting.wait(pending, turn)
                departed = self._polling.take_departed()
                if any(is_over(seat) for seat in departed):
                    for seat in self._polling.people.keys() & pending.keys():
                        replies[seat] = self._waiting.reply(pending.pop(seat), perf_counter(), None, None, math.inf)
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

    # Beside the questions

    @property
    def awaited(self) -> Mapping[str, float]:
        """The players in the present long wait, and the times of their questions by the performance counter."""
        return self._waiting.awaited

    @property
    def stderr_reads(self) -> int:
        """How often a player's stderr was read."""
        return self._polling.stderr_reads

    def tell(self, seat: str, data: bytes) -> None:
        """Send a player a message that needs no answer."""
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
            self._launcher.kill(seat)
            self._turns.forget(seat)
            del self._bot_meters[seat]

    def farewell(self, seat: str) -> Failure | None:
        """Return the failure of a person who left without being asked; None if the person is still there."""
        return self.players[seat].failure() if self._polling.has_left(seat) else None

    def dismiss(self, ends: Mapping[str, bytes], grace: float = GRACE) -> None:
        """Send each bot its last message, close its stdin and give it ``grace`` seconds to leave."""
        leaving = [self.players[seat] for seat in self.processes if seat in ends]
        for seat, data in ends.items():
            if seat in self._functions:
                self._functions[seat].answer(data.rstrip(b"\n"))
                continue
            link = self._woken(seat)
            link.send(data)
            if not link.unsent:
                link.close_one("stdin")
        deadline = perf_counter() + grace
        while any(self.processes[bot.seat].status is None for bot in leaving) and not self._launcher.is_lost:
            left = deadline - perf_counter()
            if left <= 0:
                break
            self._polling.see_off(leaving, left)

    def wait_for_end(self, seat: str, seconds: float) -> bool:
        """Return whether a bot ends within a time. What it writes meanwhile is dropped."""
        deadline, process = perf_counter() + seconds, self.processes[seat]
        while process.status is None and not self._launcher.is_lost and (left := deadline - perf_counter()) > 0:
            self._polling.see_off([self.players[seat]], left)
        return process.status is not None

    def close(self, *, is_sound: bool = False) -> None:
        """End every process and close every connection. ``is_sound``: nothing has failed, so the launcher may serve another match."""
        self._launcher.renew(is_sound=is_sound)
        self._opened.close()
        for player in self.players.values():
            if player.link is not None:
                player.link.close()
            else:
                player.log.close()


def _by_cpu(line: bytes, used: float, seconds: float, limit: float | None, link: Link) -> Reply:
    """Return the reply to a quick answer by the processor time that it used; ``seconds`` is its wall time."""
    is_late = limit is not None and used > limit
    return Reply(None if is_late else line, used, late(link) if is_late else None, False, seconds)
