import os
import signal

from _tries import attempt, call, libc, tell
from _wire import play_well, ready

ready()
for name in ("setuid", "setgid", "seteuid"):
    attempt(name, lambda name=name: getattr(os, name)(0))
attempt("setgroups", lambda: os.setgroups([0]))
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    tell(libc.unshare(flag) == 0, f"unshare {flag:#x}")
tell(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0, "mount")
tell(libc.umount2(b"/proc/1", 2) == 0, "umount /proc/1")
tell(libc.chroot(b"/tmp") == 0, "chroot")
tell(libc.ptrace(16, 1, None, None) == 0, "ptrace pid 1")
attempt("widen the processor set", lambda: os.sched_setaffinity(0, set(range(os.cpu_count()))))
attempt("give its priority away", lambda: os.nice(5))
attempt("give its policy away", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
attempt("real-time priority", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("negative niceness", lambda: os.nice(-5))
attempt("pid 1's memory", lambda: open("/proc/1/mem", "r+b"))
for pid in (int("@REFEREE@"), 2_000_000):
    attempt(f"signal {pid}", lambda pid=pid: os.kill(pid, signal.SIGKILL))
# The kernel lets nothing inside kill pid 1: where the call is allowed it does nothing.
for number in (signal.SIGKILL, signal.SIGSTOP):
    try:
        os.kill(1, number)
    except OSError:
        pass
if "@ARCH@" == "x86_64":
    for name, number, *arguments in (
        ("clone with CLONE_NEWUSER", 56, 0x10000000 | 17, 0, 0, 0, 0),
        ("clone with CLONE_NEWUSER and bit 32", 56, (1 << 32) | 0x10000000 | 17, 0, 0, 0, 0),
        ("clone3", 435, 0, 0),
        ("process_vm_writev", 311, 1, 0, 0, 0, 0, 0),
        ("pidfd_getfd", 438, 0, 0, 0),
        ("bpf", 321, 0, 0, 0),
        ("perf_event_open", 298, 0, 0, 0, 0, 0),
        ("userfaultfd", 323, 0),
        ("keyctl", 250, 0, 0),
        ("add_key", 248, 0, 0, 0, 0, 0),
        ("io_uring_setup", 425, 1, 0),
        ("memfd_create", 319, 0, 0),
        ("shmget", 29, 0, 4096, 0o1666),
        ("msgget", 68, 0, 0o1666),
        ("semget", 64, 0, 1, 0o1666),
        ("mq_open", 240, 0, 0o102, 0, 0),
        ("open_by_handle_at", 304, 0, 0, 0),
        ("setns", 308, 0, 0),
        ("flock", 73, 0, 2),
        ("TIOCSTI", 16, 0, 0x5412, 0),
        ("TIOCSTI with bit 32", 16, 0, (1 << 32) | 0x5412, 0),
        ("fcntl lock", 72, 0, 6, 0),
    ):
        call(name, number, *arguments)
play_well(100)
