"""The line of progress on stderr, on a terminal, without one, and where nobody wants it."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import signal
import struct
import sys
import termios

import pytest
from commands import read_to_end

from referee.cli import terminal
from referee.cli.terminal import StatusLine


def show() -> None:
    line = StatusLine()
    for number in range(3):
        line.show(f"{number} of 3  " + "x" * 100)
    line.close()


def shown(monkeypatch: pytest.MonkeyPatch, *, is_quiet: bool, columns: int, variable: str | None = None) -> str:
    """What a terminal of so many columns gets."""
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    monkeypatch.delenv("COLUMNS", raising=False)
    if variable is not None:
        monkeypatch.setenv("COLUMNS", variable)
    with os.fdopen(inside, "w") as file:
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(terminal, "is_quiet", lambda: is_quiet)
        show()
    return read_to_end(outside).decode()


@pytest.mark.parametrize(("columns", "variable", "width"), [(40, None, 39), (40, "60", 59), (200, None, 109), (5, None, 20)])
def test_a_line_fits_into_the_terminal_and_nothing_of_it_is_left(
    columns: int, variable: str | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *lines = shown(monkeypatch, is_quiet=False, columns=columns, variable=variable).split("\r\x1b[K")
    assert first == ""
    assert lines == [*(f"{number} of 3  {'x' * 100}"[:width] for number in range(3)), ""]


def test_a_quiet_line_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, is_quiet=True, columns=40) == ""


def test_without_a_terminal_short_work_prints_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    show()
    assert said.getvalue() == ""


def test_without_a_terminal_long_work_says_so_now_and_then_also_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(terminal, "_PLAIN_SECONDS", 0.01)
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    with contextlib.closing(StatusLine("The bots are started.")) as line:
        while said.getvalue().count("The bots are started.\n") < 2:
            signal.pause()
        line.show("1 of 3")
        while "1 of 3\n" not in said.getvalue():
            signal.pause()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert set(said.getvalue().splitlines()) == {"The bots are started.", "1 of 3"}
