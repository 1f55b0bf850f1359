"""Colours for the lines that commands print at a terminal: what is good, who wins, and what has failed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_GREEN, _RED, _YELLOW, _BOLD, _END = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
#: The beginnings of lines that have a colour: the group is the coloured part.
_BEGINNINGS = (
    (re.compile(r"  (ok|yes) {2,}"), _GREEN),
    (re.compile(r"  (FAIL|fault|no) {2,}"), _RED),
    (re.compile(r"  winner {2,}(.*)"), _BOLD),
    (re.compile(r"(note): "), _YELLOW),
)


def is_wanted(stream: TextIO) -> bool:
    """True if lines for a stream have colours: at a terminal, unless NO_COLOR is set; elsewhere if FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (os.environ.get("TERM") != "dumb" and stream.isatty())


def colored(line: str, stream: TextIO) -> str:
    """Return a line with colours, if the stream wants them. The line must be escaped already."""
    if is_wanted(stream):
        for beginning, color in _BEGINNINGS:
            if match := beginning.match(line):
                return f"{line[: match.start(1)]}{color}{match[1]}{_END}{line[match.end(1) :]}"
    return line
