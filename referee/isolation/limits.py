"""A bot's limits, and the names of the isolation levels."""

from __future__ import annotations

import re
from typing import NamedTuple

from referee.games.game import SettingsError

#: The levels, from the strongest down.
ISOLATED_CGROUP = "isolated+cgroup"
ISOLATED = "isolated"
LIMITS = "limits"
#: ``limits`` with a user ID for each bot; only for callers that ask for it by name, such as gradings in a container.
LIMITS_USER = "limits+user"
NONE = "none"
LEVELS = (ISOLATED_CGROUP, ISOLATED, LIMITS, NONE)

#: Values of --isolation: the best possible level; one of the first two levels or no match; only resource limits; nothing.
ISOLATION_VALUES = ("auto", "strict", "limits", "none")

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_UNITS = {
    "": 1,
    "b": 1,
    **{unit + end: count for unit, count in (("k", KIB), ("m", MIB), ("g", GIB), ("t", GIB << 10)) for end in ("", "b", "ib")},
}


class Limits(NamedTuple):
    """Limits on one bot with all its processes.

    ``memory_bytes`` and ``processes`` (threads count) hold for all its processes together. ``scratch_bytes`` is the size of its /tmp and of
    each file. ``open_files`` counts the descriptors of one process. ``line_bytes`` is the longest answer, ``stderr_bytes`` the part of its
    log that is kept, ``remarks_bytes`` the part of its ``say``, ``draw`` and warnings that the replay keeps. ``build_seconds`` is the time
    for its build, if it has one.
    """

    memory_bytes: int = 512 * MIB
    processes: int = 64
    scratch_bytes: int = 16 * MIB
    open_files: int = 64
    line_bytes: int = 64 * KIB
    stderr_bytes: int = 1 * MIB
    remarks_bytes: int = 8 * MIB
    build_seconds: int = 120

    def for_build(self) -> Limits:
        """Return the limits of a build: compilers need more memory, processes and files than bots."""
        return self._replace(
            memory_bytes=max(self.memory_bytes, 2 * GIB),
            processes=max(self.processes, 256),
            scratch_bytes=max(self.scratch_bytes, 512 * MIB),
            open_files=max(self.open_files, 1024),
        )

    def to_json(self) -> dict[str, int]:
        """Return the limits by name. The time of a build is left out if it is the ordinary one, as in leagues that are older than it."""
        limits = self._asdict()
        if self.build_seconds == Limits().build_seconds:
            del limits["build_seconds"]
        return limits

    def checked(self) -> Limits:
        """Return itself if every limit is in range; else SettingsError names the one that isn't."""
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                told = [size_text(number) if name.endswith("_bytes") else f"{number:,}" for number in (value, least, most)]
                raise SettingsError(f"the limit {name} is {told[0]}, but must be from {told[1]} to {told[2]}.")
        return self

    def above(self, other: Limits) -> list[str]:
        """Return the names of the limits that are higher than others, as words."""
        own, theirs = self._asdict(), other._asdict()
        return [name.removesuffix("_bytes").replace("_", " ") for name in own if own[name] > theirs[name]]


#: The smallest and the largest value of each limit. An interpreter needs some of each.
BOUNDS = {
    "memory_bytes": (16 * MIB, 1 << 40),
    "processes": (1, 30_000),
    "scratch_bytes": (64 * KIB, 1 << 40),
    "open_files": (16, 1 << 20),
    "line_bytes": (256, 500_000),
    "stderr_bytes": (0, 1_000_000_000),
    "remarks_bytes": (0, 1_000_000_000),
    "build_seconds": (1, 3_600),
}


def size(text: str) -> int:
    """Return the number of bytes in a text such as "512MiB", "16M" or "65536". ValueError if it isn't one."""
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,3})?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2].lower() not in _UNITS:
        raise ValueError(f"{text!r:.40} is not a size; write a number of bytes, or 512KiB, 16MiB, 1GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def size_text(count: int) -> str:
    """Return a number of bytes as text with a unit."""
    for unit, name in ((GIB << 10, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
