from _wire import next_turn, ready, send

ready()
turn = next_turn()
send(b'{"type":"move","turn":%d,"move":{},"say":"\xff\xfe"}\n' % turn)
next_turn()
