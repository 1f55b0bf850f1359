"""Lets children work inside the kernel, where no freezer reaches them, while the other one is asked."""

import mmap
import os
import signal
import time

from _wire import answer, ready, turns

BYTES = 400 << 20
CHILDREN = 8

ready()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
shared = mmap.mmap(-1, BYTES)
shared[::4096] = bytes(BYTES // 4096)

for message in turns():
    told, tell = os.pipe()
    done, say = os.pipe()
    for _ in range(CHILDREN):
        if os.fork() == 0:
            os.close(tell)
            # Page tables of its own, which take a while to give back.
            shared[::4096]
            os.write(say, b".")
            os.read(told, 1)
            os._exit(0)
    count = CHILDREN
    while count:
        count -= len(os.read(done, count))
    for fd in (told, done, say, tell):
        # The end of the pipe tells them to go.
        os.close(fd)
    time.sleep(0.005)
    answer(message["turn"])
