"""Lets children work inside the kernel, where no freezer reaches them, while the other one is asked."""

import mmap
import os
import signal
import sys
import time

from _wire import answer, ready, turns

PAGES = 400 << 20
CHILDREN = 24
PAUSE = 0.005

ready()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
shared = mmap.mmap(-1, PAGES)
shared[::4096] = bytes(PAGES // 4096)


def wait_for(done, count):
    """Wait until so many children are ready."""
    while count:
        count -= len(os.read(done, count))


for message in turns():
    if True:
        told, tell = os.pipe()
        done, say = os.pipe()
        for _ in range(CHILDREN):
            if os.fork() == 0:
                os.close(tell)
                shared[::4096]
                os.write(say, b".")
                os.read(told, 1)
                os._exit(0)
        wait_for(done, CHILDREN)
        for fd in (told, done, say):
            os.close(fd)
        # The end of the pipe tells them; they have begun when the answer arrives.
        os.close(tell)
        time.sleep(PAUSE)
    answer(message["turn"])
sys.exit(0)
