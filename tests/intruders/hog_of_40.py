import os

from _wire import play_well, ready

ready()
for _ in range(40):
    if os.fork() == 0:
        while True:
            pass
play_well(1000)
