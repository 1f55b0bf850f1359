from _wire import next_turn, ready

ready()
next_turn()
with open("/tmp/large", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 20))
