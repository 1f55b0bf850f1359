"""Escapes control characters in text of hand-ins, for lines and logs, and formats the numbers in tables."""

from __future__ import annotations

import math

from referee.support.csv_text import MOST_CHARACTERS
from referee.support.escape import escape


def one_line(text: str) -> str:
    """Return the text on one line. Everything unprintable is a visible escape sequence."""
    return escape(text, MOST_CHARACTERS)


def log(data: bytes) -> bytes:
    """Return a bot's log with its control characters, except line breaks and tabs, as visible escape sequences."""
    text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = "".join(char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode("ascii") for char in text)
    return text.encode()


def number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def finite(value: float | None) -> float | None:
    """Return the number, rounded to six decimals. Return None for infinity and NaN, which JSON doesn't have."""
    return None if value is None or not math.isfinite(value) else round(value, 6)
