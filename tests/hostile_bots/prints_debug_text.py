from _wire import answer, next_turn, ready

ready()
turn = next_turn()
print("debug 3", flush=True)
answer(turn)
next_turn()
