import time

from _wire import next_turn, ready

ready()
next_turn()
held = []
for _ in range(64):
    held.append(bytearray(b"x" * (16 << 20)))
time.sleep(600)
