"""The referee's own processes: how they start, their priority, and garbage collection."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: The nice value that ``lower_priority`` adds: other processes then get nine times as much of a processor that both want.
NICENESS = 10
#: How often to try to set a session's priority, and the pause between two tries in seconds: Linux accepts ten such requests a second.
_TRIES, _PAUSE = 20, 0.05


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules with this Python."""
    return [sys.executable, "-m", module, *arguments]


def start_module(module: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start one of our modules in a session of its own, with this process's priority; ``options`` are those of ``subprocess.Popen``.

    It runs in the folder "/" with this process's import path. In another folder a module of the user could replace one of ours.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    started = subprocess.Popen(module_command(module, *arguments), start_new_session=True, cwd="/", env=environment, **options)
    _set_session_priority(started.pid)
    return started


def lower_priority() -> None:
    """Lower the priority of this process, and of all that it starts from now on, because somebody waits for other programs."""
    os.nice(NICENESS)
    _set_session_priority(os.getpid())


def freeze_old_objects() -> None:
    """Let the garbage collector examine only objects that are made from now on.

    Python collects old garbage when the number of old objects has grown by a quarter. A process has loaded so much that thousands of matches or
    answers would leave garbage first. Such a collection would take as long as a match, and longer than most answers.
    """
    gc.collect()
    gc.freeze()
    # This resets the count of old objects to 0.
    gc.collect()


def _set_session_priority(session: int) -> None:
    """Give a session the priority of this process. Where Linux shares processors between sessions, a process's own counts only within its session."""
    weight, niceness = Path(f"/proc/{session}/autogroup"), os.nice(0)
    left = _TRIES if niceness > 0 else 0
    while left and not _write_priority(weight, niceness):
        time.sleep(_PAUSE)
        left -= 1


def _write_priority(weight: Path, niceness: int) -> bool:
    """Write a session's priority; False if the caller should try again a moment later."""
    try:
        weight.write_text(str(niceness))
    except BlockingIOError:
        return False
    except OSError:
        # This system doesn't share processors between sessions, or the process has ended.
        return True
    return True
