"""CSV files that are safe to open: no untrusted text becomes a formula of a spreadsheet, a line break or a control character."""

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
#: A spreadsheet reads a cell with one of these beginnings as a formula. Source: OWASP, "CSV Injection". The wide forms are read like the others.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms are meant
#: A program that splits cells at another character than the comma finds the beginning of a cell in the middle of a text.
_AFTER_SEPARATOR = re.compile(r'([;,\t"]\s*)(?=[=+\-@＝＋－＠])')  # noqa: RUF001 - the same
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)


def as_csv(rows: Iterable[Iterable[object]], line_end: str = "\n") -> str:
    """Return rows as CSV, without the byte order mark. Texts are made harmless; numbers stay, even those that are text."""
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end).writerows(
        [cell(value) if isinstance(value, str) and not _NUMBER.fullmatch(value) else value for value in row] for row in rows
    )
    return text.getvalue()


def with_mark(text: str) -> str:
    """Return CSV with a byte order mark if it has characters outside ASCII: without the mark, Excel reads them in an old code page."""
    return text if text.isascii() else MARK + text


def without_formula(text: str) -> str:
    """Return a text for a cell of a spreadsheet, with an apostrophe before it if it would be a formula."""
    text = _AFTER_SEPARATOR.sub(r"\1'", text)
    # Programs skip spaces before a formula.
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def cell(text: str) -> str:
    """Return a text for a cell of a spreadsheet, on one line, with everything unprintable as visible escape sequences."""
    text_shown = without_formula(escape(text, MOST_CHARACTERS))
    # A tab or a line break at the start is an escape sequence by now; it still gets the apostrophe.
    return text_shown if text_shown.startswith("'") or not text.startswith(_FORMULA) else f"'{text_shown}"


def foreign_cell(text: str) -> str:
    """Return a cell of a file that another program wrote. Numbers and a lone hyphen stay as they are; formulas get an apostrophe."""
    return text if text == "-" or _NUMBER.fullmatch(text) else without_formula(text)
