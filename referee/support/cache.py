"""A cache on disk between runs, in files of this user. It may vanish at any time: no result depends on it."""

from __future__ import annotations

import os

from referee.support.files import write_whole

#: The environment variable for the cache folder, which replaces the one in the user's home; empty: no cache.
VARIABLE = "REFEREE_CACHE"


def folder() -> str:
    """Return the path of the cache folder, "" for no cache. The folder may not exist yet.

    Source: XDG Base Directory Specification, "Environment variables" (a path that isn't absolute is ignored).
    """
    path = os.environ.get(VARIABLE)
    if path is not None:
        try:
            return path and os.path.abspath(path)
        except OSError:
            # The path is relative, and the current folder is gone.
            return ""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "referee") if os.path.isabs(base) else ""


def recall(name: str, most: int) -> bytes | None:
    """Return the cached bytes under a name; None if there is no file of this user or it is larger than the given limit."""
    where = folder()
    if not where:
        return None
    try:
        # Without blocking: the name may be a FIFO.
        with open(
            os.path.join(where, name), "rb", opener=lambda path, _: os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        ) as file:
            facts = os.fstat(file.fileno())
            return file.read(most) if facts.st_uid == os.geteuid() and 0 < facts.st_size <= most else None
    except OSError:
        return None


def keep(name: str, data: bytes, *, kind: str, most: int) -> None:
    """Store bytes under a name, completely or not at all. A failed write is ignored.

    Then delete the oldest other files whose names begin with ``kind``, until all of them together are within the limit in bytes.
    """
    where = folder()
    if not where:
        return
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        write_whole(os.path.join(where, name), data)
        with os.scandir(where) as entries:
            others = [
                entry for entry in entries if entry.name.startswith(kind) and entry.name != name and not entry.is_dir(follow_symlinks=False)
            ]
        left = most - len(data)
        for entry in sorted(others, key=lambda entry: entry.stat(follow_symlinks=False).st_mtime, reverse=True):
            left -= entry.stat(follow_symlinks=False).st_size
            if left < 0:
                os.unlink(entry.path)
    except OSError:
        pass
