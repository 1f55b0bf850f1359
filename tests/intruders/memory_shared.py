import mmap
import time

from _wire import next_turn, ready

ready()
next_turn()
held = mmap.mmap(-1, 1 << 30)
for at in range(0, 1 << 30, 4096):
    held[at] = 1
time.sleep(600)
