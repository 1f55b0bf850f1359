"""System calls that give work to all cores of the machine, or change what all its programs share."""

import ctypes
import os

from _tries import attempt, libc, tell
from _wire import play_well, ready

DONTNEED = 4  # POSIX_FADV_DONTNEED
MERGEABLE, COLLAPSE = 12, 25


def watched(call, *arguments):
    """A call of the C library that must fail."""
    result = getattr(libc, call)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), call)
    return result


ready()
size = os.sysconf("SC_PAGE_SIZE")
libc.valloc.restype = ctypes.c_void_p
address = ctypes.c_void_p(libc.valloc(ctypes.c_size_t(size)))
pages, nodes, status = (ctypes.c_void_p * 1)(address), (ctypes.c_int * 1)(0), (ctypes.c_int * 1)(0)
numbers = {
    "x86_64": {"mbind": 237, "set_mempolicy": 238, "migrate_pages": 256, "move_pages": 279, "membarrier": 324},
    "aarch64": {"mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239, "membarrier": 283},
}[os.uname().machine]
arguments = {"move_pages": (0, ctypes.c_ulong(1), pages, nodes, status, 0)}
for name, number in {**numbers, "set_mempolicy_home_node": 450}.items():
    attempt(name, lambda name=name, number=number: watched("syscall", number, *arguments.get(name, (0,) * 6)))
attempt("sync of a file system", lambda: watched("syncfs", os.open("/tmp", os.O_RDONLY)))
for advice in (MERGEABLE, COLLAPSE):
    attempt(f"madvise {advice}", lambda advice=advice: watched("madvise", address, ctypes.c_size_t(size), advice))
with open(os.__file__, "rb") as shared:
    attempt("posix_fadvise", lambda: os.posix_fadvise(shared.fileno(), 0, 0, DONTNEED))
tell(libc.mlock(address, ctypes.c_size_t(size)) != 0, "a page can't be locked")
tell(libc.madvise(address, ctypes.c_size_t(size), 3) != 0, "advice about own memory is refused")
play_well(100)
