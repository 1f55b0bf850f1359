"""Starting one of our own modules as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules with this Python."""
    return [sys.executable, "-m", module, *arguments]


def start_module(module: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start one of our modules in a session of its own; ``options`` are those of ``subprocess.Popen``.

    It runs in the folder "/" with this process's import path. In another folder a module of the user could replace one of ours.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    return subprocess.Popen(module_command(module, *arguments), start_new_session=True, cwd="/", env=environment, **options)
