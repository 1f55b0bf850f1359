import os
from pathlib import Path

from _wire import play_well, ready

ready()
Path(f"/proc/{os.getppid()}/oom_score_adj").write_text("1000")
play_well(None)
