import os
import time

from _wire import answer, ready, turns

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(60)
    os._exit(0)
ready()
for message in turns():
    answer(message["turn"])
