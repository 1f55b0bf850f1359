"""referee play --stderr: the bots' lines on the terminal, with their step."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from terminals import read_to_end

from referee.author.bot_stderr import MOST_LINES, PendingText
from referee.players.log import Log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

LOUD = """
import json, sys
def note(*words, **more):
    print(*words, file=sys.stderr, flush=True, **more)
note("started\\x1b[31m red")
for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif question["type"] == "turn":
        turn = question["turn"]
        note("turn", turn)
        if turn == 2:
            note("\\n".join(f"flood {number}" for number in range(3000)))
        if turn == 3:
            note("part", end="")
        print(json.dumps({"type": "move", "turn": turn, "move": {}}), flush=True)
    else:
        note("bye")
"""
SHORT = ("--max-steps", "5", "--isolation", "none", "--cores", "0")


@pytest.fixture
def loud(tmp_path: Path) -> Path:
    path = tmp_path / "loud.py"
    path.write_text(LOUD)
    return path


def test_each_line_has_its_seat_and_step(referee: Cli, loud: Path) -> None:
    done = referee("play", "loud.py", "still", "--stderr", "--quiet", *SHORT)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[:5] == [
        "hunter start| started\\x1b[31m red",
        "hunter 0| turn 0",
        "hunter 1| turn 1",
        "hunter 2| turn 2",
        "hunter 2| flood 0",
    ]
    # A busy machine may cut the flood into several reads, but never prints more of one step.
    assert sum(line.startswith("hunter 2| ") for line in lines) == MOST_LINES + 1
    left_out = next(line for line in lines if " more lines (" in line)
    assert re.fullmatch(r"hunter 2\| \.\.\. 2,981 more lines \([\d,]+ bytes\)", left_out), left_out
    assert lines[lines.index(left_out) + 1 :] == ["hunter 3| turn 3", "hunter 4| partturn 4", "hunter end| bye"]


def test_the_last_words_of_a_bot_that_fails_are_shown(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import sys; sys.stderr.write('no end of line'); sys.exit(3)\n")
    done = referee("play", "bad.py", "still", "--stderr", "--quiet", *SHORT)
    assert done.returncode == 3
    assert re.search(r"^hunter (start|0|end)\| no end of line$", done.stderr, re.MULTILINE), done.stderr


def test_files_have_the_names_that_their_author_knows(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("raise ValueError(__file__)\n")
    done = referee("play", "bad.py", "still", "--stderr", "--quiet", "--max-steps", "5", "--cores", "0")
    assert done.returncode == 3
    assert re.search(r'^hunter \w+\|   File "bad\.py", line 1, in <module>$', done.stderr, re.MULTILINE), done.stderr
    assert "/bot" not in done.stderr


def test_json_stays_one_object_and_the_log_is_the_same(referee: Cli, loud: Path, tmp_path: Path) -> None:
    done = referee("play", "loud.py", "still", "--stderr", "--json", *SHORT)
    result: dict[str, Any] = json.loads(done.stdout)
    assert "hunter 1| turn 1" in done.stderr
    assert len((tmp_path / result["logs"]["hunter"]).read_text().splitlines()) > 3000


@pytest.mark.parametrize("no_color", ["", "1"])
def test_seats_have_colours_on_a_terminal_unless_they_are_not_wanted(no_color: str, loud: Path, tmp_path: Path) -> None:
    outside, inside = pty.openpty()
    command = [sys.executable, "-m", "referee", "play", "loud.py", "loud.py", "--stderr", *SHORT]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": no_color}
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=inside, env=environment)
    os.close(inside)
    text = read_to_end(outside).decode()
    assert process.wait() == 0
    assert ("\x1b[36mhunter 1|\x1b[0m turn 1\r\n" in text) == (not no_color)
    assert ("\x1b[33mprey 1|\x1b[0m turn 1\r\n" in text) == (not no_color)
    assert ("hunter 1| turn 1\r\n" in text) == bool(no_color)
    assert "started\\x1b[31m red" in text
    # No line begins in the middle of the progress line: that is cleared before.
    starts = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n") if "| " in line]
    assert all(re.match(r"(\x1b\[K)?(\x1b\[\d+m)?(hunter|prey) \w+\|", line) for line in starts), starts


def test_a_flood_costs_little_memory_and_is_counted() -> None:
    log = Log(None, 0)
    text = PendingText(log)
    for _ in range(1000):
        log.take(b"x" * 1023 + b"\n")
    lines = text.lines(is_last=False)
    assert len(lines) == 16
    assert text.lines(is_last=True) == []
    assert text.left_out == 1000 - 16
    assert text.left_out_bytes == 1024 * (1000 - 16)
    log.take(b"one\r\n\ntwo")
    assert text.lines(is_last=False) == [b"one", b""]
    assert text.lines(is_last=True) == [b"two"]
