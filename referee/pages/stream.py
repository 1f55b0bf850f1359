"""The replay of a running match as a stream for readers: compressed and without secrets.

The position of a reader is the number of its next byte, so a reader that returns continues there. The bytes are one gzip stream. At some
points the compressor resets its state. A reader that is far behind can continue at such a point: it gets a state of the game and skips the
steps between. The server stores only the place of each reader; the stream itself is an unnamed file.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Json

#: The check sum and the length at the end of a gzip stream, in bytes. Source: RFC 1952, section "Member header and trailer".
_TRAILER_BYTES = 8
#: The most bytes between two places at which a reader can start.
_POINT_EVERY = 64 << 10
#: Keys of the replay's head that readers of a running match must not see: the sources of its randomness.
_SECRETS = ("secret", "seed")
#: Keys of the head that name files as the person who ran the match did, and the folders in such names.
_NAMES = ("program", "file")
_FOLDERS = re.compile(r"(?<![^\s='\"])~?/(?:[^\s'\"]*/)?")


class EntryPoint(NamedTuple):
    """A place at which a reader can start: the number of the byte, and the number of steps before it."""

    offset: int
    turn: int


class Stream:
    """One stream. ``hides_remarks`` leaves out what bots say, draw and log, which opponents must not see.

    It is written in one thread and read in another; ``size`` grows last.
    """

    def __init__(self, *, hides_remarks: bool = False, point_every: int = _POINT_EVERY) -> None:
        self.size = 0
        #: Where a reader that started later must stop: the compressed data end here, and the trailer describes the whole stream.
        self.end: int | None = None
        self.point = EntryPoint(0, 0)
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
        """Append lines of the replay."""
        text = b"".join(map(self._shown, lines))
        is_point = self.size - self.point.offset >= self._point_every
        self._append(self._deflate.compress(text) + self._deflate.flush(zlib.Z_FULL_FLUSH if is_point else zlib.Z_SYNC_FLUSH))
        if is_point:
            self.point = EntryPoint(self.size, self.turns)

    def _shown(self, line: bytes) -> bytes:
        if not self._has_head:
            self._has_head = True
            return public_head(line)
        if line.startswith(b'{"turn":'):
            self.turns += 1
            if self._hides_remarks and (b'"remarks":' in line or b'"log":' in line):
                record = json.loads(line)
                record.pop("remarks", None)
                record.pop("log", None)
                return _line(record)
        return line

    def finish(self) -> None:
        """End the stream."""
        last = self._deflate.flush(zlib.Z_FINISH)
        self.end = self.size + len(last) - _TRAILER_BYTES
        self._append(last)

    def read(self, offset: int, most: int) -> bytes:
        """Return the bytes from a place on, up to a limit."""
        return os.pread(self._file.fileno(), min(most, self.size - offset), offset)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def public_head(line: bytes) -> bytes:
    """Return the head of a replay as players may see it: without the sources of its randomness, and without folders of this machine."""
    return _line({key: _public(value) for key, value in json.loads(line).items() if key not in _SECRETS})


def public_fault(line: bytes) -> bytes:
    """Return a line of faults as other players may see it: their kinds, without what quotes a bot's log or its answers."""
    record = json.loads(line)
    faults = {
        seat: {
            "kind": fault.get("kind"),
            "cause": fault.get("cause"),
            "text": f"The {seat} has failed ({fault.get('kind')}). Its own people find more in its log.",
        }
        for seat, fault in record.get("faults", {}).items()
    }
    return _line({**record, "faults": faults})


def _public(value: Json) -> Json:
    """Return a value of the head without the folders of this machine: the players' programs and the file of an earlier match have them."""
    if isinstance(value, dict):
        return {key: _FOLDERS.sub("", part) if key in _NAMES and isinstance(part, str) else _public(part) for key, part in value.items()}
    return value


def _line(record: dict[str, Json]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
