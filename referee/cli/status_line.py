"""One line of progress on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import time

from referee.cli.app import say

#: Where there is no terminal, a line comes at most this often, in seconds.
_PLAIN_SECONDS = 10.0


class StatusLine:
    """A line that is written over at a terminal, and printed now and then elsewhere. It shows nothing if it is quiet."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._is_terminal = sys.stderr.isatty()
        self._told = time.monotonic()

    def show(self, text: str) -> None:
        """Show a text in place of the one before. A terminal cuts it to its width: a longer line could not be written over."""
        if self._is_quiet:
            return
        if self._is_terminal:
            print(f"\r\x1b[K{text[: max(20, _width() - 1)]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._told >= _PLAIN_SECONDS:
            self._told = time.monotonic()
            say(text)

    def end(self) -> None:
        """Clear the line."""
        if self._is_terminal and not self._is_quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _width() -> int:
    if "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
