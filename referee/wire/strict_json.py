"""JSON from strangers: everything that the grammar or good sense forbids is one kind of error, never a crash of ours."""

from __future__ import annotations

import json
import re
from typing import Any

from referee.wire.shown import shown

#: An integer of more digits than this is malformed; Python itself refuses to read longer ones.
MOST_DIGITS = 4_300
#: Deeper nesting than this is malformed.
MOST_DEPTH = 64

_LONG_INTEGER = re.compile(rb"[0-9]{%d}" % (MOST_DIGITS + 1))
_OPENING = re.compile(rb"[\[{]")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """A line that isn't acceptable JSON; the text says why, as the end of a sentence about the line."""


def read(line: bytes) -> Any:
    """The value of one line of JSON.

    Raises NotJson for: invalid UTF-8, a byte order mark, invalid JSON, NaN and Infinity under any spelling, numbers too large for
    a double, integers of more than 4,300 digits, duplicate keys, lone surrogates, nesting deeper than 64.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson(f"is not UTF-8 (byte {error.start + 1} is 0x{line[error.start]:02x})") from None
    if text.startswith("\ufeff"):
        raise NotJson("starts with a byte order mark")
    if len(line) > MOST_DIGITS and _LONG_INTEGER.search(_STRING.sub(b'""', line)):
        raise NotJson(f"holds a number of more than {MOST_DIGITS:,} digits")
    if len(line) > MOST_DEPTH and len(_OPENING.findall(line)) > MOST_DEPTH and _depth(line) > MOST_DEPTH:
        raise NotJson(f"is nested deeper than {MOST_DEPTH} levels")
    try:
        value = _decode(text)
    except NotJson:
        raise
    except json.JSONDecodeError:
        raise NotJson("is not JSON") from None
    except (ValueError, RecursionError):
        raise NotJson("is not JSON that can be read") from None
    if "\\u" in text and _has_lone_surrogate(value):
        raise NotJson("holds a lone surrogate, which is no character")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NotJson(f"has the key {shown(key, 40)} twice in one object")
            seen.add(key)
    return found


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise NotJson(f"holds the number {shown(text, 20)}, which is too large")
    return value


def _no_constant(name: str) -> Any:
    raise NotJson(f"holds {name}, which is not JSON")


_decode = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant).decode


def _depth(line: bytes) -> int:
    """How deep brackets nest outside strings."""
    depth = deepest = 0
    for byte in _STRING.sub(b"", line):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _has_lone_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return _LONE_SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(_has_lone_surrogate(key) or _has_lone_surrogate(part) for key, part in value.items())
    if isinstance(value, list):
        return any(_has_lone_surrogate(part) for part in value)
    return False
