from _wire import next_turn, play_well, ready, send

ready()
play_well(2)
next_turn()
send("go north\n")
next_turn()
