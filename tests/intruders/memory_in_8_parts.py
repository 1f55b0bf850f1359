import os
import time

from _wire import next_turn, ready

ready()
next_turn()
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x" * (128 << 20))
        time.sleep(600)
time.sleep(600)
