"""Control groups: hard caps on a bot's memory and processes, a freezer that nothing inside can undo, and exact accounts of its time.

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
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.names import PREFIX, is_stale, own_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT = "/sys/fs/cgroup"


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


class Group:
    """The groups of one bot: one folder for each tree that is used.

    ``ends_whole``: above the memory cap the kernel kills everything in the group (version 2), not only the largest process.
    """

    def __init__(self, trees: Trees, name: str, memory_bytes: int, processes: int, *, ends_whole: bool = True) -> None:
        self._ends_whole = b"1" if ends_whole else b"0"
        self.is_unified = trees.is_unified
        self.folders = {tree: f"{folder}/{name}" for tree, folder in trees.folders.items()}
        self.has_freezer = trees.has_freezer
        self.has_accounts = trees.has_accounts
        self._fds: list[int] = []
        self._account = self._freezer = self._events = -1
        try:
            for folder in self.folders.values():
                os.mkdir(folder, 0o755)
            for tree, file, value in self._caps(trees, memory_bytes, processes):
                self._write(tree, file, value)
            if trees.has_freezer:
                self._freezer = self._open(*(("unified", "cgroup.freeze") if self.is_unified else ("freezer", "freezer.state")), os.O_RDWR)
                self._events = self._open("unified", "cgroup.events", os.O_RDONLY) if self.is_unified else -1
            if trees.has_accounts:
                account = ("unified", "cpu.stat") if self.is_unified else ("cpuacct", "cpuacct.usage")
                self._account = self._open(*account, os.O_RDONLY)
        except OSError:
            self.close()
            self.remove()
            raise

    def _caps(self, trees: Trees, memory_bytes: int, processes: int) -> list[tuple[str, str, bytes]]:
        memory, pids = str(memory_bytes).encode(), str(processes).encode()
        if self.is_unified:
            caps = [
                ("memory.max", memory),
                ("memory.swap.max", b"0"),
                ("memory.oom.group", self._ends_whole),
                ("pids.max", pids),
            ]
            return [("unified", file, value) for file, value in caps if file.split(".")[0] in trees.controllers]
        v1 = [
            ("memory", "memory.limit_in_bytes", memory),
            ("memory", "memory.memsw.limit_in_bytes", memory),
            ("pids", "pids.max", pids),
        ]
        return [cap for cap in v1 if cap[0] in trees.folders]

    def _path(self, tree: str, file: str) -> str:
        return f"{self.folders[tree]}/{file}"

    def _open(self, tree: str, file: str, flags: int) -> int:
        fd = os.open(self._path(tree, file), flags | os.O_CLOEXEC)
        self._fds.append(fd)
        return fd

    def _write(self, tree: str, file: str, value: bytes) -> None:
        # Swap has no account of its own where the kernel was started without one; the cap on memory holds.
        optional = file in ("memory.memsw.limit_in_bytes", "memory.swap.max")
        try:
            fd = os.open(self._path(tree, file), os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if optional:
                return
            raise
        try:
            os.write(fd, value)
        finally:
            os.close(fd)

    def _read(self, tree: str, file: str) -> str:
        try:
            with open(self._path(tree, file)) as opened:
                return opened.read()
        except (OSError, KeyError):
            return ""

    def put(self, pid: int) -> None:
        """Put a process into the groups; its later child processes begin there."""
        for tree in self.folders:
            self._write(tree, "cgroup.procs", b"%d" % pid)

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
        """Return how many processes the kernel has killed here above the memory cap."""
        text = self._read("unified", "memory.events") if self.is_unified else self._read("memory", "memory.oom_control")
        return _field(text, "oom_kill")

    def refused_processes(self) -> int:
        """Return how often the kernel refused a new process or thread because of the cap."""
        return _field(self._read("unified" if self.is_unified else "pids", "pids.events"), "max")

    def pids(self) -> list[int]:
        """The processes in the group."""
        return [int(line) for line in self._read(next(iter(self.folders)), "cgroup.procs").split()]

    def close(self) -> None:
        """Close the descriptors; the group exists until ``remove``."""
        while self._fds:
            os.close(self._fds.pop())
        self._account = self._freezer = self._events = -1

    def remove(self) -> bool:
        """Remove the empty group; False if something is still in it."""
        for folder in self.folders.values():
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return True


def thaw_files(trees: Trees, name: str) -> list[tuple[str, str]]:
    """Return (path, text) pairs that thaw a group of this name, so that its killed processes end; for supervisor and keeper."""
    if not trees.has_freezer:
        return []
    if trees.is_unified:
        return [(f"{trees.folders['unified']}/{name}/cgroup.freeze", "0")]
    return [(f"{trees.folders['freezer']}/{name}/freezer.state", "THAWED")]


def folders_of(trees: Trees, name: str) -> list[str]:
    """The folders of a group of this name, one for each tree."""
    return [f"{folder}/{name}" for folder in trees.folders.values()]


def _field(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def find() -> Trees:
    """Return the groups below which this process may make groups; without any, the reason."""
    own = _own_groups()
    unified = _unified(own.get("", ""))
    if unified.has_caps:
        return unified
    folders = {}
    for controller in ("memory", "pids", "freezer", "cpuacct", "cpu"):
        folder = _mounted(controller, own.get(controller, ""))
        if folder and os.access(folder, os.W_OK):
            folders[controller] = folder
    found = Trees(folders, frozenset(folders), is_unified=False)
    if found.has_caps:
        return found
    return Trees({}, frozenset(), is_unified=False, why=unified.why or "this process may make no control groups below its own")


def _own_groups() -> dict[str, str]:
    """The path of this process's group by controller; version 2 under the empty name."""
    groups = {}
    try:
        with open("/proc/self/cgroup") as file:
            for line in file:
                _, controllers, path = line.rstrip("\n").split(":", 2)
                for controller in controllers.split(","):
                    groups[controller] = path
    except (OSError, ValueError):
        pass
    return groups


