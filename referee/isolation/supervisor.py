"""The supervisor and the watchdog: two small processes between the referee and the bots, so that nothing outlives a match.

``referee.isolation.supervision`` runs this file as a program of its own. It imports next to nothing, to start fast.

Theory of operation. The bots are the supervisor's children. The supervisor is a *subreaper*: a process that a bot leaves behind, after any
number of forks and sessions, becomes the supervisor's child when its parent ends. So the supervisor can find and kill it. Its control
socket is closed when the referee is gone, also after SIGKILL. Then it kills all descendants and removes control groups and copies of
submissions. A parent-death signal isn't enough, because it reaches only direct children.

The watchdog is the supervisor's parent and a subreaper too. It waits for the ends of referee and supervisor. If the supervisor is killed, the
bots become the watchdog's children, and the watchdog cleans up. So if any one or any two of referee, supervisor and watchdog are killed at once,
the third leaves nothing behind. (The referee is a subreaper, too, for the case that the other two are killed.)

Requests come over the control socket, each four bytes of length and a marshalled tuple; descriptors come along in the order in which
they are named. Reports go out as lines on descriptor 1, the first of them empty, when the supervisor is there::

    <- ("spawn", index, argv, env, cwd, more, held, user, passage)   with 3 descriptors for stdin, stdout and stderr, ``more`` that the program has
                                         as 3, 4, ..., and ``held`` that the supervisor keeps open; user: its ID, None for the supervisor's;
                                         passage: the arguments of ``user_start.enter``, None for a program that needs none
    -> "INDEX pid N"  or  "INDEX error ERRNO"  or  "INDEX closed ERRNO", if its user can't be let in
    <- ("watch", index, memory bytes, processes, inodes)   caps that no kernel feature keeps here; 0 is none
    -> "INDEX exceeded N"                N: 0 memory, 1 processes, 2 files in the scratch space; the bot was killed
    <- ("clean", writes, folders, trees) what to do when all processes have ended: (path, text) that lets frozen processes die, empty folders
                                         (control groups) to remove, and whole trees (copies of bots) to remove after the last match
    <- ("kill", index)                   that bot's process group
    -> "INDEX status N"                  exit status, negative for a signal; once, when the bot's first process has ended
    <- ("renew", word)                   end the match, but keep the trees; a line with that secret word reports that the next one can begin.
                                         If the match has changed anything in supervisor or watchdog, the supervisor exits
    <- ("end",)                          kill everything; the supervisor exits when it has no child left

The watchdog reads its own "clean" requests on descriptor 0, sent before what they name is made, and "forget" when only the trees are left. A
bot's first process stays a zombie, so that the kernel doesn't reuse the number of its process group while the referee may signal it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the part of signal that takes no time to import
import _socket
import fcntl
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    #: The parts of a "clean" request: what to write, the empty folders and the whole trees to remove.
    Cleaning = tuple[Iterable[tuple[str, str]], Iterable[str], Iterable[str]]

_libc: list[Any] = []  # loaded once: each loading keeps some memory
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, <linux/prctl.h>
_SIGHUP, _SIGKILL, _SIGTERM, _SIGCONT = 1, 9, 15, 19 if sys.platform == "darwin" else 18
#: The interval of checks for caps that the kernel doesn't enforce, in seconds; the share of time that checks may take; and the longest
#: pause that results.
_WATCH_SECONDS, _WATCH_SHARE, _LONGEST_PAUSE = 0.075, 0.04, 2.0
#: Received descriptors are moved to numbers above those that a program inherits; and SCM_MAX_FD, <net/scm.h>.
_LOWEST_KEPT, _MOST_DESCRIPTORS = 64, 253
#: The parts of /proc that don't change while nobody interferes with a process: lines of its file "status", and whole files.
_LASTING = (b"TracerPid", b"Threads", b"SigBlk", b"SigIgn", b"SigCgt", b"Cpus_allowed:")
_LASTING_FILES = ("limits", "oom_score_adj", "coredump_filter", "timerslack_ns", "cgroup")
_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}  # <asm/unistd.h>, by machine
#: SIGHUP, SIGINT, SIGPIPE, SIGTERM and SIGXFSZ: Python ignores some of them, and its child processes would inherit that.
_SIGNALS_TO_RESET = (1, 2, 13, 15, 25)


def become_subreaper(*, on: bool = True) -> bool:
    """Make this process adopt the orphans below it (Linux); False where the system can't."""
    try:
        if not _libc:
            import ctypes

            _libc.append(ctypes.CDLL(None))
        return bool(_libc[0].prctl(_SUBREAPER, int(on), 0, 0, 0) == 0)
    except (OSError, AttributeError, ImportError):
        return False


