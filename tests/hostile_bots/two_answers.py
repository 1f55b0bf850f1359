from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{}}\n{"type":"move","turn":%d,"move":{}}\n' % (turn, turn))
next_turn()
