from _wire import next_turn, ready, send

ready()
turn = next_turn()
send(b'\xef\xbb\xbf{"type":"move","turn":%d,"move":{}}\n' % turn)
next_turn()
