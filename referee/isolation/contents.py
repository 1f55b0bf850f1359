"""The hashes of a bot's folder and its entries. Only this module decides which files belong to a bot.

Everything in a folder belongs to its bot, except names for which ``submission.is_ignored`` is true. The hash of a file covers its content and whether it
is executable, because a build can see that. The hash of a link covers its target, because a bot can recognize a link. Copies for sandboxes and
packages for other machines have the same entries, and the same text of each link.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import NamedTuple

from referee.errors import PlayerError
from referee.isolation import submission

FILE, EXECUTABLE, LINK, FOLDER, OTHER = "f", "x", "l", "d", "o"


class FolderEntry(NamedTuple):
    """An entry of a folder. ``content`` is the SHA-256 of a file, and the target of a link; that of a link inside its folder is relative."""

    kind: str
    content: bytes


def entries(folder: str, label: str) -> dict[str, FolderEntry]:
    """Return everything in a folder that belongs to its bot, by its path there, in order.

    PlayerError, which names the folder by its ``label``, if it can't be read or is too large.
    """
    count = submission.Count(f"'{label}'")
    try:
        return {os.path.relpath(path, folder): _entry(folder, path, facts, count) for path, facts in _entries(folder, count)}
    except OSError as error:
        raise count.refusal(f"can't be read: {error.filename}: {error.strerror or error}.") from None


def digest(folder: str, label: str) -> str:
    """Return the SHA-256 of a folder, in hexadecimal: of each entry's path, kind and content. Raises what ``entries`` raises."""
    whole = hashlib.sha256()
    for path, entry in entries(folder, label).items():
        for part in (entry.kind.encode(), os.fsencode(path), entry.content):
            whole.update(b"%d:%b" % (len(part), part))
    return whole.hexdigest()


def traits(folder: str) -> tuple[object, ...] | None:
    """Return a cheap fingerprint of a folder: sizes and times of all entries. None if it can't be read or is too large."""
    count = submission.Count("")
    try:
        return tuple(
            (path, facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            for path, facts in _entries(folder, count)
        )
    except (OSError, PlayerError):
        return None


def link_text(folder: str, path: str) -> str:
    """Return the target of a link in a folder, relative to the link and with all links resolved; the link's own text if it leaves the folder."""
    top, real = os.path.realpath(folder), os.path.realpath(path)
    if real != top and not real.startswith(top + os.sep):
        return os.readlink(path)
    return os.path.relpath(real, os.path.realpath(os.path.dirname(path)))


def _entry(folder: str, path: str, facts: os.stat_result, count: submission.Count) -> FolderEntry:
    if stat.S_ISLNK(facts.st_mode):
        return FolderEntry(LINK, os.fsencode(link_text(folder, path)))
    if stat.S_ISDIR(facts.st_mode):
        return FolderEntry(FOLDER, b"")
    if stat.S_ISREG(facts.st_mode):
        return FolderEntry(EXECUTABLE if facts.st_mode & 0o111 else FILE, of_file(path, count))
    return FolderEntry(OTHER, b"")


def _entries(folder: str, count: submission.Count) -> list[tuple[str, os.stat_result]]:
    """Return everything in a folder, sorted by path. Folders behind links are not entered."""
    listing = []
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listed:
            for entry in listed:
                if count.is_ignored(entry.name):
                    continue
                count.add_entry()
                facts = entry.stat(follow_symlinks=False)
                listing.append((entry.path, facts))
                if stat.S_ISDIR(facts.st_mode):
                    waiting.append(entry.path)
    return sorted(listing)


def of_file(path: str, count: submission.Count) -> bytes:
    """Return the SHA-256 of a file. OSError if it can't be read, PlayerError if it is too large."""
    hashed = hashlib.sha256()
    with submission.open_file(path, path) as file:
        while chunk := file.read(1 << 20):
            count.add_bytes(len(chunk))
            hashed.update(chunk)
    return hashed.digest()
