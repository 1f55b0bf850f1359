import ctypes
import os

from _wire import play_well, ready

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207

ready()
supervisor = os.getppid()
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    libc = ctypes.CDLL(None)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    libc.ptrace(PTRACE_SEIZE, supervisor, 0, 0)
    libc.ptrace(PTRACE_INTERRUPT, supervisor, 0, 0)
    os.write(write, b"1")
    while True:
        libc.pause()
os.read(read, 1)
play_well(None)
