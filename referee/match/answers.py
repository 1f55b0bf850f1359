"""Decodes a bot's answer: the message around its move.

Bots often repeat an answer that differs only in the turn. So decoded answers are cached and found again when the same line arrives in
another turn. Decoding is the most expensive part of a quick step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.players.faults import MALFORMED, Fault
from referee.wire.escape import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Game, Json, Seat

#: Answers up to this many bytes are cached, so that the same answer in another turn needs no decoding.
_SHORT_ANSWER = 512
_MOST_REMEMBERED = 1_000


class Answer(NamedTuple):
    """A well-formed answer; ``unknown`` are the keys of the move that the game doesn't know."""

    move: Json
    say: str | None
    draw: Json
    unknown: tuple[str, ...]
    has_remarks: bool


class Answers:
    """Reads the answers of one match. ``remembered`` is the cache, by seat and by ``without_turn`` of the line."""

    def __init__(self, game: Game[Any, Any], seats: Iterable[Seat]) -> None:
        self._game = game
        self.remembered: dict[Seat, dict[bytes, Answer]] = {seat: {} for seat in seats}

    def decode(self, seat: Seat, turn: int, line: bytes, state: Any) -> Answer | Fault:
        """Return the decoded answer, or the fault of a malformed one.

        The cache key is the line without the turn's number. This is safe because the digits of one number can't change the meaning of the
        rest. Lines with escapes or with more than one "turn" are never cached.
        """
        from referee.wire import messages

        try:
            message = messages.read_move(line)
        except messages.Malformed as error:
            return Fault(MALFORMED, f"The {seat}'s answer in turn {turn} {error}.", quoted(line, 500))
        if message.turn != turn:
            text = f"The {seat} answered turn {_number(message.turn)} when asked for turn {turn}: {quoted(line)} - an answer carries the turn of its question."
            return Fault(MALFORMED, text, quoted(line, 500))
        draw = None if message.draw is None else [shape.model_dump(exclude_none=True) for shape in message.draw]
        unknown = tuple(self._game.codec.unknown_keys(state, seat, message.move))
        answer = Answer(message.move, message.say, draw, unknown, bool(message.say is not None or draw is not None or unknown))
        key = without_turn(line, turn)
        if key and len(line) <= _SHORT_ANSWER and b"\\" not in line and line.count(b'"turn"') == 1:
            remembered = self.remembered[seat]
            if len(remembered) >= _MOST_REMEMBERED:
                remembered.clear()
            remembered[key] = answer
        return answer


def without_turn(line: bytes, turn: int) -> bytes:
    """Return an answer without the number of its turn: a key that is equal for the same answer in other turns.

    Empty if the line doesn't contain the number in a usual spelling.
    """
    cut = line.replace(b'"turn":%d' % turn, b'"turn":', 1)
    if len(cut) == len(line):
        cut = line.replace(b'"turn": %d' % turn, b'"turn":', 1)
    return cut if len(cut) < len(line) else b""


def _number(value: int) -> str:
    return str(value) if value < 10**9 else "a huge number"
