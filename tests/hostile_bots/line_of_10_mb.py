from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{},"say":"%s"}\n' % (turn, "a" * 10_000_000))
next_turn()
