import glob
import os
import sys
from pathlib import Path

from _tries import attempt, tell
from _wire import play_well, ready

ready()
for path in ("@SECRET@", "@OPPONENT@", "@REPLAY@", "/etc/shadow"):
    attempt(f"read {path}", lambda path=path: Path(path).read_bytes())
attempt("list the folder", lambda: os.listdir("@FOLDER@"))
own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
others = [folder for folder in glob.glob(os.path.join(os.path.dirname(own), "referee-*")) if folder != own]
for folder in others:
    attempt(f"list {folder}", lambda folder=folder: os.listdir(folder))
    attempt(f"list {folder}/bot", lambda folder=folder: os.listdir(f"{folder}/bot"))
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if os.stat(f"/proc/{pid}").st_uid == os.getuid():
            continue
    except OSError:
        continue
    for name in ("environ", "mem", "maps", "auxv"):
        attempt(f"read {name} of {pid}", lambda pid=pid, name=name: open(f"/proc/{pid}/{name}", "rb").read(8) or int("nothing there"))
    for name in ("cwd", "exe", "root", "fd/0"):
        attempt(f"follow {name} of {pid}", lambda pid=pid, name=name: os.readlink(f"/proc/{pid}/{name}"))
    attempt(f"list descriptors of {pid}", lambda pid=pid: os.listdir(f"/proc/{pid}/fd"))
tell("REFEREE_TEST_SECRET" in os.environ, "the referee's environment")
tell(len(os.listdir("/proc/self/fd")) > 4, f"descriptors {os.listdir('/proc/self/fd')}")
print("done", file=sys.stderr)
play_well(100)
