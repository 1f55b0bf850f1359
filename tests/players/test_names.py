"""What may stand for a player, and what is said of what may not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.errors import PlayerError
from referee.isolation.file_names import file_names, from_home, published
from referee.isolation.plan import bot_plan
from referee.players.names import resolve


def test_a_python_file_runs_on_this_python_in_its_folder(tmp_path: Path) -> None:
    bot = tmp_path / "my bot.py"
    bot.write_text("pass")
    spec = resolve(str(bot), "hunter", "evasion")
    assert spec.argv == (sys.executable, str(bot))
    assert spec.folder == str(tmp_path)
    assert bot_plan(spec).env["REFEREE_PROTOCOL"] == "1"
    assert spec.about["file"] == "my bot.py"
    assert len(str(spec.about["sha256"])) == 64


def test_an_executable_runs_itself(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_text("#!/bin/sh\n")
    bot.chmod(0o755)
    assert resolve(str(bot), "prey", "evasion").argv == (str(bot),)


def test_a_command_line_is_split_as_a_shell_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.jar").write_text("jar")
    spec = resolve("sh -c 'echo hello' bot.jar", "prey", "evasion")
    assert os.path.isabs(spec.argv[0])
    assert spec.argv[1:] == ("-c", "echo hello", "bot.jar")
    assert spec.folder == str(tmp_path)
    assert spec.about["file"] == "bot.jar"


@pytest.mark.parametrize(("name", "seat"), [("boxer", "hunter"), ("runner", "prey"), ("random", "hunter"), ("random", "prey")])
def test_an_example_by_its_name(name: str, seat: str) -> None:
    assert Path(resolve(name, seat, "evasion").argv[1]).is_file()


def test_a_file_beside_wins_over_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boxer").write_text("#!/bin/sh\n")
    (tmp_path / "boxer").chmod(0o755)
    assert resolve("boxer", "hunter", "evasion").argv == (str(tmp_path / "boxer"),)


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
    (tmp_path / "main.tcl").write_text("puts 1")
    with pytest.raises(PlayerError, match=r"chmod \+x .*main.tcl and a first line that names its interpreter, such as #!/usr/bin/env node"):
        resolve(str(tmp_path), "prey", "evasion")


#: Files that can't be started as they are, and what their message says.
NOT_STARTED = {
    "Hunter.java": (
        "class Other {}\nclass MyHunter { public static void main(String[] a) { } }",
        ['"javac Hunter.java"', 'run = "java -cp . MyHunter"'],
    ),
    "hunter.cpp": ("int main() { }", ['"g++ -std=c++17 -O2 -o hunter hunter.cpp"', 'run = "./hunter"']),
    "hunter.rs": ("fn main() { }", ['"rustc --edition 2021 -O -o hunter hunter.rs"']),
    "hunter.go": ("package main", ['"go build -o hunter hunter.go"']),
    "hunter.js": ("console.log(1)", ['name its interpreter: "node hunter.js"']),
    "hunter.jar": ("PK", ['name its interpreter: "java -jar hunter.jar"']),
    "windows.js": ("#!/usr/bin/env node\r\nconsole.log(1)\r\n", ["Windows line ends (CRLF)", r"sed -i 's/\r$//' windows.js"]),
    "ada.zip": ("PK", ["is an archive; unpack it and name the folder"]),
    "ada.7z": ("7z", ["is an archive; unpack it and name the folder"]),
}


@pytest.mark.parametrize("name", NOT_STARTED)
@pytest.mark.parametrize("mode", [0o644, 0o755], ids=["a file", "an executable file"])
def test_a_file_that_can_t_be_started_is_told_how(name: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, wanted = NOT_STARTED[name]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(text.encode())
    Path(name).chmod(mode)
    with pytest.raises(PlayerError) as refused:
        resolve(name, "prey", "evasion")
    told = str(refused.value)
    assert told.startswith(f"The prey '{name}' ")
    assert [part for part in wanted if part not in told] == [], told
    assert "chmod" not in told
    assert "\n" not in told


def test_windows_line_ends_of_a_python_file_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_bytes(b"#!/usr/bin/env python3\r\nprint(1)\r\n")
    assert resolve(str(tmp_path / "bot.py"), "prey", "evasion").argv[-1].endswith("bot.py")


def test_a_program_is_started_whatever_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "hunter.exe").write_bytes(b"\x7fELF")
    (tmp_path / "hunter.exe").chmod(0o755)
    assert resolve(str(tmp_path / "hunter.exe"), "hunter", "evasion").argv == (str(tmp_path / "hunter.exe"),)


def test_a_folder_without_a_program_for_the_seat_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "prey.py").write_text("")
    with pytest.raises(PlayerError, match=r"a folder without a program for it: there should be hunter\.\*, .*, but it has 'prey.py'"):
        resolve(str(tmp_path), "hunter", "evasion")
    (tmp_path / "Hunter.java").write_text("class Hunter { static void main() { } }")
    with pytest.raises(
        PlayerError, match=r"for 'Hunter.java', a bot.toml with the lines build = \"javac Hunter.java\" and run = \"java -cp . Hunter\""
    ):
        resolve(str(tmp_path), "hunter", "evasion")


def test_a_seat_that_is_a_letter_is_called_a_player() -> None:
    with pytest.raises(PlayerError, match=r"^Player b 'nobody' is neither a file nor an example bot"):
        resolve("nobody", "b", "rectangle")


def test_a_broken_link_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "bot.py").symlink_to("nowhere.py")
    with pytest.raises(PlayerError, match=r"is a broken link, to 'nowhere.py'; name the file itself"):
        resolve(str(tmp_path / "bot.py"), "prey", "evasion")


def test_a_folder_holds_the_program_of_the_seat_or_one_for_all(tmp_path: Path) -> None:
    for name in ("hunter.py", "main.py"):
        (tmp_path / name).write_text("")
    assert bot_plan(resolve(str(tmp_path), "hunter", "evasion")).inside[-1] == "/bot/hunter.py"
    assert bot_plan(resolve(str(tmp_path), "prey", "evasion")).inside[-1] == "/bot/main.py"
    (tmp_path / "prey.sh").symlink_to("/bin/sh")
    with pytest.raises(PlayerError, match=r"has its program outside its folder: 'prey\.sh' points to "):
        resolve(str(tmp_path), "prey", "evasion")


@pytest.mark.parametrize("home", ["/", "elsewhere", "secret"])
def test_a_published_program_names_no_folder_outside_its_home(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "bot.py").write_text("")
    (tmp_path / "elsewhere").mkdir()
    where = str(tmp_path / home)
    monkeypatch.chdir(where)
    found = published(resolve(from_home(str(tmp_path / "secret" / "bot.py"), where), "hunter", "evasion"), where)
    assert found.label == found.about["program"] == ("./bot.py" if home == "secret" else "bot.py")
    told = file_names(found, is_sandbox=False).published(f"at {found.folder}/bot.py:1".encode())
    assert str(tmp_path).encode() not in told
    assert told.endswith(b"bot.py:1")
