import os

from _wire import answer, next_turn, ready, turns

ready()
try:
    back = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
except OSError:
    back = -1
turn = next_turn()
for _ in range(3):
    if back >= 0 and os.fork() == 0:
        while True:
            try:
                os.write(1, b" ")
                os.read(back, 1)
            except OSError:
                pass
answer(turn)
for message in turns():
    answer(message["turn"])
