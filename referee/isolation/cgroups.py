"""Control groups: hard caps on a bot's memory and processes, a freezer that a bot can't undo, and exact accounts of its time.

Theory of operation. The referee makes a group for each bot, below its own group, and removes it when the bot is gone. It supports both
versions of the kernel's interface. In version 1 each controller has its own tree. In version 2 there is one tree, and a group that
delegates controllers must not contain a process, so the referee first moves itself into a leaf. A group that the referee can't write to
(for instance as an ordinary user without a delegated group) counts as missing, and the isolation level is lower.

A group has the weight of one process when processors are busy: a bot with 40 processes gets no more time than the referee. (With less
weight, other programs on the machine could make the bot lose.)

Only the freezer really stops a bot: a child process outside the process group, or a timer, can undo SIGSTOP. In version 1 a frozen
process doesn't react to SIGKILL, so the code that kills a group also thaws it.

Source of names and units: the kernel's Documentation/admin-guide/cgroup-v1 and cgroup-v2.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.names import PREFIX, is_stale, own_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping


#: The cap of version 1 on the buffers of TCP connections, and its value. All programs of the machine share the room for such buffers.
_CONNECTIONS, _CONNECTION_BYTES = "memory.kmem.tcp.limit_in_bytes", 16 << 20
#: How close to its cap the use of a group is at least when the kernel kills there, in bytes.
_CAP_SLACK = 1 << 20
#: Version 1 shows a group without a limit as one with a limit above this.
_NO_LIMIT = 1 << 60


class Trees(NamedTuple):
    """The places for new groups: for each controller, the folder of the referee's own group.

    Version 1 has one for each of "memory", "pids", "freezer", "cpuacct" and "cpu" that is writable. Version 2 has only "unified", with the
    ``controllers`` that can be delegated there.
    """

    folders: Mapping[str, str]
    controllers: frozenset[str]
    is_unified: bool
    why: str = ""

    @property
    def has_caps(self) -> bool:
        """Whether memory and processes can be capped."""
        return {"memory", "pids"} <= self.controllers

    @property
    def has_freezer(self) -> bool:
        """Whether bots can be frozen."""
        return "freezer" in self.controllers

    @property
    def has_accounts(self) -> bool:
        """Whether a bot's processor time is known exactly."""
        return "cpuacct" in self.controllers


