"""The command that installs what is missing works where it is printed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from referee.support.packages import install_command

ROOT = Path(__file__).parents[2]


def test_the_command_is_for_the_python_that_misses_the_packages() -> None:
    assert shlex.split(install_command("numpy", "psycopg[binary]")) == [sys.executable, "-m", "pip", "install", "numpy", "psycopg[binary]"]
    assert install_command("numpy", python="/opt/my python").startswith("'/opt/my python' -m pip install ")


def test_no_other_module_words_such_a_command() -> None:
    """An extra, as in "referee[web]", can be installed only from the source of the referee, and "pip" alone may be that of another Python."""
    files = [path for folder in ("referee", "sdk") for path in (ROOT / folder).rglob("*.py") if path.name != "packages.py"]
    assert len(files) > 200
    assert not [str(path) for path in files if "pip install" in path.read_text()]
