import sys
import threading

from _wire import answer, ready, turns


def burn():
    while True:
        pass


ready()
threading.Thread(target=burn, daemon=True).start()
sys.setswitchinterval(1e-4)
for message in turns():
    answer(message["turn"])
