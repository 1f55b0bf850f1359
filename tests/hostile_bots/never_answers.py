from _wire import play_well, ready, receive

ready()
play_well(3)
while True:
    receive()
