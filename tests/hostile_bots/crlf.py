from _wire import ready, send, turns

ready()
for message in turns():
    send('{"type":"move","turn":%d,"move":{}}\r\n' % message["turn"])
