import os
import time

from _wire import next_turn, play_well, ready

ready()
play_well(2)
next_turn()
if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(60)
os._exit(3)
