"""The system call filter, as it is compiled: looked at by interpreting it, on every architecture's own numbers."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandboxes import missing, need

from referee.isolation import seccomp

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0


def judged(call: int, *arguments: int, arch: int | None = None, is_build: bool = False) -> int:
    """What the filter says of a system call: the kernel's own little machine (classic BPF), in Python."""
    import pyseccomp

    data = struct.pack("<iIQ6Q", call, pyseccomp.system_arch() if arch is None else arch, 0, *(arguments + (0,) * 6)[:6])
    program = seccomp.program(is_build=is_build)
    code = [struct.unpack("<HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    accumulator = at = 0
    while True:
        op, if_true, if_false, value = code[at]
        at += 1
        if op == 0x20:  # load
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif op == 0x54:  # and
            accumulator &= value
        elif op == 0x05:  # jump
            at += value
        elif op in (0x15, 0x35, 0x25, 0x45):
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x25: accumulator > value, 0x45: bool(accumulator & value)}[op]
            at += if_true if holds else if_false
        elif op == 0x06:  # return
            return int(value)
        else:
            raise AssertionError(f"instruction {op:#x}")


def number(name: str) -> int:
    import pyseccomp

    return int(pyseccomp.resolve_syscall(pyseccomp.system_arch(), name))


@pytest.fixture(autouse=True)
def _library() -> None:
    need(not missing(), missing())


@pytest.mark.parametrize(
    "name",
    [
        "ptrace",
        "mount",
        "unshare",
        "setns",
        "bpf",
        "keyctl",
        "io_uring_setup",
        "sched_setaffinity",
        "sched_setscheduler",
        "sched_setparam",
        "sched_setattr",
        "setpriority",
        "ioprio_set",
        "flock",
        "mknodat",
        "inotify_init1",
        "inotify_add_watch",
        "fanotify_init",
        "timerfd_create",
        "signalfd4",
        "process_madvise",
        "sync",
        "syncfs",
        "swapon",
        "swapoff",
        "syslog",
        "quotactl",
        "name_to_handle_at",
    ],
)
def test_a_denied_call_fails_with_eperm(name: str) -> None:
    assert judged(number(name)) == _ERRNO | errno.EPERM


@pytest.mark.parametrize(
    "name",
    [
        *("clone3", "memfd_create", "membarrier", "move_pages", "migrate_pages", "mbind", "set_mempolicy"),
        *("io_setup", "sysinfo", "statfs", "fstatfs", "pidfd_open"),
    ],
)
def test_unknown_to_the_kernel(name: str) -> None:
    assert judged(number(name)) == _ERRNO | errno.ENOSYS


@pytest.mark.parametrize(
    ("name", "place", "advice", "error"),
    [
        ("madvise", 2, 12, errno.EINVAL),
        ("madvise", 2, 25, errno.EINVAL),
        ("fadvise64", 3, 4, errno.EPERM),
    ],
)
def test_advice_that_gives_work_to_every_core_is_refused(name: str, place: int, advice: int, error: int) -> None:
    arguments = [0] * 6
    for bits in (advice, advice | 1 << 32):
        arguments[place] = bits
        assert judged(number(name), *arguments) == _ERRNO | error
    arguments[place] = 0
    assert judged(number(name), *arguments) == _ALLOW


@pytest.mark.parametrize("advice", [3, 4, 8, 14, 15])
def test_advice_about_own_memory_is_allowed(advice: int) -> None:
    assert judged(number("madvise"), 0, 0, advice) == _ALLOW


@pytest.mark.parametrize("name", ["fsync", "fdatasync", "sync_file_range"])
def test_what_would_reach_the_disk_of_the_machine_succeeds_without_effect(name: str) -> None:
    assert judged(number(name)) == _ERRNO


def test_a_lock_has_no_effect_in_a_build_and_is_denied_to_a_bot() -> None:
    """Cargo and Go build nothing without locks, and two bots could signal each other by them."""
    assert judged(number("flock"), is_build=True) == _ERRNO
    assert judged(number("flock")) == _ERRNO | errno.EPERM
    assert judged(number("unshare"), is_build=True) == _ERRNO | errno.EPERM


@pytest.mark.parametrize(
    ("name", "place", "value", "error"),
    [("mmap", 3, 0x40022, errno.ENOMEM), *(("prctl", 0, option, errno.EINVAL) for option in (53, 62, 67))],
)
def test_what_all_programs_share_can_not_be_taken(name: str, place: int, value: int, error: int) -> None:
    arguments = [0] * 6
    for bits in (value, value | 1 << 32):
        arguments[place] = bits
        assert judged(number(name), *arguments) == _ERRNO | error
    arguments[place] = value & 0x22 if name == "mmap" else 15
    assert judged(number(name), *arguments) == _ALLOW


@pytest.mark.parametrize("name", ["mlock", "mlock2", "munlock"])
def test_calls_that_runtimes_need_are_allowed(name: str) -> None:
    assert judged(number(name)) == _ALLOW


@pytest.mark.parametrize(
    "name", ["read", "write", "openat", "execve", "exit_group", "futex", "mmap", "sched_getaffinity", "kill", "socketpair"]
)
def test_allowed(name: str) -> None:
    assert judged(number(name)) == _ALLOW


@given(st.integers(0, 2**64 - 1))
def test_every_family_of_sockets_but_three_whatever_the_upper_bits(family: int) -> None:
    # The kernel looks at the lower 32 bits alone.
    wanted = _ALLOW if family & 0xFFFFFFFF in (1, 2, 10) else _ERRNO | errno.EPERM
    assert judged(number("socket"), family) == wanted


@pytest.mark.parametrize("upper", [0, 1 << 32, 0xFFFFFFFF << 32])
def test_the_families_there_are(upper: int) -> None:
    assert [family for family in range(64) if judged(number("socket"), family | upper) == _ALLOW] == [1, 2, 10]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1 << 32, 0xFFFFFFFF << 32]))
