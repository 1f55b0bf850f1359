from _wire import next_turn, receive, send

receive()
send('{"type":"ready","protocol":1}\n{"type":"move","turn":1,"move":{}}\n')
next_turn()
next_turn()
