"""Colours of lines at a terminal."""

from __future__ import annotations

import io

import pytest

from referee.support.color import colored

LINES = {
    "  winner   hunter Boxer (caught)": "  winner   \x1b[1mhunter Boxer (caught)\x1b[0m",
    "  fault    The prey crashed.": "  \x1b[31mfault\x1b[0m    The prey crashed.",
    "  ok    14 checks": "  \x1b[32mok\x1b[0m    14 checks",
    "  FAIL  freezer": "  \x1b[31mFAIL\x1b[0m  freezer",
    "Boxer catches Runner after 297 steps.": "Boxer catches Runner after 297 steps.",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize("line", LINES)
def test_a_terminal_gets_colours_and_a_pipe_none(line: str) -> None:
    assert colored(line, Terminal()) == LINES[line]
    assert colored(line, io.StringIO()) == line


def test_the_environment_decides_before_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "  ok    14 checks"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert colored(line, io.StringIO()) == LINES[line]
    monkeypatch.setenv("NO_COLOR", "1")
    assert colored(line, Terminal()) == line
