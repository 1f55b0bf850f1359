from _wire import next_turn, ready, send

ready()
next_turn()
send("[1, 2, 3]\n")
next_turn()
