import os

from _wire import next_turn, ready

ready()
next_turn()
os.kill(os.getpid(), 11)
