import os
import time

from _wire import next_turn, ready

ready()
next_turn()
while True:
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
