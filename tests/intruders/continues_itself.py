import ctypes
import os
import signal
import threading

from _tries import libc
from _wire import answer, ready, turns


class Timer(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_char * 48)]


class Spec(ctypes.Structure):
    _fields_ = [("interval_s", ctypes.c_long), ("interval_ns", ctypes.c_long), ("value_s", ctypes.c_long), ("value_ns", ctypes.c_long)]


def burn():
    while True:
        pass


ready()
# A timer that continues this process a thousand times a second, and a child of another group that does the same.
timer = ctypes.c_void_p()
event = Timer(None, signal.SIGCONT, 0, b"")
libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer))
libc.timer_settime(timer, 0, ctypes.byref(Spec(0, 1_000_000, 0, 1_000_000)), None)
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.kill(os.getppid(), signal.SIGCONT)
        except OSError:
            os._exit(0)
for _ in range(3):
    threading.Thread(target=burn, daemon=True).start()
for message in turns():
    answer(message["turn"])
