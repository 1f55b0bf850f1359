import os

from _tries import tell
from _wire import play_well, ready

ready()
held = []
try:
    for _ in range(5000):
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
tell(len(held) > 64, f"{len(held)} descriptors")
for fd in held:
    os.close(fd)
play_well(100)
