import threading
import time

from _tries import tell
from _wire import play_well, ready

threading.stack_size(65_536)
ready()
begun = 0
try:
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        begun += 1
except RuntimeError:
    pass
tell(begun > 64, f"{begun} threads")
play_well(100)
