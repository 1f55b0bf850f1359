import os
import time

from _tries import tell
from _wire import play_well, ready

ready()
begun = []
try:
    for _ in range(200):
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
            os._exit(0)
        begun.append(pid)
except OSError:
    pass
tell(len(begun) > 64, f"{len(begun)} processes")
play_well(100)
