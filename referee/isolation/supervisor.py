"""The supervisor: a small process between the referee and the bots of a match, so that nothing outlives the match.

It is run as a program by ``referee.players.process`` and imports next to nothing, to start fast.

Theory of operation. The bots are its children. It is a *subreaper*: whatever process a bot leaves behind, by however many forks and
sessions, becomes its child when the parent dies, and so can be found and ended. It watches a pipe that the referee alone holds
open: when the referee dies, by SIGKILL too, the pipe reads as closed and the supervisor kills every descendant until it has none. A
parent-death signal would not do: it reaches direct children only. The referee is a subreaper as well, and ends what comes to it if
the supervisor is killed.

Requests come on descriptor 0, each four bytes of length and a marshalled tuple; reports go out as lines on descriptor 1::

    <- ("pipes", fds)                    the bots' pipes, so that none inherits another's
    <- ("spawn", index, argv, env, cwd, (stdin, stdout, stderr), (more fds that it inherits, by their own numbers))
    -> "INDEX pid N"  or  "INDEX error ERRNO"
    <- ("watch", index, memory bytes, processes, inodes)   caps that no kernel feature keeps here; 0 is none
    -> "INDEX exceeded N"                N: 0 memory, 1 processes, 2 files in the scratch space; the bot was killed
    <- ("clean", writes, folders, trees) what to do when all is dead: (path, text) that lets frozen processes die, empty folders
                                         (control groups) and whole trees (copies of bots) to remove
    <- ("kill", index)                   that bot's process group
    -> "INDEX status N"                  exit status, negative for a signal; once, when the bot's first process has ended
    <- ("end",)                          kill everything; the supervisor exits when it has no child left

A bot's first process is left as a zombie until the end, so that its process group's number isn't given away while the referee may
still signal it.
"""

from __future__ import annotations

import marshal
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, <linux/prctl.h>
_SIGKILL = 9
#: How often caps are looked after that the kernel doesn't keep, in milliseconds.
_WATCH_MS = 75
#: SIGHUP, SIGINT, SIGPIPE, SIGTERM and SIGXFSZ: Python ignores some of them, and a program started by it would, too.
_SIGNALS_TO_RESET = (1, 2, 13, 15, 25)


def become_subreaper(*, on: bool = True) -> bool:
    """Make this process adopt the orphans below it (Linux); False where the system can't."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(_SUBREAPER, int(on), 0, 0, 0) == 0)
    except (OSError, AttributeError, ImportError):
        return False


def children(pid: int) -> list[int]:
    """The live and dead children of a process, from /proc; none where there is no /proc."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += map(int, file.read().split())
    except OSError:
        pass
    return found


def descendants(pid: int) -> list[int]:
    """All processes below a process, parents first."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def send_signal(pid: int, number: int) -> bool:
    """Send a signal; False if the process is gone or not ours."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def sweep(writes: tuple[tuple[str, str], ...] = ()) -> None:
    """Kill and reap every process below this one; ``writes`` are (path, text) that let killed processes die where they are frozen.

    Children alone are looked at: what they leave behind comes here when they die. Whole process groups are killed, which the kernel
    does at one stroke, so that a program which forks and exits as fast as it can is met in one of its moments.
    """
    me, own = os.getpid(), os.getpgid(0)
    while True:
        found = children(me)
        for pid in found:
            send_signal(pid, _SIGKILL)
            group = _group(pid)
            if group not in (0, own):
                send_signal(-group, _SIGKILL)
        for path, text in writes:
            _write(path, text)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if not found:
            select.select([], [], [], 0.001)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError:
        pass  # It is gone already.


def _remove(folders: list[str], trees: list[str]) -> None:
    """Remove what the match leaves on the system: control groups, which are busy for a moment after the last process, and copies."""
    for _ in range(500):
        folders = [folder for folder in folders if not _rmdir(folder)]
        if not folders:
            break
        select.select([], [], [], 0.002)
    for tree in trees:
        _remove_tree(tree)


def _remove_tree(top: str) -> None:
    """Remove a folder with all that is in it; links are not followed."""
    try:
        with os.scandir(top) as entries:
            found = list(entries)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                _remove_tree(entry.path)
            else:
                os.unlink(entry.path)
        os.rmdir(top)
    except OSError:
        pass  # What can't be removed stays; the match is over.