def _mounted(controller: str, path: str) -> str:
    """The folder of a group of version 1, empty if it can't be seen from here."""
    for root in (f"{_ROOT}/{controller}", f"{_ROOT}/cpu,cpuacct" if controller in ("cpu", "cpuacct") else ""):
        # In a container the path may be that of the host while the mount starts at our own group.
        for folder in (root + path.rstrip("/"), root):
            if root and path and os.path.exists(f"{folder}/cgroup.procs"):
                return folder
    return ""


def _unified(path: str) -> Trees:
    """The group of version 2, with the controllers that it can hand out, once the referee has moved to a leaf."""
    nothing = Trees({}, frozenset(), is_unified=True)
    folder = _ROOT + path.rstrip("/")
    if os.path.basename(folder).startswith(PREFIX) and folder.endswith("-self"):
        # An earlier match of this process has moved it.
        folder = os.path.dirname(folder)
    try:
        with open(f"{folder}/cgroup.controllers") as file:
            there = set(file.read().split())
        with open(f"{folder}/cgroup.subtree_control") as file:
            given = set(file.read().split())
    except OSError:
        return nothing
    wanted = there & {"memory", "pids", "cpu"}
    if not {"memory", "pids"} <= wanted:
        return nothing._replace(why="its control group hands out no memory or pids controller")
    if not os.access(folder, os.W_OK):
        return nothing._replace(why="its control group belongs to somebody else")
    try:
        if not wanted <= given:
            _leave(folder)
            with open(f"{folder}/cgroup.subtree_control", "w") as file:
                file.write(" ".join(f"+{controller}" for controller in sorted(wanted)))
    except OSError as error:
        return nothing._replace(why=f"its control group can't hand out controllers ({error.strerror})")
    return Trees({"unified": folder}, frozenset({*wanted, "freezer", "cpuacct"}), is_unified=True)


def _leave(folder: str) -> None:
    """Move this process, if it is alone there, into a leaf of its group. OSError if others are in it, too."""
    with open(f"{folder}/cgroup.procs") as file:
        there = {int(line) for line in file}
    if there - {os.getpid()}:
        raise OSError(0, "other processes are in it")
    if there:
        leaf = f"{folder}/{own_prefix(os.getpid())}-self"
        os.mkdir(leaf)
        with open(f"{leaf}/cgroup.procs", "w") as file:
            file.write("0")


def sweep(trees: Trees) -> None:
    """Remove groups of referees that are gone, with processes that are still frozen in them."""
    for tree, folder in trees.folders.items():
        try:
            names = [name for name in os.listdir(folder) if is_stale(name)]
        except OSError:
            continue
        for name in names:
            with contextlib.suppress(OSError):
                _empty(f"{folder}/{name}", "cgroup.freeze" if trees.is_unified else "freezer.state" if tree == "freezer" else None)
                os.rmdir(f"{folder}/{name}")


def _empty(group: str, freezer: str | None) -> None:
    """Kill and thaw the processes in a group."""
    with open(f"{group}/cgroup.procs") as file:
        for line in file:
            with contextlib.suppress(OSError):
                os.kill(int(line), signal.SIGKILL)
    if freezer is not None:
        with open(f"{group}/{freezer}", "w") as file:
            file.write("0" if freezer == "cgroup.freeze" else "THAWED")
