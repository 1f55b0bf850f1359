"""A bot that looks for numbers which the kernel counts for the whole machine: another match moves them, and they stay for the next one."""

import ctypes
import fcntl
import os
import platform
import socket
import struct

from _tries import attempt, libc, must_fail, tell
from _wire import play_well, ready

CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
PIDFD, SIGCHLD = 0x1000, 17
#: Options of sockets, <asm-generic/socket.h>.
COOKIE, NETS_COOKIE, PASS_PIDFD, PEER_PIDFD = 57, 71, 76, 77


def number(fd):
    """The number behind a descriptor."""
    try:
        return os.fstat(fd).st_ino
    finally:
        os.close(fd)


def child():
    """The number of a child process, from the call that makes it."""
    fd = ctypes.c_int(-1)
    found = must_fail("syscall", CLONE[platform.machine()], PIDFD | SIGCHLD, None, ctypes.byref(fd), None, None)
    if not found:
        os._exit(0)
    os.waitpid(found, 0)
    return number(fd.value)


def option(which, size=8):
    """An option of a connected socket."""
    with socket.socketpair()[0] as one:
        return one.getsockopt(socket.SOL_SOCKET, which, size)


def passed():
    """The number of the process that has sent a message."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with a, b:
        a.setsockopt(socket.SOL_SOCKET, PASS_PIDFD, 1)
        b.send(b"x")
        return number(struct.unpack("i", a.recvmsg(10, 100)[1][0][2][:4])[0])


def of_namespace(name, request):
    """What the kernel tells of a namespace."""
    fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
    try:
        return fcntl.ioctl(fd, request, bytes(8))
    finally:
        os.close(fd)


ready()
room = ctypes.create_string_buffer(512)
attempt("the number of a process", lambda: number(must_fail("syscall", 434, os.getpid(), 0)))
attempt("that of a new process", child)
attempt("that of the process at the other end", lambda: number(struct.unpack("i", option(PEER_PIDFD, 4))[0]))
attempt("that of a process that sends", passed)
attempt("the number of a socket", lambda: option(COOKIE))
attempt("that of a network", lambda: option(NETS_COOKIE))
# NS_GET_ID and NS_GET_MNTNS_ID, <linux/nsfs.h>.
for name, request in (("net", 0x8008B70D), ("pid", 0x8008B70D), ("mnt", 0x8008B705)):
    attempt(f"that of the namespace {name}", lambda name=name, request=request: of_namespace(name, request))
attempt("that of a mount", lambda: must_fail("statx", -100, b"/tmp", 0, 0x4000, room))
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 160)
attempt("that of a mount, by a handle", lambda: must_fail("name_to_handle_at", -100, b"/tmp", handle, room, 0))
tell(must_fail("statx", -100, b"/tmp", 0, 0xFFF, room) != 0, "statx fails without it")
play_well(100)
