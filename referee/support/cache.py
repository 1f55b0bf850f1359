"""What is worth keeping from one run to the next, as files of this user's own. It may vanish at any time: nothing depends on it."""

from __future__ import annotations

import os

from referee.support.files import write_whole

#: The folder, instead of the one for caches in the user's home; empty: nothing is kept.
VARIABLE = "REFEREE_CACHE"


def folder() -> str:
    """Where things are kept, "" for nowhere. It need not be there yet.

    Source: XDG Base Directory Specification, "Environment variables" (a path that isn't absolute is left aside).
    """
    told = os.environ.get(VARIABLE)
    if told is not None:
        try:
            return told and os.path.abspath(told)
        except OSError:
            # Relative to a folder that is gone.
            return ""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "referee") if os.path.isabs(base) else ""


def recall(name: str, most: int) -> bytes | None:
    """What was kept under a name, None if there is nothing of this user's own or it is larger than that many bytes."""
    where = folder()
    if not where:
        return None
    try:
        # Never waits: what is there may be anything.
        file = os.open(os.path.join(where, name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        facts = os.fstat(file)
        if facts.st_uid != os.geteuid() or not 0 < facts.st_size <= most:
            return None
        with open(file, "rb", closefd=False) as opened:
            return opened.read(most)
    except OSError:
        return None
    finally:
        os.close(file)


def keep(name: str, data: bytes, *, kind: str, most: int) -> None:
    """Keep something under a name; it is there whole or not at all.

    Of the other files whose names begin with ``kind`` the oldest go until all have at most that many bytes. What can't be written is not kept.
    """
    where = folder()
    if not where:
        return
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        write_whole(os.path.join(where, name), data)
        _make_room(where, name, kind, most - len(data))
    except OSError:
        pass


def _make_room(where: str, name: str, kind: str, most: int) -> None:
    found = []
    with os.scandir(where) as entries:
        for entry in entries:
            if entry.name.startswith(kind) and entry.name != name and not entry.is_dir(follow_symlinks=False):
                facts = entry.stat(follow_symlinks=False)
                found.append((facts.st_mtime, facts.st_size, entry.path))
    for _, size, path in sorted(found, reverse=True):
        most -= size
        if most < 0:
            os.unlink(path)
