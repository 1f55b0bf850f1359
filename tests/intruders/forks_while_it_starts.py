import os
import time

from _wire import answer, ready, turns

stop = "/tmp/stop"


def fork():
    """Fork, however often that is refused: what has ended counts until it is reaped."""
    while True:
        try:
            return os.fork()
        except OSError:
            time.sleep(0.001)


for _ in range(6):
    if fork() == 0:
        while not os.path.exists(stop):
            if fork():
                os._exit(0)
        os.write(2, "on {}\n".format(" ".join(map(str, sorted(os.sched_getaffinity(0))))).encode())
        os._exit(0)
time.sleep(0.05)
ready()
for number, message in enumerate(turns()):
    if number == 3:
        # In its own turn: between turns nothing of it moves.
        open(stop, "w").close()
        time.sleep(0.5)
    answer(message["turn"])
