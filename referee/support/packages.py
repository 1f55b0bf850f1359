"""Packages that are missing: how to install them for a Python."""

from __future__ import annotations

import shlex
import sys


def install_command(*packages: str, python: str | None = None) -> str:
    """Return the command that installs packages for a Python, by default the one that runs.

    It names the packages themselves. An extra of the referee can be installed only from the referee's own source.
    """
    return f"{shlex.quote(python or sys.executable)} -m pip install {' '.join(map(shlex.quote, packages))}"
