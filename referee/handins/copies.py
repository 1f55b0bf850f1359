"""Copies of hand-ins: created in a temporary folder, and kept under the hash of their files, where they never change."""

from __future__ import annotations

import contextlib
import errno
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import CopyUnwritten, UsageError
from referee.isolation import submission

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The prefix of folders with incomplete copies.
_INCOMING = ".incoming-"
#: Such a folder that is older than this, in seconds, was left by a process that was killed.
_ABANDONED_SECONDS = 86_400.0


@contextlib.contextmanager
def incoming(folder: Path) -> Iterator[Path]:
    """Make a folder in ``folder`` for copies that are not complete. At the end, it is removed with all that ``keep`` has not moved.

    CopyUnwritten if the disk is full, UsageError if the folder can't be made for another reason.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.glob(f"{_INCOMING}*"):
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                submission.remove(str(path))
        made = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=folder))
    except OSError as error:
        kind = CopyUnwritten if error.errno in (errno.ENOSPC, errno.EDQUOT) else UsageError
        raise kind(f"The folder '{folder}' can't be made: {error.strerror or error}.") from None
    try:
        yield made
    finally:
        submission.remove(str(made))


def is_incoming(folder: Path) -> bool:
    """True for a folder that ``incoming`` has made."""
    return folder.name.startswith(_INCOMING)


def keep(copy: Path, place: Path) -> None:
    """Move a complete copy to its place. The path has the hash of its files, so existing files there are the same, and stay."""
    if place.exists():
        submission.remove(str(copy))
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        copy.rename(place)
    except OSError as error:
        # Another process may have kept the same files meanwhile.
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
