"""What a bot brings along, and what is refused by name."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.errors import PlayerError
from referee.isolation import submission
from referee.isolation.names import own_prefix
from referee.isolation.submission import Piece

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.level import Level

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bot"
    (made / "lib" / "deep").mkdir(parents=True)
    (made / "bot.py").write_text("print('bot')")
    (made / "run").write_text("#!/bin/sh\n")
    (made / "run").chmod(0o755)
    (made / "lib" / "deep" / "data.bin").write_bytes(bytes(range(256)))
    return made


def copied(folder: Path) -> Path:
    return Path(submission.copy((Piece(str(folder), ""),), "bot").folder)


def test_a_folder_is_copied_whole_and_its_place_is_not_told(folder: Path) -> None:
    (folder / "link").symlink_to("lib/deep/data.bin")
    (folder / "lib" / "up").symlink_to("../bot.py")
    (folder / "whole").symlink_to(folder / "lib", target_is_directory=True)
    target = copied(folder)
    try:
        assert {str(path.relative_to(target)) for path in target.rglob("*")} >= {
            "bot.py",
            "run",
            "lib/deep/data.bin",
            "link",
            "lib/up",
            "whole",
        }
        assert (target / "link").read_bytes() == bytes(range(256))
        assert (target / "lib" / "up").read_text() == "print('bot')"
        assert os.readlink(target / "whole") == "lib"
        assert os.access(target / "run", os.X_OK)
        assert not os.stat(target / "bot.py").st_mode & 0o277
        assert "bot" not in target.name
    finally:
        submission.remove(str(target))
    assert not target.exists()


def bad_link(folder: Path) -> None:
    (folder / "out").symlink_to("/etc/passwd")


def bad_relative_link(folder: Path) -> None:
    (folder / "lib" / "out").symlink_to("../../other")
    (folder.parent / "other").write_text("")


def bad_chain(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("../..")


def broken_link(folder: Path) -> None:
    (folder / "broken").symlink_to("nowhere")


def loop(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "lib" / "fifo")


def listening(folder: Path) -> None:
    here = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as named:
            named.bind("socket")
    finally:
        os.chdir(here)


def many(folder: Path) -> None:
    for number in range(100):
        (folder / f"{number}").write_text("")


def deep(folder: Path) -> None:
    for _ in range(60):
        folder = folder / "a"
        folder.mkdir()


REFUSED = {
    "more than 50 folders in one another": deep,
    "a link that leaves it: 'out' points to '/etc/passwd'": bad_link,
    "a link that leaves it: 'lib/out' points to '../../other'": bad_relative_link,
    "a link that leaves it: ": bad_chain,
    "a broken link: 'broken' points to 'nowhere'": broken_link,
    "a broken link: 'loop'": loop,
    "a FIFO: 'lib/fifo'": fifo,
    "a socket: 'socket'": listening,
    "more than 90 files": many,
}


def test_the_order_of_a_folder_is_not_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{number}.py" for number in range(20)]
    for name in reversed(names):
        (folder / name).touch()
    opened: list[str] = []
    original = os.open

    def noted(name: Any, *given: Any, **more: Any) -> int:
        if "dir_fd" in more:
            opened.append(str(name))
        return original(name, *given, **more)

    monkeypatch.setattr(os, "open", noted)
    target = copied(folder)
    submission.remove(str(target))
    assert [name for name in opened if name in names] == sorted(names)


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_may_not_come_along_is_refused_by_name(sentence: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MOST_FILES", 90)
    REFUSED[sentence](folder)
    (folder.parent / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder.parent / "tmp"))
    with pytest.raises(PlayerError) as raised:
        copied(folder)
    assert sentence in str(raised.value)
    assert raised.value.exit_code == 2
    assert not os.listdir(folder.parent / "tmp"), "the half of a copy is removed"


def test_too_much_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MOST_BYTES", 100)
    with pytest.raises(PlayerError, match="more than 0 MiB"):
        copied(folder)


@pytest.mark.parametrize("wish", ["strict", "auto"])
def test_on_the_command_line_each_is_a_sentence_and_exit_2(wish: str, best: Level, folder: Path, referee: Cli) -> None:
    (folder / "out").symlink_to("/etc/passwd")
    done = referee("play", folder, "still", "--isolation", wish)
    assert done.returncode == 2
    assert done.stderr == "referee: The bot './bot' has a link that leaves it: 'out' points to '/etc/passwd'; put a copy there.\n"
    (folder / "out").unlink()
    (folder / "bot.py").unlink()
    (folder / "bot.py").symlink_to("/etc/hostname")
    done = referee("play", folder, "still", "--isolation", wish)
    assert done.returncode == 2
    assert "has its program outside its folder: 'bot.py' points to '/etc/hostname'" in done.stderr


def test_a_command_line_in_an_odd_folder_is_told_to_take_a_folder_of_its_own(best: Level, folder: Path, referee: Cli) -> None:
    os.mkfifo(folder / "pipe")
    done = referee("play", f"sh -c true {folder}", "still", "--isolation", "strict")
    assert done.returncode == 2
    assert "The bot 'sh -c true" in done.stderr
    assert done.stderr.endswith("pipe'; take it out, or give the bot a folder of its own.\n")


@pytest.mark.soak
def test_a_folder_with_100_000_files(best: Level, folder: Path, referee: Cli) -> None:
    for number in range(100_000):
        os.close(os.open(folder / "lib" / str(number), os.O_CREAT | os.O_WRONLY))
    done = referee("play", folder, "still", "--isolation", "strict")
    assert done.returncode == 2
    assert "has more than 10,000 files; put the bot's own files into a folder of their own." in done.stderr


def test_a_folder_of_a_killed_referee_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine, left, elsewhere = f"{own_prefix(os.getpid())}-abc", f"{own_prefix(gone.pid)}-abc", f"referee-{gone.pid}-77-abc"
    for name in (mine, left, elsewhere, "referee-cores", "referee-notes"):
        (tmp_path / name / "inner").mkdir(parents=True)
    submission.sweep()
    assert sorted(os.listdir(tmp_path)) == sorted([mine, elsewhere, "referee-cores", "referee-notes"])


def test_a_player_that_is_a_link_to_elsewhere(best: Level, folder: Path, tmp_path: Path, referee: Cli) -> None:
    (folder / "same.py").symlink_to("bot.py")
    (folder / "bot.py").write_text(
        "from sdk import PreyBot\nclass Still(PreyBot):\n    def flee(self, state):\n        pass\nStill.main()\n"
    )
    assert referee("play", "straight", folder / "same.py", "--max-steps", "2", "--isolation", "strict").returncode == 0
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "bot.py").symlink_to(folder / "bot.py")
    (tmp_path / "another" / "words.txt").symlink_to("/etc/shadow")
    for player in (tmp_path / "another" / "bot.py", "python3 another/words.txt"):
        done = referee("play", "straight", player, "--isolation", "strict")
        assert done.returncode == 2
        assert "is a link that leaves its folder" in done.stderr
        assert "name the file itself" in done.stderr
