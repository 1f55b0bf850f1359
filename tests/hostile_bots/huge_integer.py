from _wire import next_turn, ready, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{"go":[%s,0]}}\n' % (turn, "9" * 4500))
next_turn()
