"""What the author of a bot is told to do about a crash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENT, play_match
from sandboxes import need

from referee.isolation import runtime
from referee.isolation.program import Program
from referee.isolation.submission import Piece
from referee.match.loop import Options
from referee.players.crash_advice import advice
from referee.replay.reader import verify

if TYPE_CHECKING:
    from referee.isolation.level import Isolation

READS = """\
from pathlib import Path
from sdk import HunterBot
class Reads(HunterBot):
    def begin(self):
        self.book = open("book.txt").read()
    def hunt(self, state):
        return None
Reads.main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a bot's author, with a book and a module beside the bot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "bot_1.py").write_text(READS)
    (tmp_path / "my" / "book.txt").write_text("e4")
    (tmp_path / "my" / "data").mkdir()
    (tmp_path / "my" / "data" / "end.bin").write_text("")
    (tmp_path / "my" / "tricks.py").write_text("")
    (tmp_path / "secret.txt").write_text("")
    return tmp_path / "my"


def advised(folder: Path, said: str, *, is_sandbox: bool = True, python: str = "/usr/bin/python3") -> str:
    program = Program((python, "bot_1.py"), str(folder), {}, "my/bot_1.py", (Piece(str(folder / "bot_1.py"), "bot_1.py"),))
    return advice(program, f"loading\n{said}\n", is_sandbox=is_sandbox).text


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'book.txt'", "book.txt"),
        ("FileNotFoundError: [Errno 2] No such file or directory: './data/end.bin'", "data/end.bin"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/bot/book.txt'", "book.txt"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'my/book.txt'", "book.txt"),
        ("ModuleNotFoundError: No module named 'tricks'", "tricks"),
        ("ModuleNotFoundError: No module named 'data.x'", "data"),
        ("Error: ENOENT: no such file or directory, open 'book.txt'", "book.txt"),
        ("Error: Cannot find module './tricks.py'", "tricks.py"),
        ("java.io.FileNotFoundException: book.txt (No such file or directory)", "book.txt"),
        ('Exception in thread "main" java.nio.file.NoSuchFileException: book.txt', "book.txt"),
    ],
)
def test_what_lies_beside_a_file_comes_with_its_folder(folder: Path, said: str, missing: str) -> None:
    assert advised(folder, said) == (
        f"In isolation a bot that is named by its file brings that file alone; name its folder to bring {missing} along, "
        "with the program in it called main.py"
    )


@pytest.mark.parametrize("name", ["nothing.txt", "../secret.txt", "/etc/passwd", "data/../../secret.txt", "book.txt/x", "x" * 5_000, "."])
def test_nothing_is_told_of_files_elsewhere(folder: Path, name: str) -> None:
    said = f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'"
    assert advised(folder, said) == "In isolation a bot sees its own files alone, in /bot"


@pytest.mark.parametrize("is_sandbox", [True, False])
def test_a_package_is_installed_for_the_python_that_runs_the_bot(folder: Path, is_sandbox: bool) -> None:
    said = advised(folder, "ModuleNotFoundError: No module named 'numpy.linalg'", is_sandbox=is_sandbox)
    assert said == "It runs on /usr/bin/python3, which has no module numpy; try: /usr/bin/python3 -m pip install numpy"


