from _wire import answer, ready, send, turns

ready()
for message in turns():
    send("\n  \r\n")
    answer(message["turn"])
    send("\n")