def children(pid: int) -> list[int]:
    """The live and dead children of a process, from /proc; none where there is no /proc."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for task in tasks for child in read(f"/proc/{pid}/task/{task}/children").split()]


def descendants(pid: int) -> list[int]:
    """All processes below a process, parents first."""
    processes = children(pid)
    for child in processes:
        processes += children(child)
    return processes


def attempt(call: Callable[..., object], *arguments: object) -> bool:
    """Call a function of the system; False if it raises OSError."""
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def send_signal(pid: int, number: int) -> bool:
    """Send a signal to a process, or to the process group ``-pid``; False if it is gone or not ours."""
    return attempt(os.kill, pid, number)


def clean_up(cleanings: Sequence[Cleaning]) -> None:
    """Kill and reap every process below this one, including frozen ones, then remove everything in "clean" requests."""
    # Only children are examined: their own children come here when they end. The kernel kills a whole process group in one operation, so
    # this also catches a program that forks and exits as fast as it can.
    me, own_group = os.getpid(), os.getpgid(0)
    while True:
        found = children(me)
        # Each group once: the kernel visits all its processes, including ended ones, and there can be thousands.
        killed = {own_group}
        for pid in found:
            send_signal(pid, _SIGKILL)
            try:
                group = os.getpgid(pid)
            except OSError:
                continue
            if group not in killed:
                killed.add(group)
                send_signal(-group, _SIGKILL)
        for path, text in [pair for writes, _, _ in cleanings for pair in writes]:
            attempt(write, path, text)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break
        if not found:
            select.select([], [], [], 0.001)
    remove(cleanings)


def read(path: str) -> bytes:
    """Return the content of a file of the kernel; empty if it can't be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def write(path: str, text: str) -> None:
    """Write to a file of the kernel. OSError if it is gone."""
    with open(path, "w") as file:
        file.write(text)


def remove(cleanings: Sequence[Cleaning]) -> None:
    """Remove the match's control groups, which stay busy for a moment after the last process, and its copies."""
    folders = [folder for _, folders, _ in cleanings for folder in folders]
    for _ in range(500):
        if not (folders := [folder for folder in folders if not attempt(os.rmdir, folder) and os.path.exists(folder)]):
            break
        select.select([], [], [], 0.002)
    for tree in [tree for _, _, trees in cleanings for tree in trees]:
        attempt(remove_tree, tree)


def trees_of(cleanings: Iterable[Cleaning]) -> list[Cleaning]:
    """Return the requests that further matches need, reduced to their trees; the end of the last match removes these."""
    return [((), (), trees) for _, _, trees in cleanings if trees]


def traits() -> list[object]:
    """Return the properties of supervisor and watchdog that a bot of the same user can change and later bots would notice, and this process's descriptors."""
    facts: list[object] = []
    for pid in (os.getpid(), os.getppid()):
        status = [line for line in read(f"/proc/{pid}/status").splitlines() if line.startswith(_LASTING)]
        policy = read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()[37:39]
        facts += [os.getpriority(os.PRIO_PROCESS, pid), policy, status, *(read(f"/proc/{pid}/{name}") for name in _LASTING_FILES)]
        facts.append(_libc and _libc[0].syscall(_IOPRIO_GET.get(os.uname().machine, -1), 1, pid))
    for fd in os.listdir("/dev/fd"):
        attempt(lambda path: facts.append((path, os.readlink(path))), f"/dev/fd/{fd}")  # that of the listing is closed by now
    return facts


