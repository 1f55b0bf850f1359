"""Tests from inside a sandbox what a bot can do there, and prints one line of JSON. ``referee.isolation.probe`` runs it.

Arguments: a file outside that must be unreadable; a port of the host's loopback interface and the name of an abstract socket of the
host, which must be unreachable; the caps on processes and on memory (0: not tested).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000


def _status(*names: str) -> str:
    """Lines of this process's status, joined."""
    with open("/proc/self/status") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return " ".join(fields.get(name, "?").strip() for name in names)


def capabilities() -> tuple[bool, str]:
    """The process has no capabilities and can't regain any."""
    seen = _status("CapInh", "CapPrm", "CapEff", "CapAmb")
    return not any(int(mask, 16) for mask in seen.split()), seen


def privileges() -> tuple[bool, str]:
    """No program can gain new rights."""
    seen = _status("NoNewPrivs")
    return seen == "1", f"NoNewPrivs {seen}"


def filtered() -> tuple[bool, str]:
    """The system call filter is active and denies what it should."""
    import ctypes

    seen = _status("Seccomp")
    libc = ctypes.CDLL(None, use_errno=True)
    denied = libc.unshare(_CLONE_NEWUSER) == -1 and libc.unshare(_CLONE_NEWNS) == -1
    denied = denied and libc.ptrace(0, 0, None, None) == -1 and libc.socket(40, 1, 0) == -1 and libc.inotify_init1(0) == -1
    return seen == "2" and denied, f"Seccomp {seen}, unshare, ptrace, inotify and AF_VSOCK {'refused' if denied else 'ALLOWED'}"


def user() -> tuple[bool, str]:
    """The user is not root and can't become root."""
    with contextlib.suppress(OSError):
        os.setuid(0)
    return os.getuid() != 0, f"user {os.getuid()}"


def secrets() -> tuple[bool, str]:
    """A planted file and the lists of users and passwords can't be read."""
    read = []
    for path in (sys.argv[1], "/etc/passwd", "/etc/shadow"):
        with contextlib.suppress(OSError), open(path) as file:
            file.read()
            read.append(path)
    return not read, "read: " + ", ".join(read) if read else "a planted file, /etc/passwd, /etc/shadow: none"


def network() -> tuple[bool, str]:
    """A listener of the host can't be reached, by address or by name."""
    reached = []
    for family, address, name in (
        (socket.AF_INET, ("127.0.0.1", int(sys.argv[2])), "loopback"),
        (socket.AF_UNIX, "\0" + sys.argv[3], "abstract socket"),
    ):
        with contextlib.suppress(OSError), socket.socket(family) as there:
            there.settimeout(2)
            there.connect(address)
            reached.append(name)
    return not reached, "reached: " + ", ".join(reached) if reached else "loopback listener and abstract socket not reached"


def hidden() -> tuple[bool, str]:
    """The kernel's command line, which describes the host, and its counters can't be read. The table of mounts is hidden only with Landlock."""
    read = {"/proc/cmdline": b"", "/proc/vmstat": b"", "/proc/self/mountinfo": b""}
    for path in read:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            read[path] = file.read()
    line, counters, mounts = read.values()
    seen = ["READ" if content else "hidden" for content in (line, counters)]
    seen.append("readable (it takes Perl and a kernel with Landlock to hide it)" if mounts else "hidden")
    return not line and not counters, "the kernel's command line: {}, its counters: {}, the table of mounts: {}".format(*seen)


def process_table() -> tuple[bool, str]:
    """Only this process and bwrap's inner half are visible."""
    seen = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    return len(seen) <= 2, f"processes seen: {len(seen)}"


def read_only() -> tuple[bool, str]:
    """Only the scratch space and shared memory are writable."""
    written = []
    folders = ("/", "/bot", "/dev", "/proc/1", "/usr", "/usr/bin", "/etc", sys.prefix, os.path.dirname(os.__file__))
    for path in (*(f"{folder}/planted" for folder in folders), "/proc/sys/kernel/hostname", "/proc/1/mem", __file__):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | (0 if path.startswith("/proc/") or path == __file__ else os.O_CREAT), 0o600))
            written.append(path)
    return not written, "written: " + ", ".join(written) if written else "/, /bot, /dev, /proc/1, /usr, /etc, sysctls, its own file: no"


def scratch() -> tuple[bool, str]:
    """The scratch space ends at its limit."""
    path = "/tmp/filling"
    written = 0
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while written < 1 << 28:
            written += file.write(bytes(1 << 20))
    with contextlib.suppress(OSError):
        os.unlink(path)
    return 0 < written < 1 << 28, f"full after {written >> 20} MiB"


def processes() -> tuple[bool, str]:
    """New processes stop at the cap."""
    most = int(sys.argv[4])
    begun: list[int] = []
    with contextlib.suppress(OSError):
        while len(begun) < 2 * most + 8:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            begun.append(pid)
    for pid in begun:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return 0 < len(begun) <= most, f"refused after {len(begun)} of {most}"


def memory() -> tuple[bool, str]:
    """Memory ends at the cap, if one was given: a process above it is refused memory or killed."""
    most = int(sys.argv[5])
    if not most:
        return True, "not tried"
    pid = os.fork()
    if pid == 0:
        try:
            held = bytearray(4 * most)
            held[::4096] = bytes(range(1, 2)) * len(held[::4096])
        except MemoryError:
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    how = {0: "GIVEN", 1: "refused", -9: "the process was killed"}.get(status, f"status {status}")
    return status in {1, -9}, f"{4 * most >> 20} MiB against {most >> 20} MiB: {how}"


CHECKS: tuple[tuple[str, Callable[[], tuple[bool, str]]], ...] = (
    ("no capabilities", capabilities),
    ("no new privileges", privileges),
    ("system call filter", filtered),
    ("not root", user),
    ("secrets unreadable", secrets),
    ("network unreachable", network),
    ("host hidden", hidden),
    ("alone in its process table", process_table),
    ("nothing writable", read_only),
    ("scratch space ends", scratch),
    ("forks stop at the cap", processes),
    ("memory stops at the cap", memory),
)


def main() -> None:
    """Run all checks and print the results."""
    report = {}
    for name, check in CHECKS:
        try:
            report[name] = check()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is what was seen
            report[name] = (False, f"{type(error).__name__}: {error}")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
