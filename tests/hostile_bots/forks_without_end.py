import os
import time

from _wire import answer, ready, turns

ready()
for message in turns():
    if message["turn"] < 60:
        if os.fork() == 0:
            os.setsid()
            while True:
                if os.fork():
                    os._exit(0)
                time.sleep(0.0005)
    answer(message["turn"])