def remove_tree(top: str) -> None:
    """Remove a folder with all that is in it, as far as possible; links are not followed. A bot can nest folders deeper than paths can be."""
    folders = [top]
    for folder in folders:
        for entry in list(os.scandir(folder)):
            beside = f"{top}-{len(folders)}"
            if entry.is_dir(follow_symlinks=False) and attempt(os.rename, entry.path, beside):
                folders.append(beside)
            else:
                attempt(os.unlink, entry.path)
        attempt(os.rmdir, folder)


def share_of_memory(pid: int) -> int:
    """Return the memory of a process in bytes; shared pages count in proportion (PSS), or fully if that can't be read (CAP_SYS_PTRACE)."""
    lines = read(f"/proc/{pid}/smaps_rollup").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:")), 0) if lines else resident_memory(pid)


def resident_memory(pid: int) -> int:
    """Return the memory of a process in bytes; shared pages count fully (RSS). It is never less than PSS and much cheaper to read."""
    fields = read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def is_over_memory(pids: list[int], most: int) -> bool:
    """True if the processes together use more than ``most`` bytes."""
    return sum(map(resident_memory, pids)) > most and sum(map(share_of_memory, pids)) > most


def count_inodes(pids: list[int]) -> int:
    """Return the number of files in a sandbox's scratch folders, through a process that can be read; 0 while they are still the host's."""
    for pid in pids:
        count = 0
        try:
            # Only the sandbox of a build has a folder "/source": there the bot's files are in memory, too.
            for place in ("/tmp", "/dev/shm", *(["/bot"] if os.path.isdir(f"/proc/{pid}/root/source") else [])):
                path = f"/proc/{pid}/root{place}"
                if place != "/bot" and os.stat(path).st_dev == os.stat(place).st_dev:
                    return 0
                facts = os.statvfs(path)
                count += facts.f_files - facts.f_ffree
        except OSError:
            # It has ended: a zombie has no root folder any more.
            continue
        return count
    return 0


def pause_after(look_seconds: float) -> float:
    """Return the seconds until the next check of caps. After a slow check the pause is longer, because checks cost the bots time."""
    return min(_LONGEST_PAUSE, max(_WATCH_SECONDS, look_seconds / _WATCH_SHARE))


