from _wire import answer, ready, turns

ready("N" * 1000)
for message in turns():
    answer(message["turn"])
