"""The line of progress on stderr, on a terminal, without one, and where nobody wants it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from terminals import read_to_end

SCRIPT = """
from referee.cli.terminal import StatusLine
line = StatusLine(is_quiet={is_quiet})
for number in range(3):
    line.show(f"{{number}} of 3  " + "x" * 100)
line.end()
"""


def shown(*, is_quiet: bool, columns: int, variable: str | None = None) -> str:
    """What a terminal of so many columns gets."""
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    if variable is not None:
        environment["COLUMNS"] = variable
    command = [sys.executable, "-c", SCRIPT.format(is_quiet=is_quiet)]
    subprocess.run(command, stderr=inside, stdout=subprocess.DEVNULL, env=environment, timeout=60, check=True)
    os.close(inside)
    return read_to_end(outside).decode()


@pytest.mark.parametrize(("columns", "variable", "width"), [(40, None, 39), (40, "60", 59), (200, None, 109), (5, None, 20)])
def test_a_line_fits_into_the_terminal_and_nothing_of_it_is_left(columns: int, variable: str | None, width: int) -> None:
    first, *lines = shown(is_quiet=False, columns=columns, variable=variable).split("\r\x1b[K")
    assert first == ""
    assert lines == [*(f"{number} of 3  {'x' * 100}"[:width] for number in range(3)), ""]


def test_a_quiet_line_writes_nothing() -> None:
    assert shown(is_quiet=True, columns=40) == ""


def test_without_a_terminal_short_work_prints_no_progress() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(is_quiet=False)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")
