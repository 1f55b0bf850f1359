"""The programs that keep the processors busy beside a check."""

from __future__ import annotations

import os
import subprocess
import sys

from referee.author.check.timing import BUSY


def test_a_busy_program_whose_parent_has_ended_before_it_looks_ends_too() -> None:
    # Its parent is this process, not the one whose number it is given.
    subprocess.run([sys.executable, "-S", "-c", BUSY, str(os.getppid())], check=True, timeout=60)
