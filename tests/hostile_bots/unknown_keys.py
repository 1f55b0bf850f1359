from _wire import answer, ready, turns

ready()
for message in turns():
    answer(message["turn"], '{"go":[0,1],"jump":true}', ',"mood":"fine"')
