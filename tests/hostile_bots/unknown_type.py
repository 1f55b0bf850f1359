from _wire import next_turn, ready, send

ready()
next_turn()
send('{"type":"resign"}\n')
next_turn()
