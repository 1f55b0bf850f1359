"""Leaves folders that are nested deeper than a path can be long, and closes them."""

import os
import sys

from _wire import play_well, ready

ready()
top = os.environ["TMPDIR"]
os.chdir(top)
for _ in range(3000):
    os.mkdir("a")
    open("file", "w").close()
    os.chdir("a")
os.chmod(top, 0)
print("done", file=sys.stderr, flush=True)
play_well(100)
