"""Files that would make a command wait forever, or take all memory: each is a sentence."""

from __future__ import annotations

import base64
import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match

from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = {
    "verify": ["verify"],
    "show": ["show"],
    "analyze": ["analyze"],
    "export": ["export", "--html"],
    "watch": ["watch", "--no-browser"],
    "match file": ["play", "still", "still", "--match"],
    "layout": ["play", "--game", "maze", "easy", "easy", "--layout"],
}


@pytest.mark.parametrize("what", ["fifo", "device", "socket"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_ordinary_file_is_refused(command: str, what: str, tmp_path: Path, referee: Cli) -> None:
    odd = tmp_path / "odd"
    if what == "fifo":
        os.mkfifo(odd)
    elif what == "device":
        odd = Path("/dev/zero")
    else:
        import socket

        here = os.getcwd()
        os.chdir(tmp_path)
        try:
            with socket.socket(socket.AF_UNIX) as named:
                named.bind("odd")
        finally:
            os.chdir(here)
    done = referee(*COMMANDS[command], odd, timeout=60)
    assert done.returncode in (1, 2), done.stderr
    assert "can't be read: " in done.stderr or "ordinary file" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    path = tmp_path / "match.replay.jsonl.gz"
    play_match("straight", "still", replay=path, max_steps=5)
    return path


def test_stdin_is_read_whatever_it_is(replay: Path) -> None:
    command = [sys.executable, "-m", "referee", "verify", "/dev/stdin"]
    through_a_pipe = subprocess.run(command, input=replay.read_bytes(), capture_output=True)
    with replay.open("rb") as file:
        from_a_file = subprocess.run(command, stdin=file, capture_output=True)
    for done in (through_a_pipe, from_a_file):
        assert done.returncode == 0, done.stderr
        assert b"good, 5 steps" in done.stdout


def test_a_damaged_page_is_a_sentence(replay: Path, tmp_path: Path, referee: Cli) -> None:
    page = tmp_path / "page.html"
    assert referee("export", "--html", replay, "--out", page).returncode == 0
    whole = page.read_bytes()
    start = whole.index(b'id="replay">') + len(b'id="replay">')
    end = whole.index(b"</script>", start)
    for text in (
        whole[start : end - 1],
        whole[start : end - 3] + b"=A=",
        b"A",
        base64.b64encode(b"no gzip"),
        base64.b64encode(gzip.compress(b"{")),
    ):
        page.write_bytes(whole[:start] + text + whole[end:])
        for command in ("watch", "export"):
            done = referee(command, page, *(["--no-browser"] if command == "watch" else ["--html", "--out", tmp_path / "x.html"]))
            assert done.returncode in (1, 2), (text[:20], done.stdout, done.stderr)
            assert done.stderr.startswith("referee: ")
            assert done.stderr.count("\n") == 1


def test_a_huge_page_takes_little_memory(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with page.open("wb") as file:
        file.write(b"<!doctype html>")
        for _ in range(700):
            file.write(b" " * (1 << 20))
    command = [sys.executable, "-m", "referee", "export", "--html", str(page), "--out", str(tmp_path / "x.html")]
    most = 600 << 20
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    assert done.returncode in (1, 2)
    assert "is not a replay" in done.stderr
    page.unlink()


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_replay_with_a_hole_without_end_is_a_sentence(command: str, replay: Path, referee: Cli) -> None:
    """Gzip allows zeros at the end."""
    os.truncate(replay, 8 << 40)
    done = referee(command, replay, timeout=60)
    assert done.returncode == 2
    assert "MiB of holes, so the referee did not write it" in done.stdout + done.stderr


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
