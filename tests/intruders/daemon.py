import os
import time

from _wire import play_well, ready

ready()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        while True:
            time.sleep(1)
    os._exit(0)
os.wait()
play_well(100)
