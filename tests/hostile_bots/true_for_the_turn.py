from _wire import next_turn, ready, send

ready()
next_turn()
send('{"type":"move","turn":true,"move":{}}\n')
next_turn()
