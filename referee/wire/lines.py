"""A stream of bytes cut into lines of a capped length."""

from __future__ import annotations


class LineBuffer:
    """Collects chunks and hands out whole lines, without their line ends. Blank lines are passed over; CRLF counts as an end.

    A line longer than ``max_bytes`` sets ``is_overlong``; what follows of it is dropped until its end, so memory stays bounded.
    With ``keeps_blank`` blank lines are handed out like others. ``number`` is the number of the line handed out last, from 1, blank ones counted.
    """

    __slots__ = ("_data", "_dropping", "_start", "is_overlong", "keeps_blank", "max_bytes", "number")

    def __init__(self, max_bytes: int = 65_536, *, keeps_blank: bool = False) -> None:
        self.max_bytes = max_bytes
        self.keeps_blank = keeps_blank
        self.number = 0
        self.is_overlong = False
        self._data = bytearray()
        self._start = 0
        self._dropping = False

    @property
    def has_bytes(self) -> bool:
        """Whether bytes wait that aren't a line yet, or haven't been taken."""
        return len(self._data) > self._start

    @property
    def is_full(self) -> bool:
        """Whether more waits than any line may hold, a carriage return included."""
        return len(self._data) - self._start > self.max_bytes + 1

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes of the stream."""
        if self._dropping:
            end = chunk.find(b"\n")
            if end < 0:
                return
            self._dropping = False
            chunk = chunk[end + 1 :]
        self._data += chunk

    def take(self) -> bytes | None:
        """The next line that isn't blank, or None until more bytes come.

        After an overlong line ``is_overlong`` is set and its first bytes are handed out once.
        """
        while True:
            end = self._data.find(b"\n", self._start)
            if end < 0:
                self._drop_taken()
                if not self.is_full:
                    return None
                return self._cut(dropping=True)
            if end - self._start > self.max_bytes + 1:
                return self._cut(dropping=False, end=end)
            if end == self._start and not self.keeps_blank:
                # Blank lines by the thousand are passed over at one stroke.
                left = len(self._data) - len(self._data[end:].lstrip(b"\n"))
                self.number += left - self._start
                self._start = left
                continue
            line = bytes(self._data[self._start : end])
            self._start = end + 1
            self.number += 1
            if line.endswith(b"\r"):
                line = line[:-1]
            if self.keeps_blank or line.strip(b" \t\r"):
                self.is_overlong = len(line) > self.max_bytes
                return line

    def clear(self) -> bytes:
        """Forget what has come in since the last line taken, and give it back; blank lines count as nothing."""
        self._drop_taken()
        left = bytes(self._data)
        self._data.clear()
        if left and not left.endswith(b"\n") and left.strip():
            self._dropping = True
        return left if left.strip() else b""

    def _drop_taken(self) -> None:
        if self._start:
            del self._data[: self._start]
            self._start = 0

    def _cut(self, *, dropping: bool, end: int | None = None) -> bytes:
        """Hand out the head of an overlong line and forget the rest."""
        head = bytes(self._data[self._start : self._start + self.max_bytes])
        self.number += 1
        self.is_overlong = True
        if dropping:
            self._data.clear()
            self._start = 0
            self._dropping = True
        else:
            assert end is not None
            self._start = end + 1
        return head
