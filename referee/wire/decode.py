"""Lines of protocol 1 as values. A bot's line that is not the expected message becomes a ``Problem``, which is a value too."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from referee.wire import strict_json
from referee.wire.constants import PROTOCOL
from referee.wire.strict_json import NotJson

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Json

LineReason = strict_json.NotJsonReason | Literal["not-an-object", "other-type", "no-key", "wrong-value", "other-turn"]


class Problem(NamedTuple):
    """Why a line is not the expected message. ``data`` holds the values of the sentence about it, such as the name of the key."""

    reason: LineReason
    data: tuple[str | int, ...] = ()


class Answer(NamedTuple):
    """A ``move`` message. ``draw`` is JSON; None means that the bot sent none, as for ``say``."""

    move: Json
    say: str | None
    draw: Json


def ready(line: bytes) -> str | Problem:
    """Return the bot's own name from its ``ready`` message, "" if it gives none."""
    message = _object(line, "ready")
    if isinstance(message, Problem):
        return message
    name = message.get("name")
    if type(message.get("protocol")) is int and message["protocol"] == PROTOCOL and (name is None or type(name) is str):
        return name or ""
    model = _model(message)
    return model if isinstance(model, Problem) else model.name or ""


def move(line: bytes, turn: int) -> Answer | Problem:
    """Return the answer to the question of a turn."""
    message = _object(line, "move")
    if isinstance(message, Problem):
        return message
    answered, say, draw = message.get("turn"), message.get("say"), message.get("draw")
    # The models judge everything that is wrong. They take longer to import than a match takes to start, and a browser doesn't have them; an
    # ordinary answer doesn't need them.
    shapes = None if draw is None else _plain_shapes(draw)
    has_move = type(message.get("move")) is dict and (say is None or type(say) is str)
    if type(answered) is int and answered >= 0 and has_move and (draw is None or shapes is not None):
        return Answer(message["move"], say, shapes) if answered == turn else Problem("other-turn", (answered, turn))
    model = _model(message)
    if isinstance(model, Problem):
        return model
    if model.turn != turn:
        return Problem("other-turn", (model.turn, turn))
    draw = None if model.draw is None else [shape.model_dump(exclude_none=True) for shape in model.draw]
    return Answer(model.move, model.say, draw)


def _is_point(value: Json) -> bool:
    return type(value) is list and len(value) == 2 and all(type(part) is float for part in value)


def _is_text(value: Json) -> bool:
    return type(value) is str


def _are_cells(value: Json) -> bool:
    return type(value) is list and all(type(cell) is list and len(cell) == 2 and all(type(part) is int for part in cell) for cell in value)


#: The parts of each kind of shape, with the test of an ordinary value, in the order of the models.
_PARTS: dict[str, dict[str, Callable[[Json], bool]]] = {
    "line": {"start": _is_point, "end": _is_point},
    "rect": {"start": _is_point, "end": _is_point},
    "text": {"at": _is_point, "text": _is_text},
    "cells": {"cells": _are_cells},
}


def _plain_shapes(draw: Json) -> list[Json] | None:
    """Return the shapes of a drawing as the models do, if all are as the SDK makes them; None if the models must judge it."""
    if type(draw) is not list:
        return None
    shapes: list[Json] = []
    for shape in draw:
        parts = _PARTS.get(shape["shape"]) if type(shape) is dict and type(shape.get("shape")) is str else None
        if parts is None or not all(name in shape and is_ordinary(shape[name]) for name, is_ordinary in parts.items()):
            return None
        color = shape.get("color")
        if color is not None and type(color) is not str:
            return None
        shapes.append({"shape": shape["shape"], **{name: shape[name] for name in parts}, **({} if color is None else {"color": color})})
    return shapes


#: Phrases of the model library's messages, and plain ones in their place.
_PHRASES = (
    (r"^Value error, ", ""),
    (r"^Input should be ", "must be "),
    (r"^(String|List|Tuple|Dictionary) should have ", "must have "),
    (r"^Field required$", "is missing"),
    (r"^Extra inputs are not permitted$", "is unknown; leave it out"),
    (r"^Input should have timezone info$", "must be a valid datetime"),
    (r"a valid datetime.*", "a time with its offset from UTC, such as 2030-09-01T08:00:00+02:00"),
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


def _object(line: bytes, kind: Literal["ready", "move"]) -> dict[str, Json] | Problem:
    """Return the message of a line, with its type checked, or the problem."""
    try:
        value = strict_json.read(line)
    except NotJson as error:
        return Problem(error.reason, error.data)
    if not isinstance(value, dict):
        return Problem("not-an-object")
    return value if value.get("type") == kind else Problem("other-type", (kind,))


def _model(message: dict[str, Json]) -> Any:
    """Return a message as its model, or the problem."""
    from referee.wire import messages

    try:
        return (messages.Ready if message["type"] == "ready" else messages.Move).model_validate(message)
    except messages.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the message"
        return Problem("no-key", (where,)) if first["type"] == "missing" else Problem("wrong-value", (where, requirement(first["msg"])))
