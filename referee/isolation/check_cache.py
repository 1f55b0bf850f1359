"""Stores on disk that the self-check has passed, so that matches with --isolation auto don't repeat it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee.isolation import bubblewrap
from referee.support import cache

if TYPE_CHECKING:
    from referee.isolation.level import Level

#: How long a note is valid, in seconds.
_BELIEVED = 86_400.0


def is_known(level: Level, variant: str) -> bool:
    """True if there is a valid note of this user that the self-check passed, at most a day old."""
    try:
        facts = os.stat(_note(level, variant))
    except OSError:
        return False
    return facts.st_uid == os.geteuid() and 0 <= time.time() - facts.st_mtime < _BELIEVED


def forget(level: Level, variant: str) -> None:
    """Delete the note after a failure of a sandbox."""
    with contextlib.suppress(OSError):
        os.unlink(_note(level, variant))


def keep(level: Level, variant: str) -> None:
    """Write the note, if there is a cache folder; without one, every match runs the self-check."""
    with contextlib.suppress(OSError):
        note = Path(_note(level, variant))
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in note.parent.glob("selfcheck-*"):
            if time.time() - old.stat().st_mtime > _BELIEVED:
                old.unlink(missing_ok=True)
        note.touch()


def _note(level: Level, variant: str) -> str:
    """Return the path of a note. It depends on everything that the self-check depends on. OSError without a cache folder."""
    facts = [
        Path("/proc/sys/kernel/random/boot_id").read_text(),
        os.uname().release,
        *map(_text, SETTINGS),
        str(os.geteuid()),
        variant,
        level.name,
        repr(sorted(level.trees.folders.items())),
        *(_stamp(bubblewrap.tool(name) or "") for name in ("bwrap", "prlimit", "setpriv", "perl")),
        _stamp(sys.executable),
        *(_stamp(str(path)) for pattern in _LIBRARIES for path in sorted(Path("/usr").glob(pattern))),
        *(_stamp(str(path)) for path in sorted(Path(__file__).parent.glob("*.py"))),
    ]
    if not (folder := cache.folder()):
        raise FileNotFoundError("there is no cache folder")
    return f"{folder}/selfcheck-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}"


#: Paths of the filter's library in different distributions.
_LIBRARIES = ("lib/*/libseccomp.so.2", "lib64/libseccomp.so.2", "lib/libseccomp.so.2")

#: Kernel settings that can forbid a sandbox that was possible before.
SETTINGS = (
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/self/uid_map",
)


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _stamp(path: str) -> str:
    try:
        facts = os.stat(path)
    except OSError:
        return path
    return f"{path} {facts.st_mtime_ns} {facts.st_size}"