class BotGroups:
    """The groups of one bot: one folder for each tree that is used.

    ``ends_whole``: above the memory cap the kernel kills everything in the group (version 2), not only the largest process.
    """

    def __init__(self, trees: Trees, name: str, memory_bytes: int, processes: int, *, ends_whole: bool = True) -> None:
        self.is_unified = trees.is_unified
        self.folders = {tree: f"{folder}/{name}" for tree, folder in trees.folders.items()}
        self.has_freezer = trees.has_freezer
        self.has_accounts = trees.has_accounts
        self._fds: list[int] = []
        self._account = self._freezer = self._events = -1
        self._memory_bytes = memory_bytes
        memory, pids = str(memory_bytes).encode(), str(processes).encode()
        if self.is_unified:
            caps = {"memory.max": memory, "memory.swap.max": b"0", "memory.oom.group": b"1" if ends_whole else b"0", "pids.max": pids}
        else:
            # Version 2 counts the buffers of connections as memory; version 1 counts them only against a cap of their own.
            caps = {
                "memory.limit_in_bytes": memory,
                "memory.memsw.limit_in_bytes": memory,
                _CONNECTIONS: b"%d" % _CONNECTION_BYTES,
                "pids.max": pids,
            }
        try:
            for folder in self.folders.values():
                os.mkdir(folder, 0o755)
            for file, value in caps.items():
                if file.partition(".")[0] in trees.controllers:
                    self._write(self._path(file), value)
            if trees.has_freezer:
                self._freezer = self._open("cgroup.freeze" if self.is_unified else "freezer.state", os.O_RDWR)
                self._events = self._open("cgroup.events", os.O_RDONLY) if self.is_unified else -1
            if trees.has_accounts:
                self._account = self._open("cpu.stat" if self.is_unified else "cpuacct.usage", os.O_RDONLY)
        except OSError:
            self.close()
            self.remove()
            raise

    def _path(self, file: str) -> str:
        """Return the path of a file. In version 1 the first part of its name is its controller's tree."""
        return f"{self.folders['unified' if self.is_unified else file.partition('.')[0]]}/{file}"

    def _open(self, file: str, flags: int) -> int:
        fd = os.open(self._path(file), flags | os.O_CLOEXEC)
        self._fds.append(fd)
        return fd

    def _write(self, path: str, value: bytes) -> None:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            # Swap has no account of its own where the kernel was started without one; the cap on memory holds. So do connections.
            if path.endswith(("/memory.memsw.limit_in_bytes", "/memory.swap.max", f"/{_CONNECTIONS}")):
                return
            raise
        try:
            os.write(fd, value)
        finally:
            os.close(fd)

    def _counter(self, file: str, name: str) -> int:
        """Return a counter of the group; 0 without its tree."""
        return _counter(self._path(file), name) if self.is_unified or file.partition(".")[0] in self.folders else 0

    def put(self, pid: int) -> None:
        """Put a process into the groups; its later child processes begin there."""
        for folder in self.folders.values():
            self._write(f"{folder}/cgroup.procs", b"%d" % pid)

    def freeze(self) -> None:
        """Stop everything in the group."""
        os.write(self._freezer, b"1" if self.is_unified else b"FROZEN")

    def thaw(self) -> None:
        """Let all processes continue."""
        if self._freezer >= 0:
            with contextlib.suppress(OSError):
                os.write(self._freezer, b"0" if self.is_unified else b"THAWED")

    def is_frozen(self) -> bool:
        """Whether everything in the group stands still."""
        if self.is_unified:
            return b"frozen 1" in os.pread(self._events, 128, 0)
        return os.pread(self._freezer, 16, 0) == b"FROZEN\n"

    def seconds(self) -> float:
        """The processor time that everything in the group has used so far."""
        if self.is_unified:
            # usage_usec is the first line.
            return int(os.pread(self._account, 64, 0).split(None, 2)[1]) * 1e-6
        return int(os.pread(self._account, 32, 0)) * 1e-9

    def memory_kills(self) -> int:
        """Return how many processes the kernel has killed here for lack of memory."""
        return self._counter("memory.events" if self.is_unified else "memory.oom_control", "oom_kill")

    def met_memory_cap(self) -> bool:
        """True if the group has met its own memory cap. Processes are also killed here if a group above it, or the machine, has no memory left.

        Some kernels no longer count failures at a cap of version 1, so its highest use decides. Linux 5.19 has that for version 2, too.
        """
        peaks = ("memory.peak",) if self.is_unified else ("memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes")
        peak = max(_number(self._path(name)) or 0 for name in peaks)
        return peak >= self._memory_bytes - _CAP_SLACK or (self.is_unified and self._counter("memory.events", "oom") > 0)

    def refused_processes(self) -> int:
        """Return how often the kernel refused a new process or thread because of the cap."""
        return self._counter("pids.events", "max")

    def pids(self) -> list[int]:
        """The processes in the group."""
        try:
            with open(f"{next(iter(self.folders.values()))}/cgroup.procs") as file:
                return list(map(int, file))
        except OSError:
            return []

    def close(self) -> None:
        """Close the descriptors; the group exists until ``remove``."""
        while self._fds:
            os.close(self._fds.pop())
        self._account = self._freezer = self._events = -1

    def remove(self) -> bool:
        """Remove the empty group; False if something is still in it."""
        for folder in self.folders.values():
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return not any(map(os.path.exists, self.folders.values()))


def _counter(path: str, name: str) -> int:
    """Return a number from a file of lines "name number"; 0 if it is missing."""
    try:
        with open(path) as opened:
            return next((int(line.split()[1]) for line in opened if line.startswith(f"{name} ")), 0)
    except OSError:
        return 0


def _number(path: str) -> int | None:
    """Return the number in a file; None without a file or a number, as for a group without a limit."""
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def thaw_files(trees: Trees, name: str) -> list[tuple[str, str]]:
    """Return (path, text) pairs that thaw a group of this name, so that its killed processes end; for supervisor and watchdog."""
    if not trees.has_freezer:
        return []
    if trees.is_unified:
        return [(f"{trees.folders['unified']}/{name}/cgroup.freeze", "0")]
    return [(f"{trees.folders['freezer']}/{name}/freezer.state", "THAWED")]


def folders_of(trees: Trees, name: str) -> list[str]:
    """The folders of a group of this name, one for each tree."""
    return [f"{folder}/{name}" for folder in trees.folders.values()]


def find(root: str = "/sys/fs/cgroup", own_groups: str = "/proc/self/cgroup") -> Trees:
    """Return the groups below which this process may make groups; without any, the reason.

    ``root`` is the folder in which the trees are mounted; the file ``own_groups`` names the groups of this process.
    """
    groups_here = _own_groups(own_groups)
    unified = _unified(root, groups_here.get("", ""))
    if unified.has_caps:
        return unified
    there = {
        controller: _mounted(root, controller, groups_here.get(controller, ""))
        for controller in ("memory", "pids", "freezer", "cpuacct", "cpu")
    }
    folders = {controller: folder for controller, folder in there.items() if folder and os.access(folder, os.W_OK)}
    trees = Trees(folders, frozenset(folders), is_unified=False)
    if trees.has_caps:
        return trees
    return Trees({}, frozenset(), is_unified=False, why=unified.why or "this process may make no control groups below its own")


