"""A bot that moves the counters of the machine by many forks, files and bytes, and looks for a file of /proc or a call that shows it.

A bot in another match could read every counter that changes here.
"""

import ctypes
import os
import sys

from _tries import attempt, libc, must_fail, signal, tell
from _wire import play_well, ready


def read(path):
    """The beginning of a file, None if it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(fd, 1 << 18)
    except OSError:
        return None
    finally:
        os.close(fd)


def seen():
    """All files of /proc but those of processes, and those of the network."""
    found = {}
    for top in ("/proc", "/proc/self/net"):
        for folder, folders, names in os.walk(top):
            if folder == "/proc":
                folders[:] = [name for name in folders if not name.isdigit()]
            for name in names:
                found[os.path.join(folder, name)] = read(os.path.join(folder, name))
    return found


ready()
before = seen()
signal()
# The other bot may signal, too.
play_well(3)
after = seen()
for path in sorted(after):
    tell(before.get(path) != after[path], f"{path} shows it")
print("looked at", len(after), file=sys.stderr)
for name in ("stat", "meminfo", "cpuinfo", "loadavg", "uptime"):
    tell(not after.get(f"/proc/{name}"), f"/proc/{name} is missing")
for name in ("vmstat", "diskstats", "interrupts", "softirqs", "schedstat", "zoneinfo", "slabinfo"):
    tell(bool(after.get(f"/proc/{name}")), f"/proc/{name} can be read")
for name in ("fs/file-nr", "fs/dentry-state", "fs/inode-nr", "kernel/ns_last_pid", "kernel/random/entropy_avail"):
    tell(read(f"/proc/sys/{name}") is not None, f"/proc/sys/{name} can be read")
room = ctypes.create_string_buffer(4096)
attempt("sysinfo", lambda: must_fail("sysinfo", room))
attempt("statfs", lambda: must_fail("statfs", b"/usr", room))
attempt("fstatfs", lambda: must_fail("fstatfs", os.open("/usr", os.O_RDONLY), room))
attempt("the kernel's log", lambda: must_fail("klogctl", 10, None, 0))
tell(libc.sysconf(84) <= 0, "the number of processors is unknown")
play_well(100)