def test_a_recorded_text_names_no_folder_of_a_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others read the replay. A Python on the PATH or below the current folder is named so that its author can use the command."""
    python = folder / "home/.pyenv/bin/python3"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    said = "ModuleNotFoundError: No module named 'numpy'"
    program = Program((str(python), "bot.py"), str(folder), dict(os.environ), "bot", (Piece(str(folder / "bot.py"), "bot.py"),))

    def told(home: Path, text: str = said) -> str:
        return advice(program._replace(home=str(home)), text, is_sandbox=False).text

    monkeypatch.setenv("PATH", "/usr/bin")
    assert told(folder / "run") == "It runs on a Python of its own, which has no module numpy; install it for that one"
    assert told(folder / "home") == "It runs on .pyenv/bin/python3, which has no module numpy; try: .pyenv/bin/python3 -m pip install numpy"
    monkeypatch.setattr(runtime, "OWN_PYTHON", str(python))
    sdk = told(folder / "run", "ModuleNotFoundError: No module named 'sdk'")
    assert sdk == "It runs on a Python of its own, which has no module sdk; name the .py file without an interpreter"
    monkeypatch.setenv("PATH", f"{python.parent}:/usr/bin")
    assert told(folder / "run") == "It runs on python3, which has no module numpy; try: python3 -m pip install numpy"


def test_the_sdk_is_not_installed_from_elsewhere(folder: Path) -> None:
    said = advised(folder, "ModuleNotFoundError: No module named 'sdk'")
    assert f"write {runtime.OWN_PYTHON} instead, or name the .py file without an interpreter" in said
    assert "pip" not in said


@pytest.mark.parametrize("is_sandbox", [False, True])
@pytest.mark.parametrize("named", ["gameserver", "gameserver and diagonal"])
def test_a_bot_of_other_rules_is_told_how_to_choose_them(named: str, is_sandbox: bool, folder: Path) -> None:
    said = f"Mine plays the rules {named}, but was asked to play classic"
    assert advised(folder, said, is_sandbox=is_sandbox) == "Let it play its own rules; try: --rules gameserver"


def test_a_runtime_that_wants_a_timer_is_told_to_do_without(folder: Path) -> None:
    said = (
        "bot: internal error: timerfd_create: Operation not permitted\n(GHC version 9.0.2 for x86_64_unknown_linux)\n"
        "Please report this as a GHC bug:  https://www.haskell.org/ghc/reportabug"
    )
    assert advised(folder, said) == (
        "In isolation a bot can't make file descriptors of timers; "
        "a Haskell program doesn't need them if it is linked with -with-rtsopts=-V0"
    )
    assert advised(folder, said, is_sandbox=False) == ""


@pytest.mark.parametrize("said", ["ModuleNotFoundError: No module named 'tkinter'", "IndexError: list index out of range", ""])
def test_what_needs_no_advice_gets_none(folder: Path, said: str) -> None:
    assert advised(folder, said) == ""
    assert advised(folder, "ModuleNotFoundError: No module named 'numpy'", python="/usr/bin/perl") == ""


def test_a_script_that_names_its_python(folder: Path) -> None:
    script = folder / "bot"
    script.write_text("#!/usr/bin/env python3\nimport numpy_of_nobody\n")
    script.chmod(0o755)
    program = Program((str(script),), str(folder), dict(os.environ), "bot", (Piece(str(script), "bot"),))
    text = "ModuleNotFoundError: No module named 'numpy_of_nobody'"
    assert f"It runs on {shutil.which('python3')}, which" in advice(program, text, is_sandbox=False).text
    assert f"It runs on {runtime.OWN_PYTHON}, which" in advice(program, text, is_sandbox=True).text


def test_a_folder_does_as_the_advice_says(best: Isolation, folder: Path) -> None:
    alone = play_match("my/bot_1.py", "still", options=Options(PATIENT, isolation=best), max_steps=5)
    assert alone.faults["hunter"].text == (
        "The hunter (my/bot_1.py) exited with status 1: FileNotFoundError: [Errno 2] No such file or directory: 'book.txt', "
        "at my/bot_1.py:5 in begin. In isolation a bot that is named by its file brings that file alone; name its folder to bring "
        "book.txt along, with the program in it called main.py."
    )
    assert 'File "my/bot_1.py", line 5, in begin' in alone.faults["hunter"].to_json()["detail"]["stderr"]
    log = alone_log(folder, best)
    assert 'File "my/bot_1.py", line 5' in log
    assert '"/bot/' not in log
    (folder / "bot_1.py").rename(folder / "main.py")
    assert not play_match("my", "still", options=Options(PATIENT, isolation=best), max_steps=5).faults


def alone_log(folder: Path, best: Isolation) -> str:
    """The log of such a bot. The replay counts the bytes that it has."""
    replay = folder.parent / "x.replay.jsonl.gz"
    play_match("my/bot_1.py", "still", options=Options(PATIENT, isolation=best), replay=replay)
    log = (folder.parent / "hunter.log").read_bytes()
    (fault,) = verify(replay).faults
    assert fault["log"] == {"hunter": len(log)}
    return log.decode()


def test_a_crash_in_a_folder(best: Isolation, folder: Path) -> None:
    (folder / "hunter.py").write_text("from tricks import play\nplay()\n")
    (folder / "tricks.py").write_text("def play():\n    return [][1]\n")
    result = play_match("my", "still", options=Options(PATIENT, isolation=best))
    assert result.faults["hunter"].text.endswith("status 1: IndexError: list index out of range, at my/tricks.py:2 in play.")


JAVA = """\
public class Bot {
    public static void main(String[] words) {
        throw new IllegalStateException("it runs");
    }
}
"""


def test_java_is_told_its_class_path(best: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(shutil.which("javac") is not None, "javac is missing")
    (tmp_path / "classes").mkdir()
    monkeypatch.chdir(tmp_path / "classes")

    def said(player: str) -> str:
        return play_match(player, "still", options=Options(PATIENT, isolation=best)).faults["hunter"].text

    assert said("java Bot").endswith(
        f'There is no Bot.class in {tmp_path / "classes"}; name the folder that holds it: "java -cp FOLDER Bot".'
    )
    Path("Bot.java").write_text(JAVA)
    assert said("java Bot").endswith('There is Bot.java, but no Bot.class; compile it (javac Bot.java), then write: "java -cp . Bot".')
    subprocess.run(["javac", "Bot.java"], check=True, timeout=120)
    assert said("java Bot").endswith('name the folder of the class: "java -cp . Bot".')
    assert said("java -cp . Bot").endswith("status 1: java.lang.IllegalStateException: it runs, at Bot.java:3 in Bot.main.")
    assert said("java -cp . Bott").endswith(
        "There is no Bott.class in the folders of its class path; compile it, and name the folder that holds it."
    )
