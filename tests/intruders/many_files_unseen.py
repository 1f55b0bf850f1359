"""Files in shared memory, with a zombie as the newest process, which has no folders of its own."""

import os
import time

from _wire import answer, ready, turns

ready()
for message in turns():
    for number in range(12_000):
        try:
            os.close(os.open(f"/dev/shm/{message['turn']}-{number}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
    if os.fork() == 0:
        os._exit(0)
    time.sleep(0.2)
    answer(message["turn"])
