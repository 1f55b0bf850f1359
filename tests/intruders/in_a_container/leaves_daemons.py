"""Leaves processes in sessions of their own that would rewrite the results forever; says done when they are there."""

import ctypes
import os
import signal
import sys
import time

from _wire import play_well, ready

PR_SET_DUMPABLE = 4
ready()
here, there = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            # Its folder in /proc then belongs to root.
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            os.write(there, b"x")
            for fd in (0, 1, 2, here, there):
                os.close(fd)
            while True:
                try:
                    with open("@FOLDER@/results/results.json", "w") as file:
                        file.write("{}")
                except OSError:
                    time.sleep(0.01)
        os._exit(0)
    os.wait()
for _ in range(4):
    os.read(here, 1)
print("done", file=sys.stderr, flush=True)
play_well(100)
