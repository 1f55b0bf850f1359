"""CSV files as the referee writes them: no text of others can become a formula of a spreadsheet, a line break or a control character."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The byte order mark.
MARK = "\ufeff"
#: The longest text of a cell, in characters.
MOST_CHARACTERS = 2000
#: A spreadsheet takes a cell that begins so for a formula. Source: OWASP, "CSV Injection". The wide forms are read like the others.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms are meant
#: A program that takes another separator than the comma begins a cell in the middle of a text.
_AFTER_SEPARATOR = re.compile(r'([;,\t"]\s*)(?=[=+\-@＝＋－＠])')  # noqa: RUF001 - the same
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)


def written(rows: Iterable[Iterable[object]], line_end: str = "\n") -> str:
    """Return rows as CSV, without the byte order mark. Texts are made harmless; numbers stay, also those that are written as text."""
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end).writerows(
        [cell(value) if isinstance(value, str) and not _NUMBER.fullmatch(value) else value for value in row] for row in rows
    )
    return text.getvalue()


def marked(text: str) -> str:
    """Return CSV with a byte order mark if it has other characters than those of ASCII: without it, Excel takes them for an old code page."""
    return text if text.isascii() else MARK + text


def guarded(text: str) -> str:
    """Return the text for a cell of a spreadsheet: with an apostrophe before it if it would be a formula."""
    text = _AFTER_SEPARATOR.sub(r"\1'", text)
    # Programs skip spaces before a formula.
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def cell(text: str) -> str:
    """Return a text for a cell of a spreadsheet, on one line, with everything unprintable as visible escape sequences."""
    text_shown = guarded(escape(text, MOST_CHARACTERS))
    # A tab or a line break at the start is an escape sequence by now; it gets the apostrophe all the same.
    return text_shown if text_shown.startswith("'") or not text.startswith(_FORMULA) else f"'{text_shown}"


def foreign_cell(text: str) -> str:
    """Return a cell of a file that another program wrote. Numbers and a lone hyphen stay as they are; formulas get an apostrophe."""
    return text if text == "-" or _NUMBER.fullmatch(text) else guarded(text)
