"""The system calls that a sandboxed bot is denied, compiled to a filter that bubblewrap loads.

Theory of operation. The filter lists denied calls, not allowed calls: each runtime needs different calls, and a gap in a list of allowed
calls breaks a student's program. The namespaces isolate the bot. The filter denies calls that could get around them or around the caps:
tracing and reading other processes, kernel interfaces with a history of security holes, new namespaces and mounts, memory and queues
outside the bot's own memory, devices, its processor set and priority, pushing characters into a terminal, and unusual socket families. It also
denies calls by which two bots could signal each other through a file of the shared runtime: locks, notifications of access, hints, and
calls that show whether the file is in memory (a bot can still measure that); and calls that show numbers which the kernel counts for the whole
machine since its start, such as that of a process behind its descriptor. It denies calls that act on the whole machine, because they interrupt the cores of other
matches or give them work, and calls that show its load.

The kernel uses 32 bits of an ``int`` argument, but a filter sees 64. So comparisons use a mask. Otherwise a program could set bit 32
to pass a check, and the kernel would ignore that bit. System calls of other architectures (32-bit, x32) end the program: the library's own
default.
"""

from __future__ import annotations

import errno
import io
import os
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Denied as if the kernel didn't have them, so that the C library uses an older call that can be checked (clone3 hides its flags
#: in memory; memfd_create makes memory that no scratch limit counts).
_UNKNOWN = (
    *("clone3", "memfd_create"),
    # These act on the whole machine. Programs check first whether the kernel has them, and can do without.
    *("membarrier", "move_pages", "migrate_pages", "mbind", "set_mempolicy"),
    # All programs of the machine share one number of requests for this kind of input and output.
    "io_setup",
    # These show what all programs of the machine do: its load, its memory, its threads, and the free space of its disks.
    *("sysinfo", "statfs", "fstatfs", "ustat"),
    # Compiled filters take from memory that all programs of the machine share; without it no other sandbox starts.
    "seccomp",
    # The status of such a descriptor shows the number of the process among all that the machine has started (Linux 6.9 and later).
    "pidfd_open",
)
#: The same for calls that some versions of the library don't know, by their numbers, which are equal on all architectures. They move
#: memory, and reveal which parts of a file are in memory, the mounts, and the namespaces.
_UNKNOWN_NUMBERS = {
    "set_mempolicy_home_node": 450,
    "cachestat": 451,
    "statmount": 457,
    "listmount": 458,
    "open_tree_attr": 467,
    "listns": 470,
}

