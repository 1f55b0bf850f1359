"""Checks whether this machine can give bots what they are promised: high hard limits, a disk that allows programs, and memory.

Theory of operation. A process can lower its hard limits, but not raise them, and a container or a mount option can deny what every bot
needs. A shortage that is known before a match prevents it. A shortage that shows only in a match voids it, with one of the codes of ``SHORTAGES``.
"""

from __future__ import annotations

import os
import resource
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import MatchVoid, UsageError
from referee.isolation import bubblewrap, cgroups
from referee.isolation.limits import NONE
from referee.support.words import size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from referee.isolation.limits import Limits

#: Resources that a machine can lack. These are values of ``MatchVoid.reason``.
LIMIT, DISK, MEMORY = SHORTAGES = ("limit", "disk", "memory")

#: The open files that the referee and its supervisor need for a match.
_LEAST_FILES = 128
#: The number of bots for which a slot has memory.
BOTS_OF_A_MATCH = 2
_OPTION = "memory_bytes in [limits], or --limit memory=SIZE"
_REMEDIES = {
    LIMIT: "Start the referee with higher limits (ulimit -Ha shows them), or promise bots less; referee doctor says more.",
    DISK: "Name a folder in TMPDIR whose disk has room and isn't mounted with noexec.",
    MEMORY: f"Give this machine or its container more memory, play fewer matches at once (--slots), or promise bots less ({_OPTION}).",
}
#: The resource limits by name: the option of ``ulimit``, what it limits, and how its values are written.
_NAMES: dict[str, tuple[str, str, Callable[[int], str]]] = {
    "fsize": ("f", "the size of a file", size_text),
    "nproc": ("u", "processes", "{:,}".format),
    "memlock": ("l", "locked memory", size_text),
    "data": ("d", "data in memory", size_text),
    "as": ("v", "the address space", size_text),
    "nofile": ("n", "open files", "{:,}".format),
    "cpu": ("t", "processor time", "{:,} s".format),
}


class Shortage(NamedTuple):
    """A resource that this machine lacks: the name of the check, the observation, and the remedy as a sentence."""

    name: str
    seen: str
    remedy: str


def void(what: str, reason: str, seats: tuple[str, ...]) -> MatchVoid:
    """Return the exception for a match in which this machine failed. ``what`` begins the sentence, ``seats`` are the affected ones."""
    return MatchVoid(f"{what}: the match is void and nobody loses. {_REMEDIES[reason]}", reason, seats)


def starved(what: str, limits: Limits, seats: tuple[str, ...] = ()) -> MatchVoid:
    """Return the exception for a program, ``what`` in a sentence, that the kernel killed for memory within its own limit."""
    text = f"{what} was killed for lack of memory, although it was within its limit of {size_text(limits.memory_bytes)}"
    return void(text, MEMORY, seats)


def refuse_few_files() -> None:
    """Raise UsageError if this process may open so few files that the referee itself can't play a match."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most < _LEAST_FILES:
        raise UsageError(
            f"The referee may open only {most} files at once (ulimit -n), but it needs {_LEAST_FILES}. Start it with a higher limit."
        )


def refuse(level: str, limits: Limits, bots: int, cpu_seconds: int | None = None) -> None:
    """Raise UsageError if ``bots`` bots at the same time certainly can't get what they are promised. Arguments as for ``shortages``."""
    lacks = list(shortages(level, limits, bots, cpu_seconds))
    if lacks:
        lines = [f"  {shortage.name}: {shortage.seen}. {shortage.remedy}" for shortage in lacks]
        raise UsageError("\n".join(["This machine can't give bots what they are promised, so no match was started:", *lines]))


def shortages(level: str, limits: Limits, bots: int, cpu_seconds: int | None = None) -> Iterable[Shortage]:
    """Yield what this machine lacks. The level ``none`` promises bots no amounts, but their programs must start.

    ``cpu_seconds`` is the limit on a bot's processor time, None without one.
    """
    folder = tempfile.gettempdir()
    if forbids_programs(folder):
        yield Shortage("programs start", f"{folder} is mounted with noexec, so no copy of a bot starts there", _REMEDIES[DISK])
    if level == NONE:
        return
    low = low_limits("bots", limits, cpu_seconds)
    # Whether a bot must be built is known only later.
    low = low_limits("builds", limits.for_build(), limits.build_cpu_seconds) | low
    yield from low.values()
    free, needed = cgroups.free_memory(), bots * limits.memory_bytes
    if free is not None and free < needed:
        seen = f"{bots} bots with {size_text(limits.memory_bytes)} each need {size_text(needed)}, but this container has {size_text(free)} left"
        yield Shortage("memory", seen, _REMEDIES[MEMORY])


def matches_in_memory(free: float, limits: Limits) -> float:
    """Return how many matches at the same time fit into the ``free`` bytes of the machine, or into the free memory of its container."""
    in_container = cgroups.free_memory()
    free = free if in_container is None else min(free, in_container)
    # Each match reserves the memory of both bots.
    return free // (BOTS_OF_A_MATCH * limits.memory_bytes)


def refuse_disk(folder: Path) -> None:
    """Raise UsageError if programs can't start in a folder for hand-ins. It need not exist yet."""
    here = folder.absolute()
    # Not Path.exists, which raises for a folder that is closed to this user.
    existing = next(path for path in (here, *here.parents) if os.path.exists(path))
    if forbids_programs(str(existing)):
        raise UsageError(f"{folder} is on a disk that is mounted with noexec, so no program starts there. Name a folder on another disk.")


def low_limits(whose: str, limits: Limits, cpu_seconds: int | None) -> dict[str, Shortage]:
    """Return the hard limits of this process below those that programs are given, by name. ``whose`` names the programs: "bots"."""
    low = {}
    wanted = bubblewrap.hard_limits(limits, cpu_seconds, limits.memory_bytes, limits.processes + 1)
    for name, value in (*wanted.items(), ("as", limits.memory_bytes)):
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
        if hard != resource.RLIM_INFINITY and hard < value:
            letter, what, text = _NAMES[name]
            seen = f"the hard limit on {what} (ulimit -{letter}) is {text(hard)}, but {whose} are given {text(value)}"
            remedy = f"Start the referee from a shell or service with a higher limit (systemd: Limit{name.upper()}=)."
            low[name] = Shortage("hard limits", seen, remedy)
    return low


def forbids_programs(path: str) -> bool:
    """True if the disk of a path is mounted with ``noexec`` (Linux)."""
    try:
        return bool(os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0))
    except OSError:
        return False
