"""How what a match makes on this machine is named, so that what a killed referee left can be told from what is in use."""

from __future__ import annotations

import os
from functools import cache

PREFIX = "referee-"


def own_mark(pid: int | str) -> str:
    """What the names of a process's folders and groups begin with: the process by its number, and whose numbers these are.

    Containers share folders and control groups with their host, but count processes for themselves.
    """
    return f"{PREFIX}{pid}-{_namespace()}"


@cache
def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"


def is_left(name: str) -> bool:
    """Whether a name is that of a referee of this process table that is gone."""
    pid = name.removeprefix(PREFIX).partition("-")[0]
    return name.startswith(PREFIX) and pid.isdigit() and name.startswith(own_mark(pid) + "-") and not os.path.exists(f"/proc/{pid}")
