import subprocess
import threading

from _tries import tell
from _wire import play_well, ready

ready()
children = []
thread = threading.Thread(target=lambda: children.append(subprocess.Popen(["sleep", "600"])))
thread.start()
thread.join()
tell(children[0].poll() is not None, "a child that ended with its thread")
play_well(100)
