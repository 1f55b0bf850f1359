"""Processes of our own: starting one, its priority, and its collections of garbage."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: How far a process that gives way lowers its priority: others get nine times its share of a processor that both want.
GIVES_WAY = 10
#: How often Linux is asked to weigh a session, and how long it is left alone in between, in seconds: it takes ten such wishes a second.
_WISHES, _PAUSE = 20, 0.05


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
    _weigh(started.pid)
    return started


def give_way() -> None:
    """Let programs that somebody waits for go first: lower the priority of this process, and of all that it starts from now on."""
    os.nice(GIVES_WAY)
    _weigh(os.getpid())


def set_old_objects_aside() -> None:
    """Let the collector of garbage look only at objects that are made from now on.

    Python collects old garbage when old objects have become more by a quarter. With all that a process has loaded, thousands of matches or
    answers would leave garbage first, and the collection would take as long as a match, and longer than most answers.
    """
    gc.collect()
    gc.freeze()
    # This counts the old objects again: there are none.
    gc.collect()


def _weigh(session: int) -> None:
    """Give a whole session the priority of this process. Where Linux shares processors between sessions, that of a process counts only inside."""
    weight, niceness = Path(f"/proc/{session}/autogroup"), os.nice(0)
    left = _WISHES if niceness > 0 else 0
    while left and not _is_heard(weight, niceness):
        time.sleep(_PAUSE)
        left -= 1


def _is_heard(weight: Path, niceness: int) -> bool:
    """Write a session's priority; False if that should be tried again a moment later."""
    try:
        weight.write_text(str(niceness))
    except BlockingIOError:
        return False
    except OSError:
        # Here processors are not shared between sessions, or the process has ended.
        return True
    return True
