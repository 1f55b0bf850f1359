import os
import time

from _wire import play_well, ready

for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
        os._exit(0)
ready()
play_well(100)
