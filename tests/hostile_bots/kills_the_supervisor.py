import os
import signal
import time

from _wire import next_turn, ready

ready()
next_turn()
os.kill(os.getppid(), signal.SIGKILL)
while True:
    time.sleep(60)
