"""The cache of built programs in the user's cache folder, so that the same files are built only once.

Theory of operation. An entry is a folder named after its key. It is written under another name and then renamed, so that two referees that
build the same program at once never see half an entry; the second one keeps the entry of the first. An entry counts only if it, and the folders
of the cache above it, belong to this user and nobody else can write to them. Its files are copied before use and the copy is
compared with the hash in the entry, so an incomplete entry is built again.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import time

from referee.errors import CopyUnwritten, PlayerError
from referee.isolation import contents, submission
from referee.isolation.submission import Piece
from referee.support import cache

#: Limits of all entries together.
MOST_BYTES = 1 << 30
MOST_ENTRIES = 500
_FOLDER = "builds"
_FACTS = "facts.json"
_FILES = "files"
_MOST_FACTS = 4096
#: The prefix of an entry that is being written, and the age in seconds from which it counts as a leftover.
_PART = "part-"
_LONGEST_WRITE = 86_400.0


def recall(key: str, label: str, target: str) -> bool:
    """Copy the files of an entry to the new folder ``target``; False without a trusted entry."""
    entry = _entry(key)
    if not entry or not _is_trusted(entry):
        return False
    try:
        facts = json.loads(_read(f"{entry}/{_FACTS}"))
        submission.copy((Piece(f"{entry}/{_FILES}", ""),), label, target)
        if contents.digest(target, label) == facts["digest"]:
            os.utime(entry)
            return True
    except (OSError, PlayerError, CopyUnwritten, ValueError, KeyError, TypeError):
        # Another referee may be removing it.
        pass
    submission.remove(target)
    submission.remove(entry)
    return False


def keep(key: str, label: str, folder: str) -> None:
    """Store the files of a folder under a key. A failure is ignored: the program is built again next time."""
    entry = _entry(key)
    if not entry:
        return
    home = os.path.dirname(entry)
    part = f"{home}/{_PART}{secrets.token_hex(8)}"
    try:
        os.makedirs(os.path.dirname(home), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(home, 0o700)
        if not _is_own(home):
            return
        os.mkdir(part, 0o700)
        copied = submission.copy((Piece(folder, ""),), label, f"{part}/{_FILES}")
        facts = {"digest": contents.digest(copied.folder, label), "bytes": copied.bytes}
        with open(f"{part}/{_FACTS}", "x", encoding="utf-8") as file:
            json.dump(facts, file)
        os.rename(part, entry)
        _shrink(home, key)
    except (OSError, PlayerError, CopyUnwritten):
        pass
    finally:
        submission.remove(part)


def _entry(key: str) -> str:
    """Return the path of an entry, "" if there is no cache."""
    top = cache.folder()
    return f"{top}/{_FOLDER}/{key}" if top else ""


def _is_trusted(entry: str) -> bool:
    home = os.path.dirname(entry)
    return all(map(_is_own, (os.path.dirname(home), home, entry)))


def _is_own(folder: str) -> bool:
    """True for a folder, not a link, that belongs to this user and that nobody else can write to."""
    try:
        facts = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _read(path: str) -> bytes:
    with submission.open_file(path, path) as file:
        return file.read(_MOST_FACTS)


def _shrink(home: str, newest: str) -> None:
    """Remove the entries used longest ago until the rest is within the limits, and what was never finished."""
    entries = []
    with os.scandir(home) as listing:
        for entry in listing:
            with contextlib.suppress(OSError):
                used = entry.stat(follow_symlinks=False).st_mtime
                if entry.name.startswith(_PART):
                    if time.time() - used > _LONGEST_WRITE:
                        submission.remove(entry.path)
                elif entry.name != newest:
                    entries.append((used, entry.path))
    count, size = 1, _size(f"{home}/{newest}")
    for _, path in sorted(entries, reverse=True):
        count, size = count + 1, size + _size(path)
        if count > MOST_ENTRIES or size > MOST_BYTES:
            submission.remove(path)


def _size(entry: str) -> int:
    try:
        return int(json.loads(_read(f"{entry}/{_FACTS}"))["bytes"])
    except (OSError, PlayerError, ValueError, KeyError, TypeError):
        return MOST_BYTES
