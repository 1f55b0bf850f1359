from _wire import answer, next_turn, ready

ready()
answer(next_turn() + 1)
next_turn()
