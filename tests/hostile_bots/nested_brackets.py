from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{"go":%s%s}}\n' % (turn, "[" * 10_000, "]" * 10_000))
next_turn()
