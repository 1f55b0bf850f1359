import os
import sys
from pathlib import Path

from _tries import attempt, tell
from _wire import play_well, ready

ready()
for path in ("/etc/passwd", "/etc/shadow", "@SECRET@", "@OPPONENT@", "@REPLAY@", "/proc/1/environ", "/proc/1/cmdline", "/proc/kcore"):
    attempt(f"read {path}", lambda path=path: Path(path).read_bytes())
for path in ("@FOLDER@", "/proc/1/fd", "/proc/1/root"):
    attempt(f"list {path}", lambda path=path: os.listdir(path) or Path("/nowhere").read_bytes())
for path in ("/root", "/home", "/var", "/srv", "/etc", "/tmp"):
    # The way to the interpreter is there, and nothing beside it.
    ways = (
        sys.prefix,
        sys.base_prefix,
        "@PACKAGES@",
        "/etc/ld.so",
        "/etc/alternatives",
        "/etc/java",
        "/etc/localtime",
        "/etc/ssl",
        "/etc/hosts",
    )
    names = os.listdir(path) if os.path.isdir(path) else []
    tell(
        [name for name in names if not any(way.startswith(f"{path}/{name}") or f"{path}/{name}".startswith(way) for way in ways)],
        f"{path}: {names}",
    )
tell("REFEREE_TEST_SECRET" in os.environ, "the referee's environment")
tell(len(os.listdir("/proc/self/fd")) > 4, f"descriptors {os.listdir('/proc/self/fd')}")
pids = [name for name in os.listdir("/proc") if name.isdigit()]
tell(len(pids) > 2, f"processes {pids}")
for name in ("mountinfo", "mounts", "mountstats", "smaps", "smaps_rollup", "pagemap"):
    for process in ("self", "thread-self", f"{os.getpid()}/task/{os.getpid()}"):
        attempt(f"read {name} of {process}", lambda path=f"/proc/{process}/{name}": open(path, "rb").read(8))
child = os.fork()
if not child:
    for name in ("mountinfo", "smaps", "maps"):
        attempt(f"read {name} of a child", lambda path=f"/proc/self/{name}": open(path, "rb").read(8))
    os._exit(0)
os.waitpid(child, 0)
play_well(100)
