from _wire import next_turn, ready, send

ready()
next_turn()
line = b"x" * 99 + b"\n"
for _ in range(1000):
    send(line * 1000)
