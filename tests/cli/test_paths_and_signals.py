"""An empty path, which an unset variable of a shell leaves, is no name of the current folder; an output needs a name; machines hear of SIGTERM."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    "words",
    [
        ("play", "boxer", "runner", "--out", ""),
        ("play", "boxer", "runner", "--games", "2", "--out", ""),
        ("play", "boxer", "runner", "--match", ""),
        ("duel", "boxer", "straight", "--out", ""),
        ("compare", "boxer", "straight", "--out", ""),
        ("submit", "http://127.0.0.1:1", "", "--token", "T"),
        ("grade", "run", ""),
        ("grade", "run", ".", "--out", ""),
        ("grade", "run", ".", "--rubric", ""),
        ("grade", "check-rubric", ""),
        ("league", "run", ""),
        ("league", "run", ".", "--out", ""),
        ("verify", ""),
        ("export", "a.replay.jsonl.gz", "--html", "--out", ""),
        ("serve", "architect", "--out", ""),
    ],
)
def test_an_empty_path_is_refused_and_nothing_is_written(words: tuple[str, ...], referee: Cli, tmp_path: Path) -> None:
    done = referee(*words, "--json")
    assert (done.returncode, "it is empty; name a file or a folder" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", [".", "/"])
def test_a_folder_is_no_name_of_a_new_file(out: str, referee: Cli, tmp_path: Path) -> None:
    assert referee("grade", "init").returncode == 0
    done = referee("grade", "gradescope", "rubric-evasion.toml", "--out", out)
    assert (done.returncode, done.stderr) == (
        2,
        f"referee: --out is {out!r}, but must be the name of a new file, such as autograder.zip.\n",
    )
    assert referee("play", "boxer", "runner", "--max-steps", "3", "--out", "a.replay.jsonl.gz").returncode == 0
    done = referee("debug", "a.replay.jsonl.gz", "boxer", "--as-test", out)
    assert (done.returncode, "must be the name of a new Python file" in done.stderr) == (2, True), done.stderr


def test_too_long_a_name_is_a_wrong_use(referee: Cli) -> None:
    for words in (("play", "x" * 300 + ".py", "runner"), ("arena", "new", "x" * 300)):
        done = referee(*words)
        assert (done.returncode, "File name too long" in done.stderr) == (2, True), done.stderr


def test_a_list_of_checks_for_a_game_that_there_is_not_is_refused(referee: Cli) -> None:
    done = referee("check", "--list", "--game", "nope")
    assert (done.returncode, done.stdout, "nope" in done.stderr) == (2, "", True), done.stderr


def test_a_terminated_match_tells_machines_so(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text("import sys\nsys.stdin.read()\n")
    playing = commands.start("play", "silent.py", "silent.py", "--startup", "60", "--json", cwd=tmp_path)
    assert playing.stderr.readline()
    playing.send_signal(signal.SIGTERM)
    told, _ = playing.communicate(60)
    assert (playing.returncode, json.loads(told)) == (143, {"error": "Interrupted.", "exit_code": 143})
