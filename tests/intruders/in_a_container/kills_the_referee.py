import ctypes
import os
import signal

from _tries import attempt, call, libc
from _wire import play_well, ready

ready()
# Its own user: whoever it can signal.
me = os.getpid()
for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
    if pid == me:
        continue
    for number in (signal.SIGKILL, signal.SIGSTOP):
        attempt(f"signal {pid}", lambda pid=pid, number=number: os.kill(pid, number) or "done")
    # Group 1 means whoever it can signal besides itself, which is nobody.
    if pid > 1:
        attempt(f"signal group {pid}", lambda pid=pid: os.killpg(pid, signal.SIGKILL) or "done")
    attempt(f"renice {pid}", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19) or "done")
    attempt(f"move {pid}", lambda pid=pid: os.sched_setaffinity(pid, {0}) or "done")
    attempt(f"trace {pid}", lambda pid=pid: int("refused") if libc.ptrace(16, pid, 0, 0) else "done")
for name, become in (("root", lambda: os.setuid(0)), ("root's group", lambda: os.setgid(0)), ("groups", lambda: os.setgroups([0]))):
    attempt(name, lambda become=become: become() or "done")
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000):
    attempt(f"unshare {flag:#x}", lambda flag=flag: int("refused") if libc.unshare(ctypes.c_int(flag)) else "done")
if "@ARCH@" == "x86_64":
    call("mount", 165, 0, 0, 0, 0, 0)
attempt("/proc/sysrq-trigger", lambda: open("/proc/sysrq-trigger", "w").write("x"))
play_well(100)