class Supervisor:
    """The supervisor's own state: its bots by index, and what it watches."""

    def __init__(self, control: int) -> None:
        self.control, self.groups = _socket.socket(fileno=control), os.getgroups()
        self.descriptors: list[int] = []
        self.held: list[int] = []
        self.pids: dict[int, int] = {}
        self.watched: dict[int, int] = {}
        self.reported: set[int] = set()
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.requests = b""
        self.watches: dict[int, tuple[int, int, int]] = {}
        self.next_look = 0.0
        self.cleanings: list[Cleaning] = []
        self.traits = traits()

    def run(self) -> None:
        """Serve until the referee sends "end" or is gone, then clean up."""
        try:
            while self.serve():
                pass
        finally:
            self.end_match()
            if os.getppid() > 1:
                # The watchdog has no more work, but a bot may have stopped it.
                send_signal(os.getppid(), _SIGCONT)

    def end_match(self) -> None:
        """Kill the bots and all processes that they left, and remove everything made for them."""
        for pid in self.pids.values():
            send_signal(-pid, _SIGKILL)
        clean_up(self.cleanings)

    def renew(self, word: bytes) -> bool:
        """End the match, forget it, and report that the next one can begin; False if it has left something."""
        trees = trees_of(self.cleanings)
        self.cleanings = [(writes, folders, ()) for writes, folders, _ in self.cleanings]
        self.end_match()
        for fd in self.watched:
            self.poll.unregister(fd)
        for fd in (*self.watched, *self.held, *self.descriptors):
            os.close(fd)
        for state in (self.watched, self.held, self.descriptors, self.pids, self.reported, self.watches, self.cleanings):
            state.clear()
        self.cleanings += trees
        return not self.requests and traits() == self.traits and attempt(os.write, 1, word + b"\n")

    def serve(self) -> bool:
        """Wait once and handle the events; False when it is time to end."""
        # If the kernel has no descriptor for a child's end, poll twenty times a second.
        timeout = 0.05 if len(self.watched) + len(self.reported) < len(self.pids) else 1.0
        if self.watches:
            timeout = min(timeout, max(0.0, self.next_look - time.monotonic()))
        events = self.poll.poll(timeout * 1000)
        if self.watches and time.monotonic() >= self.next_look:
            begun = time.monotonic()
            self.look()
            self.next_look = time.monotonic() + pause_after(time.monotonic() - begun)
        for fd, _ in events:
            if fd in self.watched:
                self.poll.unregister(fd)
                self.report(self.watched.pop(fd))
                os.close(fd)
            elif fd == self.control.fileno() and not self.take_requests():
                return False
        if not events:
            self.reap_strangers()
        return True

    def take_requests(self) -> bool:
        """Read and carry out requests; False at the end of them, or if there is no data because the referee is gone."""
        try:
            data, ancillary, _, _ = self.control.recvmsg(1 << 20, _socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS))
        except ConnectionError:
            return False
        for _, _, numbers in ancillary:
            for at in range(0, len(numbers) - len(numbers) % 4, 4):
                fd = int.from_bytes(numbers[at : at + 4], sys.byteorder)
                self.descriptors.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LOWEST_KEPT))
                os.close(fd)
        requests, self.requests = unpack(self.requests + data)
        for request in requests:
            if request[0] == "end" or (request[0] == "renew" and not self.renew(*request[1:])):
                return False
            self.serve_request(*request)
        return bool(data)

    def serve_request(self, kind: str, *parts: Any) -> None:
        """Carry out one request."""
        if kind == "kill" and parts[0] in self.pids:
            send_signal(-self.pids[parts[0]], _SIGKILL)
        elif kind == "watch":
            self.watches[parts[0]] = parts[1:]
        elif kind == "clean":
            self.cleanings.append(parts)
        elif kind == "spawn":
            self.spawn(*parts)

    def look(self) -> None:
        """Kill bots that exceed a cap."""
        for index, (memory, processes, inodes) in list(self.watches.items()):
            pid = self.pids.get(index)
            if pid is None or index in self.reported:
                continue
            below = descendants(pid)
            over = [bool(memory) and is_over_memory([pid, *below], memory), 0 < processes <= len(below), 0 < inodes < count_inodes(below)]
            if any(over):
                del self.watches[index]
                _tell(index, "exceeded", over.index(True))
                for victim in (*below, pid, -pid):
                    send_signal(victim, _SIGKILL)

    def spawn(
        self, index: int, argv: tuple[str, ...], env: dict[str, str], cwd: str, count: int, held: int, user: int | None, passage: Any = None
    ) -> None:
        """Start a bot in a session and process group of its own. The last ``held`` of its descriptors are kept open here."""
        inherited, self.descriptors = self.descriptors[:count], self.descriptors[count:]
        self.held, self.descriptors = self.held + self.descriptors[:held], self.descriptors[held:]
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(inherited, range(count), strict=True)]
        failure, leave = "closed", None
        if user is not None:
            import user_start  # type: ignore[import-not-found]  # beside this file, and only for root
        try:
            if passage is not None:
                leave = user_start.enter(inherited[:3], user, *passage)
            failure = "error"
            os.chdir(cwd)
            if user is not None:
                user_start.become(user, [])
            pid = os.posix_spawn(argv[0], argv, env, file_actions=actions, setsid=True, setsigdef=_SIGNALS_TO_RESET)
        except OSError as error:
            _tell(index, failure, error.errno or 0)
            return
        finally:
            if user is not None:
                user_start.become(0, self.groups)
            if leave is not None:
                leave()
            os.chdir("/")
            for fd in inherited:
                os.close(fd)
        self.pids[index] = pid
        _tell(index, "pid", pid)
        try:
            watch = os.pidfd_open(pid)
        except (AttributeError, OSError):
            return
        self.watched[watch] = index
        self.poll.register(watch, select.POLLIN)

    def report(self, index: int) -> None:
        """Report how a bot's first process ended, without reaping it."""
        ended = os.waitid(os.P_PID, self.pids[index], os.WEXITED | os.WNOWAIT)
        if ended is not None:
            self.reported.add(index)
            _tell(index, "status", ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)

    def reap_strangers(self) -> None:
        """Reap adopted processes that have ended, and check bots without a descriptor for their end."""
        for pid in children(os.getpid()):
            if pid not in self.pids.values():
                os.waitpid(pid, os.WNOHANG)
        for index, pid in self.pids.items():
            if index not in self.reported and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                self.report(index)


