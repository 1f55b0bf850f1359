"""System calls that give work to all cores of the machine, or change what all its programs share."""

import ctypes
import fcntl
import os
import socket
import struct

from _tries import attempt, libc, must_fail, tell
from _wire import play_well, ready

NUMBERS = {
    "x86_64": {"mbind": 237, "set_mempolicy": 238, "migrate_pages": 256, "move_pages": 279, "membarrier": 324},
    "aarch64": {"mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239, "membarrier": 283},
}[os.uname().machine]
X86 = os.uname().machine == "x86_64"
DONTNEED = 4  # POSIX_FADV_DONTNEED
WILLNEED, MERGEABLE = 3, 12  # MADV_WILLNEED, MADV_MERGEABLE

libc.valloc.restype = ctypes.c_void_p
size = ctypes.c_size_t(os.sysconf("SC_PAGE_SIZE"))
page = ctypes.c_void_p(libc.valloc(size))
ctypes.memset(page, 1, size.value)
one, first_node, status = ctypes.c_ulong(1), (ctypes.c_int * 1)(0), (ctypes.c_int * 1)()
nodes = (ctypes.c_ulong * 1)(1)
bits = ctypes.c_ulong(64)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# Each call would succeed if the filter let it pass and the kernel has it.
arguments = {
    "mbind": (page, size, 0, None, 0, 0),
    "set_mempolicy": (0, None, 0),
    "migrate_pages": (0, bits, nodes, nodes),
    "move_pages": (0, one, (ctypes.c_void_p * 1)(page.value), first_node, status, 2),
    "membarrier": (0, 0, 0),
}

ready()
for name, number in NUMBERS.items():
    attempt(name, lambda name=name, number=number: must_fail("syscall", ctypes.c_long(number), *arguments[name]))
attempt("core scheduling", lambda: must_fail("prctl", 62, 1, 0, 1, 0))
attempt("merging of all equal pages", lambda: must_fail("prctl", 67, 1, 0, 0, 0))
for kind in (0, 1, 2):
    attempt(f"control of speculation {kind}", lambda kind=kind: must_fail("prctl", 53, kind, 4, 0, 0))
for name, number, arguments in (
    ("huge pages", 9 if X86 else 222, (None, ctypes.c_ulong(2 << 20), 3, 0x40022, -1, 0)),
    ("input and output of the machine", 206 if X86 else 0, (60_000, ctypes.byref(ctypes.c_ulong(0)))),
):
    attempt(name, lambda number=number, arguments=arguments: must_fail("syscall", ctypes.c_long(number), *arguments))
# A filter that lets everything pass, as the kernel reads it: it is compiled into memory that all programs share.
passing = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
filtering = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(passing)))
attempt("a filter of a socket", lambda: socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, 26, filtering.raw[:16]))
attempt("a filter of system calls", lambda: must_fail("prctl", 22, 2, filtering))
attempt("a filter of system calls by its own call", lambda: must_fail("syscall", ctypes.c_long(317 if X86 else 277), 1, 0, filtering))
for name, level, option, value in (("times of arrival", 1, 29, 1), ("times of arrival", 1, 37, 8), ("UDP in UDP", 17, 100, 2)):
    attempt(name, lambda level=level, option=option, value=value: datagrams.setsockopt(level, option, value))
attempt("the time of an arrival", lambda: fcntl.ioctl(datagrams, 0x8906, b"\0" * 16))
tell(socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 12), "other options fail")
attempt("a terminal", lambda: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
attempt("syncfs", lambda: must_fail("syncfs", os.open("/tmp", os.O_RDONLY)))
attempt("merging of equal pages", lambda: must_fail("madvise", page, size, MERGEABLE))
with open(os.__file__, "rb") as shared:
    attempt("posix_fadvise", lambda: os.posix_fadvise(shared.fileno(), 0, 0, DONTNEED))
tell(libc.mlock(page, size) != 0, "a page can't be locked")
tell(libc.madvise(page, size, WILLNEED) != 0, "advice about own memory is refused")
play_well(100)