def _rmdir(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _share_of_memory(pid: int) -> int:
    """Bytes of memory of a process, pages that it shares with others counted in parts (PSS): forks don't count twice."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _inodes(pid: int) -> int:
    """Files in the scratch space that a process sees."""
    try:
        facts = os.statvfs(f"/proc/{pid}/root/tmp")
    except OSError:
        return 0
    return facts.f_files - facts.f_ffree


def _group(pid: int) -> int:
    """The process group of a process, 0 if it is gone."""
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


class Supervisor:
    """The supervisor's own state: its bots by index, and what it watches."""

    def __init__(self) -> None:
        self.pids: dict[int, int] = {}
        self.watched: dict[int, int] = {}
        self.reported: set[int] = set()
        self.is_settled = False
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.requests = b""
        self.watches: dict[int, tuple[int, int, int]] = {}
        self.writes: list[tuple[str, str]] = []
        self.folders: list[str] = []
        self.trees: list[str] = []

    def run(self) -> None:
        """Serve until the referee says so or is gone, then leave nothing behind."""
        try:
            while self.serve():
                pass
        finally:
            for pid in self.pids.values():
                self.kill_group(pid)
            sweep(tuple(self.writes))
            _remove(self.folders, self.trees)

    def serve(self) -> bool:
        """One round of waiting; False when it is time to end."""
        # Where the kernel can't tell of a child's end through a descriptor, look twenty times a second.
        timeout = 50 if len(self.watched) + len(self.reported) < len(self.pids) else 1000
        events = self.poll.poll(_WATCH_MS if self.watches else timeout)
        if self.watches:
            self.look()
        for fd, _ in events:
            if fd in self.watched:
                self.poll.unregister(fd)
                self.report(self.watched.pop(fd))
                os.close(fd)
            elif fd == 0 and not self.take_requests():
                return False
        if not events:
            self.reap_strangers()
        return True

    def take_requests(self) -> bool:
        """Read and carry out requests; False at the end of them."""
        data = os.read(0, 1 << 20)
        if not data:
            return False
        self.requests += data
        while len(self.requests) >= 4:
            size = int.from_bytes(self.requests[:4], "big")
            if len(self.requests) < 4 + size:
                break
            request = marshal.loads(self.requests[4 : 4 + size])
            self.requests = self.requests[4 + size :]
            if request[0] == "end":
                return False
            self.serve_request(*request)
        if self.pids and not self.is_settled:
            self.settle()
        return True

    def serve_request(self, kind: str, *parts: Any) -> None:
        """Carry out one request."""
        if kind == "pipes":
            for fd in parts[0]:
                os.set_inheritable(fd, False)
        elif kind == "kill":
            self.kill_group(self.pids.get(parts[0]))
        elif kind == "watch":
            self.watches[parts[0]] = parts[1:]
        elif kind == "clean":
            self.writes += parts[0]
            self.folders += parts[1]
            self.trees += parts[2]
        else:
            self.spawn(*parts)

    def settle(self) -> None:
        """What can wait until the bots are on their way."""
        self.is_settled = True
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def look(self) -> None:
        """Kill bots that are over a cap."""
        for index, (memory, processes, inodes) in list(self.watches.items()):
            pid = self.pids.get(index)
            if pid is None or index in self.reported:
                continue
            below = descendants(pid)
            over = [
                bool(memory) and sum(map(_share_of_memory, (pid, *below))) > memory,
                bool(processes) and len(below) + 1 > processes,
                bool(inodes) and bool(below) and _inodes(below[-1]) > inodes,
            ]
            if any(over):
                del self.watches[index]
                _tell(index, "exceeded", over.index(True))
                for found in (*below, pid):
                    send_signal(found, _SIGKILL)
                self.kill_group(pid)

    def spawn(
        self, index: int, argv: tuple[str, ...], env: dict[str, str], cwd: str, fds: tuple[int, int, int], more: tuple[int, ...] = ()
    ) -> None:
        """Start a bot in a session and process group of its own."""
        actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(fds)]
        for fd in more:
            os.set_inheritable(fd, True)
        try:
            os.chdir(cwd)
            pid = os.posix_spawn(argv[0], argv, env, file_actions=actions, setsid=True, setsigdef=_SIGNALS_TO_RESET)
        except OSError as error:
            _tell(index, "error", error.errno or 0)
            return
        finally:
            os.chdir("/")
            for fd in (*fds, *more):
                os.close(fd)
        self.pids[index] = pid
        _tell(index, "pid", pid)
        if hasattr(os, "pidfd_open"):
            try:
                watch = os.pidfd_open(pid)
            except OSError:
                return
            self.watched[watch] = index
            self.poll.register(watch, select.POLLIN)

    def report(self, index: int) -> None:
        """Tell how a bot's first process ended, without reaping it."""
        ended = os.waitid(os.P_PID, self.pids[index], os.WEXITED | os.WNOWAIT)
        if ended is not None:
            self.reported.add(index)
            _tell(index, "status", ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)

    def reap_strangers(self) -> None:
        """Reap adopted processes that have ended, and look after bots that have no descriptor to watch."""
        own = set(self.pids.values())
        for pid in children(os.getpid()):
            if pid not in own:
                os.waitpid(pid, os.WNOHANG)
        for index, pid in self.pids.items():
            if index not in self.reported and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                self.report(index)

    def kill_group(self, pid: int | None) -> None:
        """Kill a bot's process group."""
        if pid is not None:
            try:
                os.killpg(pid, _SIGKILL)
            except OSError:
                pass


def _tell(index: int, what: str, number: int) -> None:
    try:
        os.write(1, b"%d %s %d\n" % (index, what.encode(), number))
    except OSError:
        pass  # The referee is gone; the next read says so.


def pack(*request: Any) -> bytes:
    """A request as the supervisor reads it."""
    data = marshal.dumps(request)
    return len(data).to_bytes(4, "big") + data


if __name__ == "__main__":
    # Before the first bot starts: what a bot had left behind earlier would go to the referee, and outlive it.
    become_subreaper()
    Supervisor().run()
