"""One process of the bot under check: its start, its questions and its end. Nothing here judges what the answers mean for a check."""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.author.check.check_result import mend
from referee.errors import StartError
from referee.games.game import IllegalMove, MalformedMove
from referee.isolation.endings import MEMORY
from referee.isolation.log import Log
from referee.match import judge
from referee.players import stack
from referee.players.clock import Clock, LongWait
from referee.players.crash_report import crash_report
from referee.players.exchange import Exchange
from referee.replay.faults import CRASHED, EXCEEDED, LATE, Fault
from referee.support.delays import run_delay
from referee.wire import decode, encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from referee.games.game import Game, Json, Seat, Settings
    from referee.isolation.bot import Bot
    from referee.isolation.process import Launcher
    from referee.match.options import TimeControl
    from referee.players.player import Reply
    from referee.wire.decode import Answer

#: How much longer than its limit a check waits for the start-up, in seconds.
_START_MORE = 2.0
#: The part of the time of a missing answer from which on its processor time shows that the bot was at work.
_AT_WORK = 0.25
#: How long output that nobody asked for may take to come, in seconds.
_NOISE = 0.05
SEED, MATCH = 7411, "2c9b8e5f7a1d4c60"
#: A question waits for a multiple of the limit of a move, plus a number of seconds.
_TIMES, _MORE = 3.0, 2.0
#: How many such waits a whole check spends on late answers.
_WAITS = 2.0


def longest_wait(time: TimeControl) -> float | None:
    """Return how long a check waits for an answer, in seconds: longer than a match, so that it can say how late the answer is."""
    return None if time.move is None else _TIMES * time.move + _MORE


class LateBudgetSpent(Exception):
    """The bot has been late for so long that it isn't asked again."""


class LateBudget:
    """The time that the checks of one seat may spend on answers that are late because the bot thinks.

    ``share`` is the part of a whole check that this seat has. Only the time of late answers counts, so a quick bot that is late once is
    still checked completely.
    """

    def __init__(self, time: TimeControl, share: float = 1.0) -> None:
        self.left = (longest_wait(time) or float("inf")) * _WAITS * share
        self.late = 0

    @property
    def is_spent(self) -> bool:
        """True if no time is left."""
        return self.left <= 0

    def spend(self, seconds: float) -> None:
        """Note a late answer."""
        self.late += 1
        self.left -= seconds

    def check(self) -> None:
        """Raise LateBudgetSpent if no time is left."""
        if self.is_spent:
            raise LateBudgetSpent


class Subject(NamedTuple):
    """The bot under check at one seat: built if it needs to be, and the match for which it is checked."""

    game: Game
    settings: Settings
    seat: Seat
    bot: Bot
    time: TimeControl
    launcher: Launcher


class Response(NamedTuple):
    """The response to one message.

    ``line`` is the bot's line, ``seconds`` its time by the wall clock, ``cpu`` its processor time, ``waited`` the seconds for which the
    system kept it or the referee off the processor. ``reason`` is empty for a good answer, else a reason code; ``fault`` says it in a sentence.
    ``place`` is the line of its own files where it was late or has ended, ``memory`` its memory so far at the peak, in bytes. ``is_late``:
    it has thought longer than the limit of a move.
    """

    line: bytes | None
    seconds: float = 0.0
    cpu: float = 0.0
    waited: float = 0.0
    reason: str = ""
    fault: Fault | None = None
    answer: Answer | None = None
    move: object = None
    name: str = ""
    place: str = ""
    memory: int = 0
    is_late: bool = False

    @property
    def own_seconds(self) -> float:
        """The bot's own time: without the time in which others had the processor."""
        return own_time(self.seconds, self.cpu, self.waited)

    @property
    def has_ended(self) -> bool:
        """True if the program has ended."""
        return self.fault is not None and self.fault.kind in (CRASHED, EXCEEDED)

    @property
    def remedy(self) -> str:
        """What to do about the end of the program at a known line; "" for everything else."""
        return mend(self.place) if self.place and self.has_ended else ""

    @property
    def exceeds_memory(self) -> bool:
        """True if the program was ended because it went over its limit of memory."""
        return self.fault is not None and self.fault.cause == MEMORY

    @property
    def text(self) -> str:
        """The sentence about a fault."""
        return "" if self.fault is None else self.fault.text


def own_time(seconds: float, cpu: float, waited: float) -> float:
    """Return the part of a time by the wall clock that is the bot's own. Several processors can give it more processor time than that."""
    return min(seconds, max(cpu, seconds - waited))


