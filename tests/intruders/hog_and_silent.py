import os
import time

from _wire import next_turn, ready

ready()
next_turn()
for _ in range(40):
    if os.fork() == 0:
        while True:
            pass
time.sleep(600)
