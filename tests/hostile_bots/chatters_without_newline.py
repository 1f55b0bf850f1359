from _wire import next_turn, ready, send

ready()
next_turn()
while True:
    send("info depth 1 ")
