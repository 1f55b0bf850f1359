import sys

from _wire import next_turn, play_well, ready

ready()
play_well(3)
next_turn()
print("I have had enough", file=sys.stderr)
raise SystemExit(5)
