"""Ways to tell another bot something over a file that both can read, and to see what others do."""

import contextlib
import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys

from _tries import attempt, libc, must_fail, tell
from _wire import play_well, ready

SHARED = os.__file__
IN_OPEN, IN_ACCESS = 0x20, 0x1
RWF_NOWAIT = 8

ready()
attempt("inotify", lambda: must_fail("inotify_add_watch", must_fail("inotify_init1", 0), SHARED.encode(), IN_OPEN | IN_ACCESS))
attempt("inotify without flags", lambda: must_fail("inotify_init"))
attempt("fanotify", lambda: must_fail("fanotify_init", 0, 0))
for request in (1026,):
    for path in ("/usr", os.path.dirname(SHARED)):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        attempt(f"F_NOTIFY on {path}", lambda folder=folder: fcntl.fcntl(folder, request, 1) or "watched")
file = os.open(SHARED, os.O_RDONLY)
attempt("preadv2 with RWF_NOWAIT", lambda: os.preadv(file, [bytearray(10)], 0, RWF_NOWAIT))
attempt("preadv2 with RWF_NOWAIT and RWF_HIPRI", lambda: os.preadv(file, [bytearray(10)], 0, RWF_NOWAIT | 1))
tell(os.preadv(file, [bytearray(10)], 0) != 10, "preadv2 without flags fails")
for request in (1036, 1038):
    attempt(f"a hint for a file, {request}", lambda request=request: fcntl.fcntl(file, request, struct.pack("Q", 4)))
for request in (0x6612, 0x80086601, 0x80087601):
    attempt(f"what the kernel knows of a file, {request:#x}", lambda request=request: fcntl.ioctl(file, request, b"\0" * 8))
for name in ("null", "zero", "full", "random", "urandom", "tty"):
    device = f"/dev/{name}"
    before = os.stat(device).st_mtime_ns
    with contextlib.suppress(OSError):
        os.utime(device)
    tell(os.stat(device).st_mtime_ns != before, f"the time of {device} can be set")
with open("/dev/null", "w") as null:
    tell(null.write("x") != 1, "nothing can be written to /dev/null")
for family in (socket.AF_INET, socket.AF_INET6):
    attempt(f"MPTCP {family}", lambda family=family: socket.socket(family, socket.SOCK_STREAM, 262))
for number in (451, 457, 458, 467, 470):
    result = libc.syscall(ctypes.c_long(number), file, 0, 0, 0)
    tell(result != -1 or ctypes.get_errno() != errno.ENOSYS, f"system call {number}: errno {ctypes.get_errno()}")
for name in ("cmdline", "config.gz", "locks", "keys", "kallsyms", "diskstats", "interrupts", "timer_list", "swaps"):
    path = f"/proc/{name}"
    if os.path.exists(path):
        attempt(path, lambda path=path: open(path, "rb").read(100) or int("nothing there"))
if os.path.isdir("/proc/pressure"):
    attempt("/proc/pressure", lambda: os.listdir("/proc/pressure") or int("nothing there"))
print("done", file=sys.stderr)
play_well(100)
