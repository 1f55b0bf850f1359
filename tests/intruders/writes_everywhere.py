import os
from pathlib import Path

from _tries import attempt, tell
from _wire import play_well, ready

ready()
for folder in (
    "/",
    "/bot",
    "/dev",
    "/proc",
    "/proc/1",
    "/usr",
    "/usr/bin",
    "/etc",
    "/var",
    "/run",
    "/sys",
    "/lib",
    os.path.dirname(os.__file__),
):
    attempt(f"write to {folder}", lambda folder=folder: Path(folder, "planted").write_text("x"))
attempt("change its own source", lambda: Path(__file__).write_text("x"))
attempt("remove its own source", lambda: os.unlink(__file__))
attempt("make its own source writable", lambda: os.chmod(__file__, 0o777))
for name in ("kernel/hostname", "kernel/core_pattern", "vm/overcommit_memory"):
    attempt(f"write sysctl {name}", lambda name=name: Path("/proc/sys", name).write_text("1"))
attempt("write to pid 1", lambda: open("/proc/1/mem", "r+b"))
attempt("make a device", lambda: os.mknod("/tmp/device", 0o20666, os.makedev(1, 1)))
attempt("make a FIFO", lambda: os.mkfifo("/tmp/fifo"))
for folder in ("/tmp", "/dev/shm"):
    Path(folder, "allowed").write_text("x")
tell(False, "scratch space can be written")
play_well(100)