def test_clone_makes_no_namespace_and_no_descriptor_whatever_the_other_flags(flags: int, upper: int) -> None:
    new = 0x7E021000
    wanted = _ERRNO | errno.EPERM if flags & new else _ALLOW
    assert judged(number("clone"), flags | upper) == wanted


@pytest.mark.parametrize("upper", [0, 1 << 32])
def test_arguments_are_compared_as_the_kernel_takes_them(upper: int) -> None:
    assert judged(number("ioctl"), 0, upper | 0x5412) == _ERRNO | errno.EPERM
    assert judged(number("ioctl"), 0, upper | 0x5413) == _ALLOW
    assert judged(number("fcntl"), 0, upper | 6) == _ERRNO | errno.EPERM
    assert judged(number("fcntl"), 0, upper | 3) == _ALLOW


@pytest.mark.parametrize("upper", [0, 1 << 32])
@pytest.mark.parametrize(
    ("name", "level", "option", "error"),
    [*(("getsockopt", 1, option, errno.ENOPROTOOPT) for option in (57, 71, 77)), ("setsockopt", 1, 76, errno.EPERM)],
)
def test_options_of_sockets_that_show_numbers_of_the_machine(name: str, level: int, option: int, error: int, upper: int) -> None:
    assert judged(number(name), 3, upper | level, upper | option) == _ERRNO | error
    # SO_ERROR and SO_PASSCRED.
    assert judged(number(name), 3, level, {"getsockopt": 4, "setsockopt": 16}[name]) == _ALLOW


def test_a_status_with_the_number_of_the_mount_is_refused() -> None:
    for mask in (0x4000, 0x4FFF, 0x4000 | 1 << 32):
        assert judged(number("statx"), 0, 0, 0, mask) == _ERRNO | errno.EINVAL
    assert judged(number("statx"), 0, 0, 0, 0x3FFF) == _ALLOW


@pytest.mark.parametrize("request_number", [0x8008B70D, 0x8008B705, 0xB701, 0x8004B706])
def test_nothing_is_told_of_namespaces(request_number: int) -> None:
    assert judged(number("ioctl"), 3, request_number) == _ERRNO | errno.ENOTTY


def test_other_architectures_end_the_program() -> None:
    assert judged(4, arch=0x40000003) in (_KILL, 0x80000000)
    assert judged(number("read") | 0x40000000) in (_KILL, 0x80000000)


def test_reading_without_waiting_tells_nothing() -> None:
    call = number("preadv2")
    assert judged(call, 3, 0, 1, 0, 0, 8) == judged(call, 3, 0, 1, 0, 0, 9) == _ERRNO | errno.EOPNOTSUPP
    assert judged(call, 3, 0, 1, 0, 0, 1) == _ALLOW


def test_tcp_over_several_paths_is_unknown() -> None:
    call = number("socket")
    assert judged(call, 2, 1, 262) == judged(call, 10, 1, 262) == judged(call, 2, 1, 262 + (1 << 32)) == _ERRNO | errno.EPROTONOSUPPORT
    assert judged(call, 2, 1, 6) == _ALLOW


@pytest.mark.parametrize("call", [450, 451, 457, 458])
def test_calls_that_are_newer_than_the_library(call: int) -> None:
    assert judged(call) == _ERRNO | errno.ENOSYS
