import threading

from _wire import next_turn, ready


def burn():
    while True:
        pass


ready()
next_turn()
for _ in range(4):
    threading.Thread(target=burn, daemon=True).start()
burn()
