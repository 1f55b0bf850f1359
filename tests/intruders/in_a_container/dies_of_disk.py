import os

from _wire import next_turn, ready

ready()
next_turn()
with open(os.environ["TMPDIR"] + "/large", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
