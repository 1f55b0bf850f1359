import os

from _tries import attempt
from _wire import play_well, ready

ready()
attempt("memfd", lambda: os.memfd_create("hidden"))
play_well(100)
