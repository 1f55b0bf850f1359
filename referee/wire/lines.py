"""Splits a stream of bytes into lines of limited length."""


class LineBuffer:
    """Collects chunks and returns whole lines, without their line ends. Blank lines are skipped; CRLF counts as a line end.

    A line longer than ``max_bytes`` sets ``is_overlong``; the rest of that line is dropped, so memory stays bounded. With ``keeps_blank``
    blank lines are returned, too. ``number`` is the number of the last line returned, from 1; blank lines count.
    """

    __slots__ = ("_data", "_dropping", "_start", "has_bytes", "is_overlong", "keeps_blank", "max_bytes", "number")

    def __init__(self, max_bytes: int = 65_536, *, keeps_blank: bool = False) -> None:
        self.max_bytes = max_bytes
        self.keeps_blank = keeps_blank
        self.number = 0
        self.is_overlong = False
        self._data = bytearray()
        self._start = 0
        self._dropping = False
        #: True if bytes are waiting: a part of a line, or lines that weren't taken. An attribute, since it is read twice for each question.
        self.has_bytes = False

    @property
    def is_full(self) -> bool:
        """True if more bytes are waiting than one line may have, including a carriage return."""
        return len(self._data) - self._start > self.max_bytes + 1

    def feed(self, chunk: bytes) -> None:
        """Add the next bytes of the stream."""
        if self._dropping:
            end = chunk.find(b"\n")
            if end < 0:
                return
            self._dropping = False
            chunk = chunk[end + 1 :]
        self._data += chunk
        self.has_bytes = len(self._data) > self._start

    def take(self) -> bytes | None:
        """The next line that isn't blank, or None until more bytes come.

        For an overlong line, ``is_overlong`` is set and its first bytes are returned once.
        """
        line = self._next()
        self.has_bytes = len(self._data) > self._start
        return line

    def _next(self) -> bytes | None:
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
                # Skip thousands of blank lines in one operation.
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
        """Remove and return all bytes after the last line taken, without blank lines."""
        self._drop_taken()
        left = bytes(self._data)
        self._data.clear()
        self.has_bytes = False
        if left and not left.endswith(b"\n") and left.strip():
            self._dropping = True
        return left if left.strip() else b""

    def _drop_taken(self) -> None:
        if self._start:
            del self._data[: self._start]
            self._start = 0

    def _cut(self, *, dropping: bool, end: int | None = None) -> bytes:
        """Return the first bytes of an overlong line and drop the rest."""
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
