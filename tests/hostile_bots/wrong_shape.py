from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{"go":"north"}}\n' % turn)
next_turn()
