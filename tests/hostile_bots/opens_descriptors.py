import contextlib
import os
import time

from _wire import answer, ready, turns

ready()
held = []
for message in turns():
    # Its own pipes, and those of the process that started it.
    for folder in ("/proc/self/fd", f"/proc/{os.getppid()}/fd"):
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                for flags in (os.O_RDONLY, os.O_WRONLY):
                    with contextlib.suppress(OSError):
                        held.append(os.open(f"{folder}/{name}", flags | os.O_NONBLOCK))
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(60)
    answer(message["turn"])
