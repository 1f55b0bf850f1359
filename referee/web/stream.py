"""The replay of a match that is running, as its readers get it: compressed, and without what they must not know yet.

A reader's place is the number of the next byte, so who comes back goes on where it was. The bytes are one gzip stream; at some places
the compressor forgets what came before, and whoever is far behind may go on from there with a position and without the steps between.
Nothing is kept for a reader but its place: the stream is a file without a name.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The check sum and the length at the end of a gzip stream, in bytes. Source: RFC 1952, section "Member header and trailer".
_TRAILER_BYTES = 8
#: How many bytes may come between two places where a reader can go on afresh.
_POINT_EVERY = 64 << 10
#: What is in the replay's head and not for the readers of a match that is running: what its randomness comes from.
_SECRETS = ("secret", "seed")


class Point(NamedTuple):
    """A place to go on from: the number of the byte, and the steps that stand before it."""

    offset: int
    turn: int


class Stream:
    """One such stream. ``hides_remarks``: without what bots say, draw and log, which is not for their opponents.

    It is written in one thread and read in another; ``size`` grows last.
    """

    def __init__(self, *, hides_remarks: bool = False, point_every: int = _POINT_EVERY) -> None:
        self.size = 0
        #: Where a reader that goes on afresh must stop: the compressed data end here, and what follows is about the whole.
        self.end: int | None = None
        self.point = Point(0, 0)
        self.turns = 0
        self._hides_remarks = hides_remarks
        self._point_every = point_every
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the stream
        self._deflate = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._has_head = False

    def _append(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self.size += len(data)

    def write(self, lines: Iterable[bytes]) -> None:
        """Take in more lines of the replay."""
        text = b"".join(map(self._shown, lines))
        is_point = self.size - self.point.offset >= self._point_every
        self._append(self._deflate.compress(text) + self._deflate.flush(zlib.Z_FULL_FLUSH if is_point else zlib.Z_SYNC_FLUSH))
        if is_point:
            self.point = Point(self.size, self.turns)

    def _shown(self, line: bytes) -> bytes:
        """A line as readers get it."""
        if not self._has_head:
            self._has_head = True
            head = json.loads(line)
            return _line({key: value for key, value in head.items() if key not in _SECRETS})
        if line.startswith(b'{"turn":'):
            self.turns += 1
            if self._hides_remarks and (b'"remarks":' in line or b'"log":' in line):
                record = json.loads(line)
                record.pop("remarks", None)
                record.pop("log", None)
                return _line(record)
        return line

    def finish(self) -> None:
        """No more lines will come."""
        last = self._deflate.flush(zlib.Z_FINISH)
        self.end = self.size + len(last) - _TRAILER_BYTES
        self._append(last)

    def read(self, offset: int, most: int) -> bytes:
        """Bytes from a place on, as many as there are and at most so many."""
        return os.pread(self._file.fileno(), min(most, self.size - offset), offset)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