_DENIED = (
    # Other processes: their memory, their descriptors, their secrets.
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp"),
    # Kernel interfaces that bots don't need.
    *("bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
    # The latter shows the number of a mount among all mounts since the machine's start.
    *("open_by_handle_at", "name_to_handle_at"),
    # Mounts and namespaces.
    *("mount", "umount2", "pivot_root", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "mount_setattr"),
    *("unshare", "setns"),
    # Memory and queues outside the bot's own.
    *("shmget", "shmat", "shmdt", "shmctl", "msgget", "semget", "mq_open"),
    # Devices, and FIFOs with them.
    *("mknod", "mknodat"),
    # The processor that it was given, and its priority: a task that gives its own away waits longer, and waits cost nothing by the fair clock.
    *("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set"),
    # Notifications of access to shared files: two bots could communicate by reading the same file of the runtime.
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
    # Timers and signals as descriptors: when one goes off, the kernel wakes everything that waits for the descriptor, in an interrupt. A
    # frozen bot could let thousands of descriptors wait, and the bot that is asked would pay for it.
    *("timerfd_create", "signalfd", "signalfd4"),
    # Files of the whole machine are written to its disks, or memory is moved there.
    *("sync", "syncfs", "swapon", "swapoff"),
    # The kernel's log, and the space that users have on the machine's disks.
    *("syslog", "quotactl", "quotactl_fd"),
)

#: Answered with success, but without effect. The files that a bot can write are in memory. For a file of the system that it has opened for
#: reading, the kernel would make the machine's disk write its cache. Everybody may set the times of /dev/null to now, and a sandbox shows the
#: machine's own devices: a bot read there when another one had done that. Builds and archives set times, so an error would stop them.
_WITHOUT_EFFECT = ("fsync", "fdatasync", "sync_file_range", "sync_file_range2", "utime", "utimes", "futimesat", "utimensat")

#: Locks on files that others use, too. Cargo and Go lock the files of a project and don't build without it: there it succeeds, without effect.
_LOCK = "flock"

#: CLONE_PIDFD, and CLONE_NEW*, <linux/sched.h>.
_CLONE_FLAGS = (0x00001000, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # <asm-generic/ioctls.h>
_LOCKS = (6, 7, 37, 38, 1024, 1026)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY, <fcntl.h>
_HINTS = (1036, 1038)  # F_SET_RW_HINT, F_SET_FILE_RW_HINT, <linux/fcntl.h>: older kernels let everybody set them for any file
#: The kinds of ioctl that change or show what the kernel has in memory of a file of the system, <linux/fs.h>, <linux/ext4.h>; and those that
#: show the number of a namespace among all of the machine, <linux/nsfs.h>.
_OF_FILES = (*(ord(letter) << 8 for letter in "fvX"), 0xB7 << 8)
#: SIOCGSTAMP and SIOCGSTAMPNS, <linux/sockios.h>: the first socket that wants times of arrival changes the kernel's code on all cores.
_TIMES = (0x8906, 0x8907)
#: The same for options of sockets, as level and number; UDP has only such options and two that nobody needs. The filters that can be attached
#: to a socket are compiled into the memory of "seccomp".
_SOCKET_OPTIONS = (
    *((1, option) for option in (26, 50, 51, 52)),  # SO_ATTACH_FILTER, _BPF, _REUSEPORT_CBPF, _REUSEPORT_EBPF, <asm-generic/socket.h>
    *((1, option) for option in (29, 35, 37, 63, 64, 65)),  # SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING, in two forms each
    *((6, option) for option in (14, 31, 32, 38)),  # TCP_MD5SIG, TCP_ULP, TCP_MD5SIG_EXT, TCP_AO_ADD_KEY, <linux/tcp.h>
    *((41, option) for option in (32,)),  # IPV6_FLOWLABEL_MGR, <linux/in6.h>
    (1, 76),  # SO_PASSPIDFD: as "pidfd_open"
)
#: SO_COOKIE, SO_NETNS_COOKIE and SO_PEERPIDFD: the numbers of a socket, of its network and of a process among all of the machine.
_SHOWN_OPTIONS = (57, 71, 77)
_UNIQUE_MOUNT = 0x4000  # STATX_MNT_ID_UNIQUE, <linux/stat.h>: as "name_to_handle_at"
_RWF_NOWAIT = 8  # <linux/fs.h>; whether a part of a shared file is in memory tells whether others have read it
#: Advice for which the kernel gives work to every core, or compares the memory of all processes: MADV_MERGEABLE, MADV_COLLAPSE,
#: <linux/mman.h>. So does POSIX_FADV_DONTNEED, <linux/fadvise.h>, which also takes shared files out of memory.
_MEMORY_ADVICE = (12, 25)
_FILE_ADVICE = 4
_HUGE_PAGES = 0x40000  # MAP_HUGETLB, <linux/mman.h>: no limit counts these pages, and all programs share them
#: Options of prctl that act on more than the bot, <linux/prctl.h>: PR_SET_SECCOMP, as above; PR_SET_SPECULATION_CTRL empties the caches and
#: predictions of a core that others use, too; PR_SCHED_CORE keeps others from the other half of a core; PR_SET_MEMORY_MERGE is MADV_MERGEABLE
#: for all memory, and programs that are started later inherit it.
_PROCESS_OPTIONS = (22, 53, 62, 67)
_MPTCP = 262  # IPPROTO_MPTCP, <linux/in.h>
_UNIX, _NETWORK = frozenset({1}), frozenset({2, 10})  # AF_UNIX; AF_INET, AF_INET6
_INT = 0xFFFF_FFFF
#: The rules for options and requests by which a bot changes what the kernel keeps for all programs.
_KERNEL_RULES = (
    *((errno.EINVAL, "prctl", ((0, _INT, option),)) for option in _PROCESS_OPTIONS),
    *((errno.ENOTTY, "ioctl", ((1, 0xFF00, kind),)) for kind in _OF_FILES),
    *((errno.EPERM, "ioctl", ((1, 0xFFFF, request),)) for request in _TIMES),
    *((errno.EPERM, "setsockopt", ((1, _INT, level), (2, _INT, option))) for level, option in _SOCKET_OPTIONS),
    *((errno.EPERM, "setsockopt", ((1, _INT, level),)) for level in (17, 136)),  # SOL_UDP, SOL_UDPLITE
    *((errno.ENOPROTOOPT, "getsockopt", ((1, _INT, 1), (2, _INT, option))) for option in _SHOWN_OPTIONS),
    (errno.EINVAL, "statx", ((3, _UNIQUE_MOUNT, _UNIQUE_MOUNT),)),
)


def _rules(families: frozenset[int], *, is_build: bool) -> Iterator[tuple[int, str, tuple[tuple[int, int, int], ...]]]:
    """Yield each rule: the error, the call, and the (argument, mask, value) comparisons that must all hold.

    ``families`` are the families of sockets that are allowed. ``is_build``: the filter is that of a build, not of a bot.
    """
    yield from _KERNEL_RULES
    yield 0 if is_build else errno.EPERM, _LOCK, ()
    for name in _UNKNOWN:
        yield errno.ENOSYS, name, ()
    for name in _DENIED:
        yield errno.EPERM, name, ()
    for name in _WITHOUT_EFFECT:
        yield 0, name, ()
    for flag in _CLONE_FLAGS:
        yield errno.EPERM, "clone", ((0, flag, flag),)
    for request in (_TIOCSTI, _TIOCLINUX):
        yield errno.EPERM, "ioctl", ((1, _INT, request),)
    for request in _LOCKS + _HINTS:
        yield errno.EPERM, "fcntl", ((1, _INT, request),)
    for advice in _MEMORY_ADVICE:
        yield errno.EINVAL, "madvise", ((2, _INT, advice),)
    yield errno.EPERM, "fadvise64", ((3, _INT, _FILE_ADVICE),)
    yield errno.ENOMEM, "mmap", ((3, _HUGE_PAGES, _HUGE_PAGES),)
    yield errno.EOPNOTSUPP, "preadv2", ((5, _RWF_NOWAIT, _RWF_NOWAIT),)
    yield errno.EPROTONOSUPPORT, "socket", ((2, _INT, _MPTCP),)
    # Every family of 16 and more has one of the upper bits set; below that they are named one by one.
    for bit in range(4, 32):
        yield errno.EPERM, "socket", ((0, 1 << bit, 1 << bit),)
    for family in set(range(16)) - families:
        yield errno.EPERM, "socket", ((0, _INT, family),)


@cache
def program(*, has_network: bool = True, is_build: bool = False) -> bytes:
    """Return the filter in the kernel's form; without a network it allows only Unix sockets. ``is_build`` as for ``_rules``.

    OSError or ImportError if the library (libseccomp2) or its binding is missing.
    """
    try:
        import pyseccomp as seccomp
    except (RuntimeError, AttributeError) as missing:
        # Some versions raise these where the library is missing.
        raise OSError(str(missing)) from None
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for error, name, comparisons in _rules(_UNIX | _NETWORK if has_network else _UNIX, is_build=is_build):
        arguments = [seccomp.Arg(number, seccomp.MASKED_EQ, mask, value) for number, mask, value in comparisons]
        try:
            rules.add_rule(seccomp.ERRNO(error), name, *arguments)
        except (OSError, ValueError):
            if _is_known(seccomp, name):
                raise
            # This architecture, or this version of the library, doesn't have the call. No list can contain calls that the library
            # doesn't know yet.
    for number in _UNKNOWN_NUMBERS.values():
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    return _exported(rules)


def number(name: str) -> int:
    """Return the number of a system call on this machine. OSError or ImportError as for ``program``; ValueError for an unknown call."""
    import pyseccomp as seccomp

    return int(seccomp.resolve_syscall(seccomp.system_arch(), name))


def _is_known(seccomp: Any, name: str) -> bool:
    try:
        return bool(seccomp.resolve_syscall(seccomp.system_arch(), name) >= 0)
    except (OSError, ValueError):
        return False


def _exported(rules: Any) -> bytes:
    read, write = os.pipe()
    try:
        # A filter has at most 4,096 instructions of eight bytes: it fits into a pipe.
        rules.export_bpf(io.FileIO(write, "wb", closefd=False))
        return os.read(read, 1 << 16)
    finally:
        os.close(read)
        os.close(write)
