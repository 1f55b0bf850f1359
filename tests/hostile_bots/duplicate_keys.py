from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{"go":[0,1],"go":[1,0]}}\n' % turn)
next_turn()
