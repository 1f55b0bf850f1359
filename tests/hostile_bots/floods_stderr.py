import os

from _wire import answer, ready, turns

ready()
block = b"noise " * 1000 + b"\n"
for message in turns():
    if message["turn"] == 1:
        left = 100_000_000
        while left > 0:
            left -= os.write(2, block)
    answer(message["turn"])
