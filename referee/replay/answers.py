"""The values of a step's answers: the answer of each seat that was asked, with the remark beside it and the warnings about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from referee.replay.faults import MALFORMED
from referee.support.escape import escape
from referee.support.words import size_text
from referee.wire.constants import DRAW_BYTES, MOST_SHAPES, SAY_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Json, Seat
    from referee.replay.faults import Fault

#: The code of a notice about an ignored part of an answer.
IGNORED = "ignored"
#: The end of the warning about a malformed answer that is a pass.
AS_A_PASS = " It counts as a pass."  # noqa: S105 - no password

#: What a warning is about. "dialect" is the warning of a dialect.
WarningCode = Literal["say-cut", "draw-dropped", "unknown-keys", "budget-spent", "dialect", "passed"]
WARNING_CODES = frozenset(get_args(WarningCode))

#: The sentences of warnings, made from their values.
_SENTENCES: dict[WarningCode, Callable[..., str]] = {
    "say-cut": lambda: f"say was cut after {SAY_LENGTH} characters",
    "draw-dropped": lambda shapes: f"draw was dropped: {shapes} shapes, at most {MOST_SHAPES} in {DRAW_BYTES:,} bytes are shown",
    "unknown-keys": lambda *keys: f"unknown key in the answer, ignored: {', '.join(escape(key, 60) for key in keys)}",
    "budget-spent": lambda most_bytes: (
        f"say, draw and warnings are no longer kept in the replay: their budget of {size_text(most_bytes)} is used up"
    ),
    "dialect": lambda words: escape(words, 200),
    "passed": lambda text: f"{text}{AS_A_PASS}",
}


class AnswerWarning(NamedTuple):
    """A warning about an answer. ``text`` is its sentence, for the bot, the replay and people. ``code`` is "" in a replay without codes."""

    code: WarningCode | Literal[""]
    text: str

    @classmethod
    def of(cls, code: WarningCode, *values: str | int) -> AnswerWarning:
        """Return the warning whose sentence has these values, such as the unknown keys, or the sentence of the fault that is a pass."""
        return cls(code, _SENTENCES[code](*values))

    @property
    def notice_code(self) -> str:
        """The code that the bot gets: "malformed" for an answer that is a pass, else "ignored"."""
        return MALFORMED if self.code == "passed" else IGNORED


class Remark(NamedTuple):
    """The remark beside a move: ``say`` and ``draw`` of the player, and the referee's warnings.

    ``is_rescued``: the answer was read after the deadline because the referee was late.
    """

    say: Json = None
    draw: Json = None
    warnings: tuple[AnswerWarning, ...] = ()
    is_rescued: bool = False

    def to_json(self) -> dict[str, Json]:
        """The remark as it stands in a replay. ``codes`` are those of the warnings, in their order."""
        record: dict[str, Json] = {"rescued": True} if self.is_rescued else {}
        if self.say is not None:
            record["say"] = self.say
        if self.draw is not None:
            record["draw"] = self.draw
        if self.warnings:
            record["warnings"] = [warning.text for warning in self.warnings]
            if all(warning.code for warning in self.warnings):
                record["codes"] = [warning.code for warning in self.warnings]
        return record


class JudgedAnswer(NamedTuple):
    """The answer of a seat in a step: its move, or its fault. Both are None if the answer doesn't matter, or if a replay lacks it.

    ``seconds`` are billed; ``other`` are the seconds by the clock that isn't billed, None where a replay doesn't have them. ``line`` is
    the line of a fault.
    """

    move: Any
    seconds: float
    other: float | None
    remark: Remark | None = None
    fault: Fault | None = None
    line: bytes = b""


#: The answers of the players that were asked in one step, by seat.
TurnAnswers: TypeAlias = "dict[Seat, JudgedAnswer]"
