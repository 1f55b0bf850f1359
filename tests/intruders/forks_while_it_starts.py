import os
import sys
import time

from _wire import play_well, ready

stop = "/tmp/stop"
for _ in range(10):
    if os.fork() == 0:
        while not os.path.exists(stop):
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                time.sleep(0.001)
        print("on", *sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)
        os._exit(0)
time.sleep(0.05)
ready()
play_well(3)
open(stop, "w").close()
time.sleep(0.3)
play_well(100)