class Interview:
    """One process of the bot. ``close`` ends it, with everything that it has started.

    ``is_noisy``: what it writes unasked is dropped before each question, because another check reports it.
    """

    def __init__(
        self, subject: Subject, settings: Settings | None = None, late_budget: LateBudget | None = None, *, is_noisy: bool = False
    ) -> None:
        self.subject = subject
        self.late_budget = LateBudget(subject.time) if late_budget is None else late_budget
        #: How many answers of this process were late, and the memory of all its processes so far at the peaks, in bytes.
        self.late = self.peak = 0
        #: The time at which its open question was sent; infinite after its place was found.
        self._asked_at = float("inf")
        self._whereabouts: stack.Whereabouts | None = None
        self.settings = subject.settings if settings is None else settings
        self.seat = subject.seat
        self.log = Log(None, subject.launcher.level.limits.stderr_bytes)
        self.exchange = Exchange({self.seat: subject.bot}, {self.seat: self.log}, subject.launcher, on_tick=self._look)
        self.control = subject.time
        #: The number of its questions.
        self.questions = 0
        self.begun = perf_counter()
        try:
            self.exchange.open()
        except BaseException:
            self.close()
            raise
        self.player = self.exchange.players[self.seat]
        self.process = self.exchange.processes[self.seat]
        assert self.player.link is not None
        self.link = self.player.link
        #: The line sent last, for reports.
        self.sent = b""
        self.startup_seconds = 0.0
        self._is_noisy = is_noisy

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the bot and everything that it has started."""
        self.exchange.close(is_sound=True)

    # Messages

    def start_line(self, *, seed: int = SEED, clock: Mapping[str, Json] | None = None, more: Mapping[str, Json] | None = None) -> bytes:
        """The ``start`` message. ``clock`` replaces parts of the clock; ``more`` are unknown fields for the message, its settings and its clock."""
        game, more = self.subject.game, more or {}
        settings = {**game.codec.settings_json(self.settings), **more}
        limits = {**self.control.to_json(), **(clock or {}), **more}
        line = encode.start(game.info, self.settings.rules, self.seat, settings, clock=limits, seed=seed, match=MATCH)
        return with_fields(line, more) if more else line

    def question(
        self,
        turn: int,
        state: object,
        notices: Sequence[Mapping[str, str]] = (),
        left: tuple[float | None, float | None] | None = None,
    ) -> bytes:
        """The ``turn`` message of a position. ``left`` is the time for the move and in the bank, in seconds; None: as in a match."""
        view = self.subject.game.codec.view_text(state, self.seat)
        move, bank = (self.control.move, self.control.bank) if left is None else left
        return encode.turn(turn, view, notices, encode.limit(move), bank)

    # Exchanges

    def greet(self, line: bytes | None = None, limit: float | None = None) -> Response:
        """Send ``start`` and wait for ``ready``. StartError if the system or the sandbox could not start the program."""
        self.sent = self.start_line() if line is None else line
        limit = (self.control.startup or 60.0) + _START_MORE if limit is None else limit
        before, cpu = waited(self.process.first_pid()), self.cpu_seconds()
        reply = self.exchange.ask_all({self.seat: (self.sent, Clock(self.control.replace(startup=limit)))}, is_start=True)[self.seat]
        self.startup_seconds = perf_counter() - self.begun
        refusal = self.process.start_refusal() if reply.failure is not None else None
        if refusal is not None:
            raise StartError(f"{refusal}.", self.seat)
        self.note_memory()
        response = self._timed(reply, before, cpu)._replace(memory=self.peak)
        if reply.failure is not None:
            control = self.control.replace(startup=limit)
            if reply.failure.reason in ("silent", "unread"):
                self._whereabouts = stack.whereabouts(self.player, may_end=False)
            fault = judge.not_ready(self.player, reply.failure, None, control)
            return self._located(response._replace(reason=reply.failure.reason, fault=fault))
        assert reply.line is not None
        name = decode.ready(reply.line)
        if isinstance(name, str):
            return response._replace(name=name)
        return response._replace(reason=name.reason, fault=judge.malformed(self.seat, name, reply.line))

    def ask(self, turn: int, state: object, line: bytes | None = None) -> Response:
        """Send a question and judge the answer as a match does, but with more patience. LateBudgetSpent if the bot has been late for too long."""
        if self.is_given_up:
            raise LateBudgetSpent
        self.sent = self.question(turn, state) if line is None else line
        self.settle()
        self._whereabouts, self._asked_at = None, perf_counter()
        before, cpu = waited(self.process.first_pid()), self.cpu_seconds()
        reply = self.exchange.ask(self.seat, self.sent, Clock(self.control, wait=patience(self.control)))
        self._asked_at = float("inf")
        self.questions += 1
        return self._noted(self.judge(self._timed(reply, before, cpu), reply, turn, state))

    def _look(self) -> None:
        """In a long wait, look at its memory, and once it is late, at the line that it is running."""
        self.note_memory()
        if self.control.move is not None and perf_counter() - self._asked_at > self.control.move:
            self._asked_at = float("inf")
            self._whereabouts = stack.whereabouts(self.player, may_end=False)

    def _noted(self, response: Response) -> Response:
        """Return what came, with the memory, and whether the bot has thought too long."""
        limit, place = self.control.move, response.place or (self._whereabouts.place if self._whereabouts is not None else "")
        self.note_memory()
        response = response._replace(place=place, memory=self.peak)
        has_thought = bool(response.line or place) or response.cpu > _AT_WORK * response.own_seconds
        if limit is None or response.has_ended or response.own_seconds <= limit or not has_thought:
            return response
        self.late += 1
        self.late_budget.spend(response.seconds)
        return response._replace(is_late=True)

    def locate(self, response: Response) -> Response:
        """Return a late answer with the line that the bot is running, if that can be known. The bot may end by that."""
        whereabouts = self._whereabouts or stack.whereabouts(self.player)
        if response.fault is None or response.place or whereabouts is None:
            return response
        return response._replace(
            place=whereabouts.place, fault=judge.with_place(response.fault, whereabouts.place, may_wait=whereabouts.may_wait)
        )

    def judge(self, response: Response, reply: Reply, turn: int, state: object) -> Response:
        """Return what came for a question, judged."""
        if reply.failure is not None:
            clock = Clock(self.control.replace(bank=None), wait=patience(self.control), answers=self.questions - 1)
            is_at_work = response.cpu > _AT_WORK * response.own_seconds
            fault = judge.unanswered(self.player, reply.failure, clock, was_at_work=is_at_work)
            return self._located(response._replace(line=reply.failure.line, reason=reply.failure.reason, fault=fault))
        assert reply.line is not None
        return self.read(response, turn, state)

    def read(self, response: Response, turn: int, state: object) -> Response:
        """Return a line as the answer to a question, judged."""
        line = response.line or b""
        answer = decode.move(line, turn)
        if isinstance(answer, decode.Problem):
            return response._replace(reason=answer.reason, fault=judge.malformed(self.seat, answer, line, turn))
        response = response._replace(answer=answer)
        try:
            return response._replace(move=self.subject.game.codec.parse(state, self.seat, answer.move))
        except (MalformedMove, IllegalMove) as error:
            reason = "bad-move" if isinstance(error, MalformedMove) else "illegal"
            return response._replace(reason=reason, fault=judge.refused_move(self.seat, error, line, turn))

    def _located(self, response: Response) -> Response:
        """Return a failure with the line of its own files where the bot was late, or where it has ended."""
        if self._whereabouts is not None and response.fault is not None and response.fault.kind == LATE:
            return self.locate(response)
        if not response.has_ended:
            return response
        return response._replace(place=crash_report(self.player.log.tail(), self.process.file_names(), self.process.status).place)

    def _timed(self, reply: Reply, before: float, cpu: float) -> Response:
        lost = max(0.0, waited(self.process.first_pid()) - before)
        return Response(reply.line, reply.seconds, max(0.0, self.cpu_seconds() - cpu), lost)

    @property
    def has_ended(self) -> bool:
        """True if the program has ended."""
        return self.process.status is not None

    @property
    def is_given_up(self) -> bool:
        """True if it isn't asked again, because its answers are late and no time is left for that."""
        return self.late > 1 and self.late_budget.is_spent

    def cpu_seconds(self) -> float:
        """Return the processor time of all its processes so far, in seconds."""
        return self.process.seconds()

    def listen(self, seconds: float) -> bytes:
        """Return what it writes to stdout within a time without being asked; return early once something has come."""
        return self.exchange.listen(self.seat, seconds)

    def settle(self) -> None:
        """Drop what a noisy bot has written unasked."""
        if self._is_noisy:
            self.listen(_NOISE)

    def write(self, data: bytes) -> None:
        """Send bytes that need no answer."""
        self.settle()
        self.sent = data
        self.exchange.tell(self.seat, data)

    # The end

    def dismiss(self, result: Mapping[str, Json] | None, seconds: float) -> float | None:
        """Send ``end``, if there is a result, and close its stdin. Return the seconds until it ended, None if it didn't."""
        begun = perf_counter()
        if result is not None:
            self.sent = encode.end(result)
            self.link.send(self.sent)
        self.link.close_one("stdin")
        return perf_counter() - begun if self.wait_for_end(seconds) else None

    def wait_for_end(self, seconds: float) -> bool:
        """Return whether it ends within a time. What it writes meanwhile is dropped."""
        return self.exchange.wait_for_end(self.seat, seconds)

    def note_memory(self) -> None:
        """Look at the memory of all its processes at their peaks. The peak stays 0 if the system doesn't tell."""
        self.peak = max(self.peak, sum(_peak(pid) for pid in self.process.pids()))


def patience(time: TimeControl) -> LongWait:
    """Return how long a check waits for an answer: longer than a match does."""
    return LongWait(longest_wait(time), "that a check waits")


def with_fields(line: bytes, more: Mapping[str, Json]) -> bytes:
    """Return a message with further fields."""
    return json.dumps({**json.loads(line), **more}, separators=(",", ":")).encode() + b"\n"


def waited(pid: int) -> float:
    """Return the seconds for which a process and the referee were ready to run but had no processor; 0 where the system doesn't tell."""
    return run_delay(str(pid)) + run_delay("self")


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - the kernel's own file
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    return 0
