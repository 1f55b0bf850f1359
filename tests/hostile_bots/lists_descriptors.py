import os

from _wire import answer, ready, turns

ready()
for message in turns():
    found = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
    answer(message["turn"], more=',"say":"%s"' % found[:-1])
