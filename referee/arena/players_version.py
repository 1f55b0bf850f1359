"""A replay as all players may have it: without the sources of its randomness, which other matches on the same start share, and without logs."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from referee.pages.stream import public_fault, public_head
from referee.replay.writer import DIGEST_KEY
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: How many of them are kept.
_MOST_KEPT = 64
_SUFFIX = ".replay.jsonl.gz"


def players_version(path: Path, below: Path, *, is_whole: bool = True) -> bytes:
    """Return the players' version of the replay at ``path``, which must be in the folder ``below``. Raises OSError, EOFError and ValueError.

    ``is_whole``: False also takes a replay that is still being written, as far as it goes.
    """
    with open_regular(path, below) as file, gzip.open(file) as lines:
        return gzip.compress(b"".join(_lines(lines if is_whole else _written(lines))), 6, mtime=0)


def _written(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file up to its end, wherever that is."""
    with contextlib.suppress(EOFError):
        yield from lines


def _lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines with a new head, without what faults quote, and with the digest of all of them."""
    digest, key = hashlib.sha256(), DIGEST_KEY.encode()
    for number, line in enumerate(lines):
        public_line = public_head(line) if number == 0 else public_fault(line) if line.startswith(b'{"type":"fault"') else line
        body, is_result, _ = public_line.partition(key) if public_line.startswith(b'{"type":"result"') else (public_line, b"", b"")
        digest.update(body + is_result)
        yield b'%b%b%b"}\n' % (body, is_result, digest.hexdigest().encode()) if is_result else public_line


class PlayersVersions:
    """The players' versions of replays as files, for the viewer. ``close`` removes them."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()  # removed by close
        #: The folder of all these files.
        self.folder = Path(self._temporary.name)
        self._lock = threading.Lock()
        self._cache: dict[str, Path] = {}

    def get(self, key: str, path: Path, below: Path) -> Path:
        """Return the file of a match. Raises what ``players_version`` raises."""
        with self._lock:
            file = self._cache.pop(key, None)
            if file is None:
                file = self.folder / f"{key}{_SUFFIX}"
                file.write_bytes(players_version(path, below))
            self._cache[key] = file
            while len(self._cache) > _MOST_KEPT:
                os.unlink(self._cache.pop(next(iter(self._cache))))  # noqa: PTH108 - the oldest
            return file

    def close(self) -> None:
        """Remove the files."""
        self._temporary.cleanup()
