"""The long wait for answers: until each question has its answer, its limit is reached, or somebody leaves.

Theory of operation. The referee never bills its own lateness. If it wakes up after a deadline, it reads once more before it judges. A whole
answer then counts; it is marked as *rescued* and billed up to the limit. If the referee was kept off the processor for longer than
``max_lateness``, and the match's own bots didn't cause this, then a missing answer is nobody's fault and the match is void.

A deadline is the earliest moment at which a limit can be reached. By the fair clock it is postponed by what is left of the limit then; while
programs start side by side, by the processor time of the others.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.players.clock import FAIR, GUARDED, WAIT, Verdict
from referee.players.pending import PendingQuestion, late
from referee.replay.faults import Failure
from referee.support.words import the_seat

if TYPE_CHECKING:
    import select
    from collections.abc import Callable, Mapping

    from referee.isolation.process import Launcher
    from referee.players.fair_meter import RefereeWaits
    from referee.players.meter import BotMeter
    from referee.players.player import Reply
    from referee.players.polling import Polling
    from referee.players.scheduling import BotTurn, SharedTurn, Turns

#: How often a long wait calls ``on_tick``, in seconds.
_TICK = 0.25


class AnswerWait:
    """Waits for the answers to one question or to several.

    ``awaited`` are the players in the present long wait, with the times of their questions by the performance counter. ``meters`` are those of
    the bots that are watched; ``referee_waits`` is None where the fair clock doesn't bill.
    """

    def __init__(
        self,
        polling: Polling,
        turns: Turns,
        meters: Mapping[str, BotMeter],
        referee_waits: RefereeWaits | None,
        launcher: Launcher,
        max_lateness: float,
        on_tick: Callable[[], None],
    ) -> None:
        self.awaited: dict[str, float] = {}
        self._polling = polling
        self._turns = turns
        self._meters = meters
        self._referee_waits = referee_waits
        self._launcher = launcher
        self._max_lateness = max_lateness
        self._on_tick = on_tick
        #: The latest end of the present poll: a longer poll is the referee's lateness.
        self._poll_ends = math.inf
        # The present wait.
        self._pending: dict[str, PendingQuestion] = {}
        self._replies: dict[str, Reply] = {}
        self._turn: BotTurn | SharedTurn

    def wait(self, pending: dict[str, PendingQuestion], turn: BotTurn | SharedTurn) -> dict[str, Reply]:
        """Take out pending questions with replies, and return these: all of them, unless somebody leaves while a person thinks."""
        self._pending, self._replies, self._turn = pending, {}, turn
        self._poll_ends = math.inf
        for question in list(pending.values()):
            self._settle(question)
        used = self._bots_seconds()
        turn.stop_others()
        ticked = perf_counter()
        while pending:
            now = perf_counter()
            self._poll_ends = due = min(*(question.next_look(now) for question in pending.values()), now + _TICK)
            ready = self._polling.wait({seat: question.link for seat, question in pending.items()}, due - now)
            late_by = 0.0
            if ready is None:
                self.note_silence(self._polling.long_poller)
                late_by = perf_counter() - due
            for seat in ready or ():
                self._receive(pending[seat])
            if self._polling.departed and not self._polling.people.keys().isdisjoint(pending):
                break
            self._judge(late_by, used)
            if pending and perf_counter() - ticked >= _TICK:
                # Do this also while a bot sends byte after byte: the listeners must not wait. The account of the bots' time begins
                # before: if the referee is kept away during the tick, it counts what they used meanwhile.
                used = self._bots_seconds()
                self.awaited = {seat: question.sent_at for seat, question in pending.items()}
                self._on_tick()
                self._look_for_kills()
                ticked = perf_counter()
        self._polling.end_wait()
        self.awaited = {}
        return self._replies

    def reply(self, question: PendingQuestion, now: float, line: bytes | None, failure: Failure | None, poll_ends: float) -> Reply:
        """Return one player's reply, with the bill and the time by the clock that isn't billed.

        ``poll_ends`` is when the last poll should have ended. A longer poll is the referee's lateness, even if it was stopped and not
        starved.
        """
        lateness = 0.0
        if self._referee_waits is not None and question.meter.kind == FAIR:
            lateness = max(self._referee_waits.seconds(), now - poll_ends)
        return question.reply(now, line, failure, lateness)

    def note_silence(self, poller: select.poll | None) -> None:
        """Note that a poll has ended without an answer."""
        if self._referee_waits is not None and poller is not None:
            self._referee_waits.note_silence(poller)

    def _end(self, question: PendingQuestion, now: float, line: bytes | None, failure: Failure | None) -> None:
        """Take a question out of those that are pending, with its reply."""
        del self._pending[question.seat]
        self._replies[question.seat] = self.reply(question, now, line, failure, self._poll_ends)

    def _receive(self, question: PendingQuestion) -> None:
        """Read a pending player's output, and settle its question if a whole line is there."""
        data = question.link.read()
        if data:
            question.link.lines.feed(data)
            self._settle(question)
        elif data == b"" or self._polling.is_gone(question.seat):
            self._end(question, perf_counter(), None, self._polling.ended(question.player))
            if question.player.process is None:
                self._polling.note_departure(question.seat)

    def _settle(self, question: PendingQuestion) -> None:
        """Turn a whole line, if there is one, into the reply."""
        line = question.link.take()
        if line is not None:
            self._answered(question, line)

    def _answered(self, question: PendingQuestion, line: bytes) -> None:
        now, link = perf_counter(), question.link
        if link.lines.is_overlong:
            self._end(question, now, None, Failure("overlong", line, link.line_number, detail={"cause": "output"}))
        else:
            self._end(question, now, line, None)
        if question.player.process is not None and self._pending:
            self._turn.end(self._turns.of(question.seat))

    def _judge(self, late_by: float, used: float) -> None:
        """Read once more from players whose time is up. A player without a whole answer is late.

        The referee was woken ``late_by`` seconds too late; ``used`` is the bots' processor time at the last tick.
        """
        now = perf_counter()
        for seat, question in list(self._pending.items()):
            cpu = question.meter.look()
            has_used_up = question.limit is not None and cpu > question.limit
            if now < question.deadline and not has_used_up:
                continue
            line = question.link.receive_rest()
            if line is not None:
                self._answered(question, line)
                continue
            judged = self._verdict(question, now)
            if judged == WAIT:
                continue
            if not has_used_up and late_by > self._max_lateness and self._bots_seconds() - used < late_by / 2:
                raise MatchVoid(
                    f"The referee was kept off the processor for {late_by:.2f} s while {the_seat(seat, begins=False)} was asked, more than the {self._max_lateness:g} s that it accepts: "
                    "the match is void. Run fewer programs beside it."
                )
            self._end(question, now, None, late(question.link, is_guard=judged == GUARDED))

    def _verdict(self, question: PendingQuestion, now: float) -> Verdict:
        """Judge a player that hasn't answered by its deadline, and postpone the deadline if it may go on. MatchVoid if nobody can judge it."""
        if question.is_start and question.player.process is not None:
            question.note_beside(self._launcher.seconds_beside(question.player.process))
        return question.verdict(now)

    def _look_for_kills(self) -> None:
        """Fault the players of which the kernel has killed a process for its memory."""
        for question in list(self._pending.values()):
            process = question.player.process
            if process is not None and process.is_over_memory():
                self._end(question, perf_counter(), None, question.player.failure())

    def _bots_seconds(self) -> float:
        """Return the bots' processor time so far, in seconds, as far as it can be measured while clocks run."""
        return sum(meter.process.evidence_seconds() for meter in self._meters.values())
