"""Lines of text as the old programs send them: bytes that should be words and numbers."""

from __future__ import annotations

import re

from referee.dialects.dialect import DialectError

#: The longest line that anybody has a reason to send, in bytes.
MOST_BYTES = 4_096

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def words(line: bytes) -> str:
    """A line as text; DialectError for bytes that are no text."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise DialectError("is not text, but binary") from None
    if _CONTROL.search(text):
        raise DialectError("is not text: it holds control characters")
    return text


def numbers(text: str) -> list[int] | None:
    """The whole numbers of a line that are parted by white space, None if something else is among them."""
    found = text.split()
    if not all(map(_NUMBER.fullmatch, found)):
        return None
    return [int(word) for word in found]
