from _wire import next_turn, ready, receive, send

ready()
turn = next_turn()
send('{"type":"move","turn":%d,"move":{}}' % turn)
while True:
    receive()
