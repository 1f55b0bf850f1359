"""Reads untrusted JSON: every invalid or unsafe input raises the same exception and never crashes the referee."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import NoReturn

    from referee.games.game import Json

#: An integer of more digits than this is malformed; Python itself refuses to read longer ones.
MOST_DIGITS = 4_300
#: Deeper nesting than this is malformed.
MOST_DEPTH = 64

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


NotJsonReason = Literal[
    "not-utf8", "byte-order-mark", "not-json", "too-deep", "surrogate", "key-twice", "too-large", "constant", "too-long"
]


class NotJson(ValueError):
    """The line isn't acceptable JSON, for this reason. ``data`` holds the values of the sentence about it, such as the duplicate key."""

    def __init__(self, reason: NotJsonReason, *data: str | int) -> None:
        super().__init__(reason, *data)
        self.reason = reason
        self.data = data


def read(line: bytes) -> Json:
    """Return the value of one line of JSON.

    Raises NotJson for: invalid UTF-8, a byte order mark, invalid JSON, NaN and Infinity under any spelling, numbers too large for
    a double, integers of more than 4,300 digits, duplicate keys, lone surrogates, nesting deeper than 64.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson("not-utf8", error.start + 1, line[error.start]) from None
    if text.startswith("\ufeff"):
        raise NotJson("byte-order-mark")
    try:
        # Only a long line can hold a long integer; checking every line would take time.
        value = (_decode if len(line) <= MOST_DIGITS else _decode_long)(text)
    except NotJson:
        raise
    except ValueError:
        raise NotJson("not-json") from None
    except RecursionError:
        raise NotJson("too-deep") from None
    if line.count(b"[") + line.count(b"{") > MOST_DEPTH and _is_deep(value, MOST_DEPTH):
        raise NotJson("too-deep")
    if "\\u" in text and _has_lone_surrogate(value):
        raise NotJson("surrogate")
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NotJson("key-twice", key)
            seen.add(key)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise NotJson("too-large", text)
    return value


def _no_constant(name: str) -> NoReturn:
    raise NotJson("constant", name)


def _bounded(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise NotJson("too-long")
    return int(text)


_decode = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant).decode
_decode_long = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant, parse_int=_bounded).decode


def _is_deep(value: Json, most: int) -> bool:
    """True if lists and objects nest deeper than ``most`` levels."""
    if not isinstance(value, (dict, list)):
        return False
    return most == 0 or any(_is_deep(part, most - 1) for part in (value.values() if isinstance(value, dict) else value))


def _has_lone_surrogate(value: Json) -> bool:
    if isinstance(value, str):
        return _LONE_SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(_has_lone_surrogate(key) or _has_lone_surrogate(part) for key, part in value.items())
    if isinstance(value, list):
        return any(_has_lone_surrogate(part) for part in value)
    return False