def _tell(index: int, what: str, number: int) -> None:
    # If the referee is gone, the next read shows it.
    attempt(os.write, 1, b"%d %s %d\n" % (index, what.encode(), number))


class Watchdog:
    """The watchdog's own state: what to clean up if nothing else can."""

    def __init__(self, supervisor: int, alive: int) -> None:
        self.supervisor, self.alive = supervisor, alive  # the latter reads as closed when the supervisor has ended
        self.notes = b""
        self.cleanings: list[Cleaning] = []
        self.has_referee = True

    def run(self) -> None:
        """Wait until the supervisor has ended normally, or clean up in its place."""
        os.set_blocking(0, False)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self.alive, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll(None if self.has_referee else 100)}
            if 0 in ready and not self.read_notes():
                self.has_referee = False
                poll.unregister(0)
            if self.alive in ready:
                break
            if not self.has_referee:
                # The supervisor ends now, unless a bot has stopped it.
                send_signal(self.supervisor, _SIGCONT)
        if os.waitpid(self.supervisor, 0)[1]:
            self.clean_up()

    def read_notes(self) -> bool:
        """Read the referee's requests; False when the referee is gone."""
        try:
            while data := os.read(0, 1 << 16):
                requests, self.notes = unpack(self.notes + data)
                for kind, *parts in requests:
                    self.cleanings = trees_of(self.cleanings) if kind == "forget" else [*self.cleanings, tuple(parts)]
        except BlockingIOError:
            return True
        return False

    def clean_up(self) -> None:
        """Kill everything below, then remove what the referee has registered. If the referee still runs, repeat this after its end."""
        while True:
            self.read_notes()
            clean_up(self.cleanings)
            if not self.has_referee:
                return
            while select.select([0], [], []) and self.read_notes():
                pass
            self.has_referee = False


def unpack(data: bytes) -> tuple[list[Any], bytes]:
    """Return the complete requests in some bytes, and the bytes after them."""
    requests = []
    while len(data) >= 4 and len(data) >= 4 + (size := int.from_bytes(data[:4], "big")):
        requests.append(marshal.loads(data[4 : 4 + size]))
        data = data[4 + size :]
    return requests, data


def main() -> None:
    """Become watchdog and supervisor."""
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    for number in (_SIGHUP, _SIGTERM):
        _signal.signal(number, _signal.SIG_IGN)
    # Before the first bot starts, or processes left behind earlier would go to the referee and outlive it.
    become_subreaper()
    alive, held = os.pipe()
    supervisor = os.fork()
    if supervisor:
        for fd in (1, control, held):
            os.close(fd)
        Watchdog(supervisor, alive).run()
    else:
        os.close(0)
        os.close(alive)
        become_subreaper()
        attempt(os.write, 1, b"\n")
        Supervisor(control).run()
    os._exit(0)
