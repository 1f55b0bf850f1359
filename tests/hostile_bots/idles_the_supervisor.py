import os

from _wire import play_well, ready

ready()
os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))
play_well(None)
