"""What may stand for a player, and what is said of what may not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.errors import PlayerError
from referee.players.spec import resolve


def test_a_python_file_runs_on_this_python_in_its_folder(tmp_path: Path) -> None:
    bot = tmp_path / "my bot.py"
    bot.write_text("pass")
    spec = resolve(str(bot), "hunter", "evasion")
    assert spec.program.argv == (sys.executable, str(bot))
    assert spec.program.cwd == str(tmp_path)
    assert spec.program.env["REFEREE_PROTOCOL"] == "1"
    assert spec.about["file"] == "my bot.py"
    assert len(str(spec.about["sha256"])) == 64


def test_an_executable_runs_itself(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_text("#!/bin/sh\n")
    bot.chmod(0o755)
    assert resolve(str(bot), "prey", "evasion").program.argv == (str(bot),)


def test_a_command_line_is_split_as_a_shell_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.jar").write_text("jar")
    spec = resolve("sh -c 'echo hello' bot.jar", "prey", "evasion")
    assert os.path.isabs(spec.program.argv[0])
    assert spec.program.argv[1:] == ("-c", "echo hello", "bot.jar")
    assert spec.program.cwd == str(tmp_path)
    assert spec.about["file"] == "bot.jar"


@pytest.mark.parametrize(("name", "seat"), [("boxer", "hunter"), ("runner", "prey"), ("random", "hunter"), ("random", "prey")])
def test_an_example_by_its_name(name: str, seat: str) -> None:
    assert Path(resolve(name, seat, "evasion").program.argv[1]).is_file()


def test_a_file_beside_wins_over_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boxer").write_text("#!/bin/sh\n")
    (tmp_path / "boxer").chmod(0o755)
    assert resolve("boxer", "hunter", "evasion").program.argv == (str(tmp_path / "boxer"),)


def test_each_mistake_has_its_own_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    os.mkfifo(tmp_path / "pipe")
    cases = {
        "missing.py": "there is no such file",
        "deep/missing": "there is no such file",
        "folder": "is a folder",
        "plain.sh": "chmod +x plain.sh",
        "pipe": "not an ordinary file",
        "boxxer": "did you mean 'boxer'?",
        "nonsense": "neither a file nor an example bot; examples for hunter: boxer",
        "runner": "plays prey, not hunter",
        "": "empty name",
        "   ": "empty name",
        "nosuchprogram -x": "no program on the PATH",
        "./plain.sh -x": "not executable",
        "sh -c 'open": "quote that is never closed",
        "\x1b[2J.py": "\\x1b[2J.py",
    }
    for text, sentence in cases.items():
        with pytest.raises(PlayerError) as caught:
            resolve(text, "hunter", "evasion")
        assert sentence in str(caught.value), text
        assert str(caught.value).startswith("The hunter ")


def test_a_script_without_a_first_line_is_told_of_both(tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text("console.log(1)")
    with pytest.raises(PlayerError, match=r"chmod \+x .*main.js and a first line that names its interpreter, such as #!/usr/bin/env node"):
        resolve(str(tmp_path), "prey", "evasion")


def test_a_broken_link_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "bot.py").symlink_to("nowhere.py")
    with pytest.raises(PlayerError, match=r"is a broken link, to 'nowhere.py'; name the file itself"):
        resolve(str(tmp_path / "bot.py"), "prey", "evasion")


def test_a_folder_holds_the_program_of_the_seat_or_one_for_all(tmp_path: Path) -> None:
    for name in ("hunter.py", "main.py"):
        (tmp_path / name).write_text("")
    assert resolve(str(tmp_path), "hunter", "evasion").program.inside[-1] == "/bot/hunter.py"
    assert resolve(str(tmp_path), "prey", "evasion").program.inside[-1] == "/bot/main.py"
    (tmp_path / "prey.sh").symlink_to("/bin/sh")
    with pytest.raises(PlayerError, match=r"has its program outside its folder: 'prey\.sh' points to "):
        resolve(str(tmp_path), "prey", "evasion")
