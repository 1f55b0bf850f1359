"""A bot's stderr. The file keeps it up to a cap; the rest is counted and dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import RawIOBase
    from pathlib import Path

#: How many bytes of the end are kept: enough for the stacks of all threads of a Python bot.
_KEPT_BYTES = 65_536
#: How many bytes the last lines may have.
_TAIL_BYTES = 4096
_TAIL_LINES = 20
#: The most bytes that are held back because a path may continue in the next piece: of a line, because a path may have spaces in it; of a word
#: in a longer line.
_LONGEST_LINE, _LONGEST_PATH = 4096, 512
_WORD = re.compile(rb"[^\s\"'`()<>,;]*\Z")


def _open_end(data: bytes) -> int:
    """Return the index from which a text may be the beginning of a path."""
    line = data.rfind(b"\n", max(0, len(data) - _LONGEST_LINE)) + 1
    if line or len(data) <= _LONGEST_LINE:
        return line
    word = _WORD.search(data, len(data) - _LONGEST_PATH)
    return len(data) if word is None else word.start()


class Log:
    """The log of one bot. ``total`` counts all bytes, ``kept`` those in the file; the last 64 KiB stay in memory.

    Without a path only the last 4 KiB are kept. The first byte creates the file. ``tap`` is called with each piece as it comes.
    """

    def __init__(self, path: Path | None, max_bytes: int, tap: Callable[[bytes], None] | None = None) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.total = 0
        self.kept = 0
        self._tail = bytearray()
        self._rewrite: Callable[[bytes], bytes] | None = None
        self._held = b""
        self._tap = tap
        self._file: RawIOBase | None = None

    def rename_files(self, rewrite: Callable[[bytes], bytes]) -> None:
        """Rewrite the output of a bot before it is kept and counted: its files get the names that its author knows."""
        self._rewrite = rewrite

    def take(self, data: bytes) -> None:
        """Add bytes from the bot. A path at the end is held back until its rest arrives, or somebody reads the log."""
        if self._held:
            data, self._held = self._held + data, b""
        if self.kept < self.max_bytes:
            if self._rewrite is not None:
                end = _open_end(data)
                if b"/" in data[end:]:
                    data, self._held = data[:end], data[end:]
            data = self.shown(data)
        self._keep(data)

    def _release(self) -> None:
        """Add the bytes that were held back."""
        if self._held:
            data, self._held = self._held, b""
            self._keep(self.shown(data))

    def _keep(self, data: bytes) -> None:
        self.total += len(data)
        if self._tap is not None:
            self._tap(data)
        self._tail += data
        if len(self._tail) > 2 * _KEPT_BYTES:
            # Rarely, so that a bot that writes much costs little.
            del self._tail[:-_KEPT_BYTES]
        keep = data[: self.max_bytes - self.kept]
        if keep and self.path is not None:
            try:
                if self._file is None:
                    # Unbuffered: bytes that can't be written are dropped now; a Python buffer would try them again later.
                    self._file = self.path.open("wb", buffering=0)
                self.kept += self._file.write(keep) or 0
            except OSError:
                # The disk is full. The match continues without the log; the bytes are still counted.
                self.max_bytes = self.kept

    def shown(self, data: bytes) -> bytes:
        """Return a bot's text in publishable form: its files have the names that its author knows."""
        return data if self._rewrite is None or b"/" not in data else self._rewrite(data)

    def close(self) -> None:
        """Finish the file."""
        self._release()
        if self._file is not None:
            self._file.close()
            self._file = None

    def last_lines(self) -> list[bytes]:
        """Return the last lines that aren't blank, the newest last; at most 20 lines and 4 KiB."""
        self._release()
        return [line.strip() for line in bytes(self._tail[-_TAIL_BYTES:]).splitlines() if line.strip()][-_TAIL_LINES:]

    def tail(self, since: int = 0) -> str:
        """Return the end of the log after its first ``since`` bytes, as text: at most 64 KiB."""
        self._release()
        count = min(self.total - since, _KEPT_BYTES)
        return bytes(self._tail[-count:]).decode("utf-8", "replace") if count > 0 else ""
