"""Stores on disk that the self-check has passed, so that not every match with --isolation auto begins with the self-check."""

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


class CheckCache:
    """A note that the self-check passed, valid until anything that it depends on changes."""

    def __init__(self, isolation: Level, variant: str) -> None:
        facts = [
            Path("/proc/sys/kernel/random/boot_id").read_text(),
            os.uname().release,
            *map(_text, SETTINGS),
            str(os.geteuid()),
            variant,
            isolation.name,
            repr(sorted(isolation.trees.folders.items())),
            *(_stamp(bubblewrap.tool(name) or "") for name in ("bwrap", "prlimit", "setpriv", "perl")),
            _stamp(sys.executable),
            *(_stamp(str(path)) for pattern in _LIBRARIES for path in sorted(Path("/usr").glob(pattern))),
            *(_stamp(str(path)) for path in sorted(Path(__file__).parent.glob("*.py"))),
        ]
        #: The path of the note; None: there is no cache folder, so every match runs the self-check.
        self.path = (
            Path(folder, f"selfcheck-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}") if (folder := cache.folder()) else None
        )

    def is_known(self) -> bool:
        """True if there is a valid note of this user, at most a day old."""
        try:
            facts = self.path.stat() if self.path is not None else None
        except OSError:
            return False
        return facts is not None and facts.st_uid == os.geteuid() and 0 <= time.time() - facts.st_mtime < _BELIEVED

    def forget(self) -> None:
        """Delete the note, because a sandbox has failed."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    def keep(self) -> None:
        """Write the note."""
        if self.path is None:
            return
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            for old in self.path.parent.glob("selfcheck-*"):
                if time.time() - old.stat().st_mtime > _BELIEVED:
                    old.unlink(missing_ok=True)
            self.path.touch()


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
