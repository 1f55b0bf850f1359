"""Names of a match's folders and groups. A name shows whether its referee is still running, so that leftovers can be removed."""

from __future__ import annotations

import os
from functools import cache

PREFIX = "referee-"


def own_prefix(pid: int | str) -> str:
    """Return the prefix of this process's folders and groups: its process number and its process table.

    The table is needed because containers can share folders and control groups with their host but have their own process numbers.
    """
    return f"{PREFIX}{pid}-{_namespace()}"


@cache
def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"


def is_stale(name: str) -> bool:
    """True if a name belongs to a referee of this process table that has ended."""
    pid = name.removeprefix(PREFIX).partition("-")[0]
    return name.startswith(PREFIX) and pid.isdigit() and name.startswith(own_prefix(pid) + "-") and not os.path.exists(f"/proc/{pid}")
