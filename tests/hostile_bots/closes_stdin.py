import os
import time

from _wire import answer, next_turn, ready

ready()
turn = next_turn()
os.close(0)
answer(turn)
while True:
    time.sleep(60)
