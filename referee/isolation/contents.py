"""The hash of a folder: the names and the content of everything that belongs to a bot."""

from __future__ import annotations

import hashlib
import os
import stat

from referee.errors import PlayerError
from referee.isolation import submission
from referee.wire.escape import escape


def digest(folder: str, label: str) -> str:
    """Return the SHA-256 of a folder, in hexadecimal: of each entry's path, kind and permission to be executed, and of its content.

    A link counts with its target. PlayerError, which names the folder by its ``label``, if it can't be read or is too large.
    """
    whole = hashlib.sha256()
    shown = f"'{escape(label, 120)}'"
    count = submission.Count(shown)
    try:
        for path, facts in _entries(folder, count):
            place = os.fsencode(os.path.relpath(path, folder))
            if stat.S_ISLNK(facts.st_mode):
                kind, content = b"l", os.fsencode(os.readlink(path))
            elif stat.S_ISDIR(facts.st_mode):
                kind, content = b"d", b""
            elif stat.S_ISREG(facts.st_mode):
                kind, content = b"x" if facts.st_mode & 0o111 else b"f", _of_file(path, count)
            else:
                kind, content = b"o", b""
            for part in (kind, place, content):
                whole.update(b"%d:%b" % (len(part), part))
    except OSError as error:
        raise count.refusal(f"can't be read: {escape(str(error.filename), 200)}: {error.strerror or error}.") from None
    return whole.hexdigest()


def traits(folder: str) -> tuple[object, ...] | None:
    """Return what shows cheaply that a folder is unchanged: sizes and times of all entries. None if it can't be read or is too large."""
    count = submission.Count("")
    try:
        return tuple(
            (path, facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            for path, facts in _entries(folder, count)
        )
    except (OSError, PlayerError):
        return None


def _entries(folder: str, count: submission.Count) -> list[tuple[str, os.stat_result]]:
    """Return everything in a folder, sorted by path. Folders behind links are not entered."""
    found = []
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if count.is_ignored(entry.name):
                    continue
                count.add_entry()
                facts = entry.stat(follow_symlinks=False)
                found.append((entry.path, facts))
                if stat.S_ISDIR(facts.st_mode):
                    waiting.append(entry.path)
    return sorted(found)


def _of_file(path: str, count: submission.Count) -> bytes:
    hashed = hashlib.sha256()
    with submission.open_file(path, path) as file:
        while chunk := file.read(1 << 20):
            count.add_bytes(len(chunk))
            hashed.update(chunk)
    return hashed.digest()
