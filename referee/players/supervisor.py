"""The supervisor: a small process between the referee and the bots of a match, so that nothing outlives the match.

It is run as a program by ``referee.players.process`` and imports nothing but the standard library, to start fast.

Theory of operation. The bots are its children. It is a *subreaper*: whatever process a bot leaves behind, by however many forks and
sessions, becomes its child when the parent dies, and so can be found and ended. It watches a pipe that the referee alone holds
open: when the referee dies, by SIGKILL too, the pipe reads as closed and the supervisor kills every descendant until it has none. A
parent-death signal would not do: it reaches direct children only.

Requests come as JSON lines on descriptor 0; reports go out as JSON lines on descriptor 1::

    <- {"do":"spawn","index":0,"argv":[..],"env":{..},"cwd":"..","fds":[in,out,err]}
    -> {"index":0,"pid":4711}            or {"index":0,"error":"..","errno":2}
    <- {"do":"kill","index":0}           that bot's process group
    -> {"index":0,"status":-9}           exit status, negative for a signal; once, when the bot's first process has ended
    <- {"do":"end"}                      kill everything; the supervisor exits when it has no child left

A bot's first process is left as a zombie until the end, so that its process group's number isn't given away while the referee may
still signal it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, <linux/prctl.h>


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


def end_all(pids: list[int]) -> None:
    """Kill processes; those that are gone or not ours are passed over."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def sweep() -> None:
    """Kill and reap every process below this one, also one that forks faster than it is killed."""
    me = os.getpid()
    for _ in range(20):
        # Stop everything first: what is stopped can't fork while the killing goes round.
        found = descendants(me)
        fresh = [pid for pid in found if not _signal(pid, signal.SIGSTOP)]
        if not fresh or len(descendants(me)) <= len(found):
            break
    while True:
        end_all(descendants(me))
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        select.select([], [], [], 0.001)


def _signal(pid: int, number: int) -> bool:
    """Send a signal; True if the process is already gone."""
    try:
        os.kill(pid, number)
    except OSError:
        return True
    return False


class Supervisor:
    """The supervisor's own state: its bots by index, and what it watches."""

    def __init__(self) -> None:
        self.pids: dict[int, int] = {}
        self.watched: dict[int, int] = {}
        self.reported: set[int] = set()
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.requests = b""

    def run(self) -> None:
        """Serve until the referee says so or is gone, then leave nothing behind."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            while self.serve():
                pass
        finally:
            for pid in self.pids.values():
                self.kill_group(pid)
            sweep()

    def serve(self) -> bool:
        """One round of waiting; False when it is time to end."""
        # Where the kernel can't tell of a child's end through a descriptor, look twenty times a second.
        timeout = 50 if len(self.watched) + len(self.reported) < len(self.pids) else 1000
        events = self.poll.poll(timeout)
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
        *lines, self.requests = (self.requests + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if request["do"] == "end":
                return False
            if request["do"] == "kill":
                self.kill_group(self.pids.get(request["index"]))
            else:
                self.spawn(request)
        return True

    def spawn(self, request: dict[str, Any]) -> None:
        """Start a bot in a session and process group of its own."""
        index = request["index"]
        failed_read, failed_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become(request, failed_write)
        os.close(failed_write)
        for fd in request["fds"]:
            os.close(fd)
        error = os.read(failed_read, 64)
        os.close(failed_read)
        if error:
            os.waitpid(pid, 0)
            number = int(error)
            return _tell({"index": index, "error": os.strerror(number), "errno": number})
        self.pids[index] = pid
        _tell({"index": index, "pid": pid})
        if hasattr(os, "pidfd_open"):
            try:
                watch = os.pidfd_open(pid)
            except OSError:
                return None
            self.watched[watch] = index
            self.poll.register(watch, select.POLLIN)
        return None

    def report(self, index: int) -> None:
        """Tell how a bot's first process ended, without reaping it."""
        ended = os.waitid(os.P_PID, self.pids[index], os.WEXITED | os.WNOWAIT)
        if ended is not None:
            self.reported.add(index)
            status = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            _tell({"index": index, "status": status})

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
                os.killpg(pid, signal.SIGKILL)
            except OSError:
                pass


def _tell(report: dict[str, Any]) -> None:
    try:
        os.write(1, json.dumps(report).encode() + b"\n")
    except OSError:
        pass  # The referee is gone; the next read says so.


def _become(request: dict[str, Any], failed: int) -> None:
    """In the child: turn into the bot's program, or write the error's number to ``failed``."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        fds = [os.dup(fd) for fd in request["fds"]]
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.closerange(3, failed)
        os.closerange(failed + 1, 4096)
        os.chdir(request["cwd"])
        os.execve(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    become_subreaper()
    Supervisor().run()
