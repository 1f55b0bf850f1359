"""Scripts with Windows line ends: told of where they play nevertheless, refused where their first line decides."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from referee.errors import PlayerError
from referee.players.spec import resolve

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

IDLE = """\
#!/usr/bin/env python3
from sdk import {base}
class Idle({base}):
    def {method}(self, state):
        return None
Idle.main()
"""
RUBRIC = """
name = "Homework"
game = "evasion"
seed = "0123456789abcdef0123456789abcdef"
isolation = "none"
settings.max_steps = 20
[[tests]]
name = "hunts"
seat = "hunter"
against = "still"
starts = 1
points = 1
need = { finishes = true }
"""
LEAGUE = 'game = "evasion"\nslots = 1\nisolation = "none"\nsettings.max_steps = 20\n[[teams]]\nname = "a"\nprogram = "a"\n[[teams]]\nname = "b"\nprogram = "b"\n'
WORDS = {
    "play": ("play", "a/hunter.py", "still", "--max-steps", "20", "--isolation", "none"),
    "games": ("play", "a/hunter.py", "still", "--max-steps", "20", "--isolation", "none", "--games", "2", "--slots", "1"),
    "json": ("play", "a/hunter.py", "still", "--max-steps", "20", "--isolation", "none", "--json"),
    "named": ("play", f"{sys.executable} a/hunter.py", "still", "--max-steps", "20", "--isolation", "none"),
    "check": ("check", "a/hunter.py", "--only", "ready", "--isolation", "none"),
    "league": ("league", "run", "league.toml", "--out", "out"),
    "compare": ("compare", "a", "b", "--max-steps", "20", "--duels", "1", "--isolation", "none", "--slots", "1"),
    "grade": ("grade", "submissions", "--out", "out", "--slots", "1"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two teams and a submission, of which one hunter has Windows line ends."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for seat, method in (("hunter", "hunt"), ("prey", "flee")):
            (tmp_path / name / f"{seat}.py").write_text(IDLE.format(base=f"{seat.title()}Bot", method=method))
    script = tmp_path / "a" / "hunter.py"
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "submissions" / "ada").mkdir(parents=True)
    (tmp_path / "submissions" / "ada" / "hunter.py").write_bytes(script.read_bytes())
    (tmp_path / "rubric.toml").write_text(RUBRIC)
    (tmp_path / "league.toml").write_text(LEAGUE)
    return tmp_path


@pytest.mark.parametrize("name", WORDS)
def test_it_is_told_once_of_a_script_that_its_interpreter_starts(name: str, folder: Path, referee: Cli) -> None:
    done = referee(*WORDS[name])
    # A comparison of one duel is undecided.
    assert done.returncode == (name == "compare"), done.stderr
    assert done.stderr.count("Windows line ends (CRLF)") == 1
    assert (
        "hunter.py' has Windows line ends (CRLF): its interpreter can start it, but its first line can't; save it with Unix" in done.stderr
    )
    assert "CRLF" not in done.stdout
    (folder / "a" / "hunter.py").write_bytes((folder / "b" / "hunter.py").read_bytes())
    (folder / "submissions" / "ada" / "hunter.py").write_bytes((folder / "b" / "hunter.py").read_bytes())
    assert "CRLF" not in referee(*WORDS[name], *(["--out", "other"] if name in ("league", "grade") else [])).stderr


def test_quiet_says_nothing_of_it(folder: Path, referee: Cli) -> None:
    assert "CRLF" not in referee(*WORDS["play"], "-q").stderr


@pytest.mark.parametrize("player", ["bot.js", "./bot.js --fast", "folder"])
def test_a_script_that_its_first_line_starts_is_refused(player: str, tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bot.toml").write_text('run = "./bot.js"\n')
    for file in (tmp_path / "bot.js", tmp_path / "folder" / "bot.js"):
        file.write_bytes(b"#!/usr/bin/env node\r\nconsole.log(1)\r\n")
        file.chmod(0o755)
    done = referee("play", player, "still", "--json")
    assert done.returncode == 2
    assert "Windows line ends (CRLF)" in json.loads(done.stdout)["error"]


def test_other_lines_that_end_so_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_bytes(b"#!/bin/sh\necho\r\n")
    (tmp_path / "bot.sh").chmod(0o755)
    assert resolve(str(tmp_path / "bot.sh"), "prey", "evasion").program.argv[-1].endswith("bot.sh")
    (tmp_path / "bot.sh").write_bytes(b"#!/bin/sh\r\necho\r\n")
    with pytest.raises(PlayerError, match="CRLF"):
        resolve(str(tmp_path / "bot.sh"), "prey", "evasion")
