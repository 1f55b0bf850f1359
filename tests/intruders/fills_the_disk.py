import os

from _tries import attempt, tell
from _wire import play_well, ready

ready()
for folder, most in (("/tmp", 16 << 20), ("/dev/shm", 1 << 20)):
    written = 0
    try:
        for number in range(1000):
            with open(f"{folder}/part{number}", "wb", buffering=0) as file:
                written += file.write(bytes(1 << 20))
    except OSError:
        pass
    tell(written > most, f"{written} bytes in {folder}")
attempt("sparse file", lambda: os.truncate(open("/tmp/part0", "r+b").fileno(), 100 << 30))
play_well(100)
