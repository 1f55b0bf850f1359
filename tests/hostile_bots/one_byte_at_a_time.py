import time

from _wire import next_turn, play_well, ready, send

ready()
play_well(2)
turn = next_turn()
send('{"type":"move","turn":%d,"say":"' % turn)
while True:
    send("a")
    time.sleep(0.01)
