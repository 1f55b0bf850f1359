"""Receives the files that a build in a sandbox sends back: the stream of ``builder``, which is untrusted data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from referee.isolation import submission
from referee.isolation.submission import Count

if TYPE_CHECKING:
    from referee.errors import PlayerError

#: The longest line of the stream: two paths in hexadecimal.
_LONGEST_LINE = 20_000
_LONGEST_PATH = 4_000


class BuildOutput:
    """Writes the files of a stream below a new folder. ``take`` gets the bytes as they come. PlayerError for invalid data.

    Links are created at the end, so that no file is written through one. They may still lead anywhere: ``submission.copy`` checks them.
    """

    def __init__(self, folder: str, label: str) -> None:
        self.is_whole = False
        self._folder = folder
        self._count = Count(f"'{label}'")
        self._waiting = bytearray()
        self._links: list[tuple[str, bytes]] = []
        self._file = -1
        self._left = 0
        os.mkdir(folder, 0o700)

    def take(self, data: bytes) -> None:
        """Write complete files. Bytes after the end of the stream are ignored."""
        self._waiting += data
        while self._waiting and not self.is_whole:
            if self._file >= 0:
                self._write()
                continue
            line, newline, _ = self._waiting.partition(b"\n")
            if not newline:
                if len(line) > _LONGEST_LINE:
                    raise self._broken()
                return
            del self._waiting[: len(line) + 1]
            try:
                self._begin(*line.decode().split(" "))
            except (TypeError, ValueError, IndexError):
                raise self._broken() from None

    def close(self) -> None:
        """Close the file that was being written, if there is one."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self) -> None:
        part = bytes(self._waiting[: self._left])
        del self._waiting[: len(part)]
        self._left -= len(part)
        while part:
            part = part[os.write(self._file, part) :]
        if not self._left:
            self.close()

    def _begin(self, kind: str, *words: str) -> None:
        if kind == "end":
            for path, target in self._links:
                os.symlink(target, os.fsencode(path))
            self.is_whole = True
            return
        self._count.add_entry()
        path = self._path(words[-1])
        if kind == "d":
            os.mkdir(path, 0o700)
        elif kind == "l":
            self._links.append((path, bytes.fromhex(words[0])))
        elif kind == "f":
            self._left = int(words[1])
            if self._left < 0:
                raise ValueError(self._left)
            self._count.add_bytes(self._left)
            mode = 0o700 if words[0] == "x" else 0o600
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
            if not self._left:
                self.close()
        else:
            raise ValueError(kind)

    def _path(self, word: str) -> str:
        """Return where an entry belongs. ValueError for a path that could lead out of the folder."""
        data = bytes.fromhex(word)
        parts = data.split(b"/")
        if (
            len(data) > _LONGEST_PATH
            or len(parts) > submission.MOST_DEPTH
            or any(part in (b"", b".", b"..") or b"\0" in part for part in parts)
        ):
            raise ValueError(word)
        return os.path.join(self._folder, os.fsdecode(data))

    def _broken(self) -> PlayerError:
        return self._count.refusal("sent back something that is not a folder of files.")
