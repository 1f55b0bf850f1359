"""Lines of protocol 1 as values. A bot's line that is not the expected message becomes a ``Problem``, which is a value too."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from referee.wire import strict_json
from referee.wire.strict_json import NotJson

if TYPE_CHECKING:
    from referee.games.game import Json

Reason = strict_json.Reason | Literal["not-an-object", "other-type", "no-key", "wrong-value", "other-turn"]


class Problem(NamedTuple):
    """Why a line is not the expected message. ``data`` is what the sentence about it needs, such as the name of the key."""

    reason: Reason
    data: tuple[str | int, ...] = ()


class Answer(NamedTuple):
    """A ``move`` message. ``draw`` is JSON; None means that the bot sent none, as for ``say``."""

    move: Json
    say: str | None
    draw: Json


def ready(line: bytes) -> str | Problem:
    """Return the bot's own name from its ``ready`` message, "" if it gives none."""
    message = _message(line, "ready")
    return message if isinstance(message, Problem) else message.name or ""


def move(line: bytes, turn: int) -> Answer | Problem:
    """Return the answer to the question of a turn."""
    message = _message(line, "move")
    if isinstance(message, Problem):
        return message
    if message.turn != turn:
        return Problem("other-turn", (message.turn, turn))
    draw = None if message.draw is None else [shape.model_dump(exclude_none=True) for shape in message.draw]
    return Answer(message.move, message.say, draw)


#: Phrases of the model library's messages, and plain ones in their place.
_PHRASES = (
    (r"^Value error, ", ""),
    (r"^Input should be ", "must be "),
    (r"^(String|List|Tuple|Dictionary) should have ", "must have "),
    (r"^Field required$", "is missing"),
    (r"a valid integer(, got a number with a fractional part|, unable to parse string as an integer)?", "a whole number"),
    (r"a valid number", "a number"),
    (r"a valid string", "a text"),
    (r"a valid boolean", "true or false"),
    (r"an? (valid dictionary|object)( or (instance of \w+|object to extract fields from))?", "an object"),
    (r"^Input tag '(.*)' found using '(\w+)' does not match any of the expected tags: (.*)", r"\2 must be one of \3"),
    (r"^Unable to extract tag using discriminator '(\w+)'", r"has no \1"),
    (r"a valid (list|tuple)", "a list"),
    (r" after validation", ""),
    (r"greater than or equal to ", "at least "),
    (r"less than or equal to ", "at most "),
    (r"greater than ", "above "),
    (r"less than ", "below "),
    (r"Unable to parse input string as an integer, exceeded maximum size", "must be a smaller number"),
)


def requirement(text: str) -> str:
    """Return a message of the model library in plain words, such as "must be a whole number"."""
    for pattern, plain in _PHRASES:
        text = re.sub(pattern, plain, text)
    return text


def answer_key(line: bytes, turn: int) -> bytes:
    """Return an answer without the number of its turn: a key that is equal for the same answer in other turns.

    Empty if the line doesn't contain the number in a usual spelling.
    """
    cut = line.replace(b'"turn":%d' % turn, b'"turn":', 1)
    if len(cut) == len(line):
        cut = line.replace(b'"turn": %d' % turn, b'"turn":', 1)
    return cut if len(cut) < len(line) else b""


def is_start(line: bytes) -> bool:
    """True for a ``start`` message of a referee."""
    return bool(json.loads(line).get("type") == "start")


def question(line: bytes) -> dict[str, Json] | None:
    """Return the ``turn`` message of a line that the referee made; None if it is another message."""
    message: dict[str, Json] = json.loads(line)
    return message if message["type"] == "turn" else None


def _message(line: bytes, kind: Literal["ready", "move"]) -> Any:
    """The line as a message model, or the problem."""
    # The models take long to import. Until the first answer is here, the bots are starting, too.
    from referee.wire import messages

    try:
        value = strict_json.read(line)
    except NotJson as error:
        return Problem(error.reason, error.data)
    if not isinstance(value, dict):
        return Problem("not-an-object")
    if value.get("type") != kind:
        return Problem("other-type", (kind,))
    try:
        return (messages.Ready if kind == "ready" else messages.Move).model_validate(value)
    except messages.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the message"
        return Problem("no-key", (where,)) if first["type"] == "missing" else Problem("wrong-value", (where, requirement(first["msg"])))