def free_memory(root: str = "/sys/fs/cgroup", own_groups: str = "/proc/self/cgroup") -> int | None:
    """Return how many bytes of memory the groups of this process can still take; None if none of them has a limit.

    ``root`` and ``own_groups`` are as for ``find``. Cached files count as free: the kernel drops them first.
    """
    groups_here = _own_groups(own_groups)
    first, names = root + groups_here.get("", ""), ("memory.max", "memory.current", "")
    if not os.path.exists(f"{first}/memory.current"):
        first, names = _mounted(root, "memory", groups_here.get("memory", "")), ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    free, first = [], first.rstrip("/")
    while len(first) >= len(root):
        most, used = (_number(f"{first}/{name}") for name in names[:2])
        if most is not None and most < _NO_LIMIT and used is not None:
            cached = (_counter(f"{first}/memory.stat", f"{names[2]}{kind}_file") for kind in ("active", "inactive"))
            free.append(most - used + sum(cached))
        first = os.path.dirname(first)
    return max(0, min(free)) if free else None


def _own_groups(path: str) -> dict[str, str]:
    """The path of this process's group by controller; version 2 under the empty name."""
    try:
        with open(path) as file:
            lines = [line.rstrip("\n").split(":", 2)[1:] for line in file]
        return {controller: group for controllers, group in lines for controller in controllers.split(",")}
    except (OSError, ValueError):
        return {}


def _mounted(root: str, controller: str, path: str) -> str:
    """The folder of a group of version 1, empty if it can't be seen from here."""
    for top in (f"{root}/{controller}", f"{root}/cpu,cpuacct" if controller in ("cpu", "cpuacct") else ""):
        # In a container the path may be that of the host while the mount starts at our own group.
        for folder in (top + path.rstrip("/"), top):
            if top and path and os.path.exists(f"{folder}/cgroup.procs"):
                return folder
    return ""


def _unified(root: str, path: str) -> Trees:
    """The group of version 2, with the controllers that it can hand out, once the referee has moved to a leaf."""
    nothing = Trees({}, frozenset(), is_unified=True)
    folder = root + path.rstrip("/")
    if os.path.basename(folder).startswith(PREFIX) and folder.endswith("-self"):
        # An earlier match of this process has moved it.
        folder = os.path.dirname(folder)
    try:
        there, enabled = (set(Path(folder, f"cgroup.{name}").read_text().split()) for name in ("controllers", "subtree_control"))
    except OSError:
        return nothing
    controllers = there & {"memory", "pids", "cpu"}
    if not {"memory", "pids"} <= controllers:
        return nothing._replace(why="its control group hands out no memory or pids controller")
    if not os.access(folder, os.W_OK):
        return nothing._replace(why="its control group belongs to somebody else")
    try:
        if not controllers <= enabled:
            _leave(folder)
            Path(folder, "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in sorted(controllers)))
    except OSError as error:
        return nothing._replace(why=f"its control group can't hand out controllers ({error.strerror})")
    return Trees({"unified": folder}, frozenset({*controllers, "freezer", "cpuacct"}), is_unified=True)


def _leave(folder: str) -> None:
    """Move this process into a leaf of its group. OSError if other processes are in the group."""
    there = set(map(int, Path(folder, "cgroup.procs").read_text().split()))
    if there - {os.getpid()}:
        raise OSError(0, "other processes are in it")
    if there:
        leaf = f"{folder}/{own_prefix(os.getpid())}-self"
        os.mkdir(leaf)
        Path(leaf, "cgroup.procs").write_text("0")


def sweep(trees: Trees) -> None:
    """Remove groups of referees that are gone, with processes that are still frozen in them."""
    for tree, folder in trees.folders.items():
        freezer = "cgroup.freeze" if trees.is_unified else "freezer.state" if tree == "freezer" else None
        with contextlib.suppress(OSError):
            for name in filter(is_stale, os.listdir(folder)):
                with contextlib.suppress(OSError):
                    _empty(f"{folder}/{name}", freezer)
                    os.rmdir(f"{folder}/{name}")


def _empty(group: str, freezer: str | None) -> None:
    """Kill and thaw the processes in a group."""
    for pid in map(int, Path(group, "cgroup.procs").read_text().split()):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if freezer is not None:
        Path(group, freezer).write_text("0" if freezer == "cgroup.freeze" else "THAWED")
