"""Escapes text of submissions for spreadsheets, Markdown, XML and logs: none of it can become a formula, markup or a control character."""

from __future__ import annotations

import math
import re

from referee.support.escape import escape

#: The longest text of a cell or a paragraph, in characters.
MOST_CHARACTERS = 2000
#: A spreadsheet takes a cell that begins so for a formula. Source: OWASP, "CSV Injection". The wide forms are read like the others.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms are meant
#: A program that takes another separator than the comma begins a cell in the middle of a text.
_AFTER_SEPARATOR = re.compile(r'([;,\t"]\s*)(?=[=+\-@＝＋－＠])')  # noqa: RUF001 - the same
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)
_MARKS = re.compile(r"([\\`*_{}\[\]()#|~!$@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def one_line(text: str) -> str:
    """Return the text on one line. Everything unprintable is a visible escape sequence."""
    return escape(text, MOST_CHARACTERS)


def guarded(text: str) -> str:
    """Return the text for a cell of a spreadsheet: with an apostrophe before it if it would be a formula."""
    text = _AFTER_SEPARATOR.sub(r"\1'", text)
    # Programs skip spaces before a formula.
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def cell(text: str) -> str:
    """Return a submission's text for a cell of a spreadsheet, on one line."""
    shown = guarded(one_line(text))
    # A tab or a line break at the start is an escape sequence by now; it gets the apostrophe all the same.
    return shown if shown.startswith("'") or not text.startswith(_FORMULA) else f"'{shown}"


def foreign_cell(text: str) -> str:
    """Return a cell of a file that another program wrote. Numbers and a lone hyphen stay as they are; formulas get an apostrophe."""
    return text if text == "-" or _NUMBER.fullmatch(text) else guarded(text)


def markdown(text: str) -> str:
    """Return the text for the middle of a line of Markdown. It makes no markup, no link and no mention."""
    shown = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", shown)


def log(data: bytes) -> bytes:
    """Return a bot's log without control characters: these become visible escape sequences, but for line breaks and tabs."""
    text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = "".join(char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode("ascii") for char in text)
    return text.encode()


def number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def finite(value: float | None) -> float | None:
    """Return the number, rounded to six decimals; None in place of a number that JSON doesn't have."""
    return None if value is None or not math.isfinite(value) else round(value, 6)
