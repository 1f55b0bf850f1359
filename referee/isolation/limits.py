"""A bot's limits, and the names of the isolation levels."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from referee.support.sections import Section, option
from referee.support.words import GIB, KIB, MIB

#: The levels, from the strongest down, by the mechanisms that hold; ``word_of`` has the words of users for them.
ISOLATED_CGROUP = "isolated+cgroup"
ISOLATED = "isolated"
LIMITS = "limits"
#: ``limits`` with a user ID for each bot; only for callers that request it by name, such as gradings in a container.
LIMITS_USER = "limits+user"
NONE = "none"
LEVELS = (ISOLATED_CGROUP, ISOLATED, LIMITS, NONE)

#: Values of --isolation: the best possible level; a sandbox or no match; only resource limits; no isolation.
IsolationValue = Literal["auto", "strict", "limits", "none"]

_UNITS = {
    "": 1,
    "b": 1,
    **{unit + end: count for unit, count in (("k", KIB), ("m", MIB), ("g", GIB), ("t", GIB << 10)) for end in ("", "b", "ib")},
}


def _size(value: Any) -> Any:
    """Return a number of bytes from a size with a unit, such as "512MiB"; other values are unchanged."""
    return size(value) if isinstance(value, str) else value


_Size = Annotated[int, BeforeValidator(_size)]
_MOST_BYTES = 1 << 40
#: The most bytes of a file of logs or remarks.
_MOST_KEPT_BYTES = 1_000_000_000


def word_of(level: str) -> str:
    """Return the users' word for a level: "strict", "limits" or "none"."""
    return {ISOLATED_CGROUP: "strict", ISOLATED: "strict", LIMITS_USER: LIMITS}.get(level, level)


class Limits(Section):
    """Limits on one bot with all its processes. The lower bounds are what an interpreter needs."""

    memory_bytes: _Size = option(512 * MIB, "Memory of all its processes together.", unit="bytes", ge=16 * MIB, le=_MOST_BYTES)
    processes: int = option(64, "Processes and threads together.", ge=1, le=30_000)
    scratch_bytes: _Size = option(16 * MIB, "Size of its /tmp and of each file.", unit="bytes", ge=64 * KIB, le=_MOST_BYTES)
    open_files: int = option(64, "Open files of one process.", ge=16, le=1 << 20)
    line_bytes: _Size = option(64 * KIB, "Length of an answer.", unit="bytes", ge=256, le=500_000)
    stderr_bytes: _Size = option(1 * MIB, "The part of its log that is kept.", unit="bytes", ge=0, le=_MOST_KEPT_BYTES)
    remarks_bytes: _Size = option(
        8 * MIB, "The part of its say, draw and warnings that the replay keeps.", unit="bytes", ge=0, le=_MOST_KEPT_BYTES
    )
    build_seconds: int = option(120, "Time for its build, if it has one.", unit="seconds", ge=1, le=3_600)

    def for_build(self) -> Limits:
        """Return the limits of a build: compilers need more memory, processes and files than bots."""
        return self.replace(
            memory_bytes=max(self.memory_bytes, 2 * GIB),
            processes=max(self.processes, 256),
            scratch_bytes=max(self.scratch_bytes, 512 * MIB),
            open_files=max(self.open_files, 1024),
        )

    @property
    def build_cpu_seconds(self) -> int:
        """The kernel limit on the processor time of a build, in seconds: for a build whose referee and supervisor were killed."""
        return most_cpu_seconds(self.build_seconds)

    def to_json(self) -> dict[str, int]:
        """Return the limits by name. The default time of a build is left out, because older leagues don't have it."""
        limits = dict(self)
        if self.build_seconds == Limits().build_seconds:
            del limits["build_seconds"]
        return limits

    def above(self, other: Limits) -> list[str]:
        """Return the names of the limits that are higher than those of ``other``, as words."""
        mine, theirs = dict(self), dict(other)
        return [name.removesuffix("_bytes").replace("_", " ") for name in mine if mine[name] > theirs[name]]


def most_cpu_seconds(seconds: float) -> int:
    """Return a limit on processor time that no program reaches within a wall-clock time, both in seconds."""
    return int(seconds * (os.cpu_count() or 1)) + 10


def size(text: str) -> int:
    """Return the number of bytes in a text such as "512MiB", "16M" or "65536". ValueError if it isn't one."""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,3})?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2].lower() not in _UNITS:
        raise ValueError(f"{text!r:.40} is not a size; write a number of bytes, or 512KiB, 16MiB, 1GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])
