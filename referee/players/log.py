"""A bot's stderr: kept in a file up to a cap, the rest counted and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_TAIL_BYTES = 4096
_TAIL_LINES = 20


class Log:
    """The log of one bot. ``total`` counts every byte that came, ``kept`` those in the file; the last two KiB stay in memory.

    Without a path nothing but the end is kept. The file is made with the first byte.
    """

    def __init__(self, path: Path | None, max_bytes: int) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.total = 0
        self.kept = 0
        self._tail = b""
        self._file: BinaryIO | None = None

    def take(self, data: bytes) -> None:
        """Take in what came from the bot."""
        self.total += len(data)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        keep = data[: self.max_bytes - self.kept]
        if keep and self.path is not None:
            if self._file is None:
                self._file = self.path.open("wb")
            self._file.write(keep)
            self.kept += len(keep)

    def flush(self) -> None:
        """Hand what was taken in to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def last_lines(self) -> list[bytes]:
        """The last lines that say something, the newest last."""
        return [line.strip() for line in self._tail.splitlines() if line.strip()][-_TAIL_LINES:]
