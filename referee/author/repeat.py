"""Asks a bot the recorded questions of a replay again: the engine of ``rerun``, ``debug`` and ``referee.ask``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.errors import ReplayError, UsageError
from referee.isolation.log import Log
from referee.match.asking import Asker
from referee.match.options import TimeControl
from referee.players.clock import Clock, LongWait
from referee.players.exchange import Exchange
from referee.players.names import resolve
from referee.players.player import GRACE, host_of, is_human
from referee.replay.faults import Fault
from referee.replay.questions import ComparedAnswer
from referee.replay.reader import start_of
from referee.replay.records import NO_CLOCK

if TYPE_CHECKING:
    from typing_extensions import Self

    from referee.isolation.bot import Bot
    from referee.isolation.process import Launcher
    from referee.players.player import Player
    from referee.replay.answers import JudgedAnswer
    from referee.replay.questions import RecordedSeat, RepeatQuestion

#: No limit on the remarks of a bot that is asked again, in bytes.
_UNLIMITED = 1 << 62


class RepeatedAnswer(NamedTuple):
    """A bot's answer to a recorded question, as it was ``judged`` and as a value to compare. ``is_same`` is true if nothing is recorded."""

    answer: ComparedAnswer
    judged: JudgedAnswer
    is_same: bool


class Repeat:
    """One bot that is asked the questions of a replay, in a process of its own. Use it as a context manager: ``greet`` it, then ``ask``.

    ``patience`` is its limit for each answer, in seconds, None for no limit. ReplayError if the replay has no valid clock.
    """

    def __init__(self, seat: RecordedSeat, player: Player, launcher: Launcher, patience: float | None, log: Log | None = None) -> None:
        if seat.clock is None:
            raise ReplayError(NO_CLOCK)
        self._control = TimeControl(**seat.clock.to_json())
        self._seat = seat
        self._wait = LongWait(patience, "that it has here")
        self._log = log or Log(None, launcher.level.limits.stderr_bytes)
        host = host_of(player, seat.seat)
        hosts = {} if host is None else {seat.seat: host}
        excuses = seat.replay.head.get("on_malformed") == "pass"
        self._exchange = Exchange({seat.seat: player}, {seat.seat: self._log}, launcher, drops_early=excuses)
        self._clocks = {seat.seat: Clock(self._control, wait=self._wait)}
        self._asker = Asker(seat.game, self._clocks, hosts, self._exchange, excuses=excuses, remarks_bytes=_UNLIMITED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._exchange.close()
        self._log.close()

    def greet(self, line: bytes, startup: float | None) -> ComparedAnswer | None:
        """Start the bot and send it this ``start`` message, or the equivalent in a dialect. Return its failure.

        ``startup`` limits its start, None for no limit. Raises StartError if its program can't be started.
        """
        game, seat = self._seat.game, self._seat.seat
        self._exchange.open()
        state = start_of(game, self._seat.settings, self._seat.replay.head)
        clock = Clock(self._control.replace(startup=startup))
        name = self._asker.greet(state, {seat: (line, clock)}, {})[seat]
        return ComparedAnswer.of_fault(name) if isinstance(name, Fault) else None

    def ask(self, question: RepeatQuestion) -> RepeatedAnswer | None:
        """Ask a question, with the time that the bot had left in the match. Return None for a question that only a dialect asks."""
        seat = self._seat.seat
        self._clocks[seat] = Clock(self._control, wait=self._wait, bank=question.bank, answers=self._clocks[seat].answers)
        self._asker.replace_notices(seat, question.notices)
        answers = self._asker.ask(question.turn, question.state, [seat] if question.is_move else [])
        self._exchange.drain()
        if not question.is_move:
            return None
        answer = ComparedAnswer.of(self._seat.game, answers[seat])
        return RepeatedAnswer(answer, answers[seat], question.answer is None or answer.is_same(question.answer))

    def dismiss(self, line: bytes, grace: float = GRACE) -> None:
        """Send the bot its last message, and give it ``grace`` seconds to exit."""
        self._asker.dismiss({self._seat.seat: line}, grace)


def program_of(player: str, recorded: RecordedSeat) -> Bot:
    """Return the program that a user names for a recorded seat. UsageError for a person."""
    if is_human(player):
        raise UsageError("Only a program can be asked again; name its file.")
    return resolve(player, recorded.seat, recorded.game.info.name, recorded.settings)
