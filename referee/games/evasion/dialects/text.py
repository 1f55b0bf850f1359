"""Parsing of the text lines of the old programs: from bytes to words, numbers, settings and cells."""

from __future__ import annotations

import re

from referee.games.dialect import DialectError

#: The longest line that any message of the protocols needs, in bytes.
MOST_BYTES = 4_096

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def words(line: bytes) -> str:
    """Return a line as text. Raises DialectError for bytes that are not text."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise DialectError("is not text, but binary") from None
    if _CONTROL.search(text):
        raise DialectError("is not text: it holds control characters")
    return text


def numbers(text: str) -> list[int] | None:
    """Return the whole numbers of a line, separated by white space; None if the line contains anything else."""
    parts = text.split()
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    return [int(word) for word in parts]
