"""An empty path, which an unset variable of a shell leaves, is no name of the current folder; an output needs a name; machines hear of SIGTERM."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

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
        ("new", "hunter", ""),
        ("new", "hunter", "", "--folder"),
        ("export", "a.replay.jsonl.gz", "--html", "--out", ""),
        ("serve", "architect", "--out", ""),
    ],
)
def test_an_empty_path_is_refused_and_nothing_is_written(words: tuple[str, ...], referee: Cli, tmp_path: Path) -> None:
    done = referee(*words, "--json")
    assert (done.returncode, "it is empty; name a file or a folder" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("grade", "gradescope", "rubric-evasion.toml", "--out", "x/"),
        ("grade", "gradescope", "rubric-evasion.toml", "--out", "/"),
        ("export", "a.replay.jsonl.gz", "--html", "--out", "x.html/"),
        ("watch", "a.replay.jsonl.gz", "--export", "x.html/"),
        ("debug", "a.replay.jsonl.gz", "boxer", "--as-test", "x.py/"),
        ("new", "hunter", "x/"),
    ],
)
def test_a_slash_at_the_end_makes_no_file(words: tuple[str, ...], referee: Cli, tmp_path: Path) -> None:
    assert referee("grade", "init").returncode == 0
    assert referee("play", "boxer", "runner", "--max-steps", "3", "--out", "a.replay.jsonl.gz").returncode == 0
    done = referee(*words)
    assert (done.returncode, "name a file" in " ".join(done.stderr.split())) == (2, True), done.stderr
    assert not list(tmp_path.glob("x*"))


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder that even this user can't write to."""
    folder = Path("/sys") if os.geteuid() == 0 else tmp_path / "closed"
    folder.mkdir(mode=0o555, exist_ok=True)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("play", "boxer", "runner", "--games", "2", "--max-steps", "3", "--out", "."),
        ("play", "boxer", "runner", "--max-steps", "3", "--out", "."),
        ("compare", "boxer", "straight", "--duels", "1", "--max-steps", "3", "--out", "."),
        ("debug", "{replay}", "boxer", "--as-test", "test_it.py"),
        ("grade", "init"),
        ("new", "hunter"),
    ],
    ids=" ".join,
)
def test_a_folder_that_cant_be_written_is_a_wrong_use(
    words: tuple[str, ...], closed: Path, referee: Cli, commands: Commands, tmp_path: Path
) -> None:
    replay = tmp_path / "a.replay.jsonl.gz"
    assert referee("play", "boxer", "runner", "--max-steps", "3", "--out", replay).returncode == 0
    done = commands.run(*(word.format(replay=replay) for word in words), cwd=closed)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


def test_a_bot_that_never_starts_ends_many_games_as_one(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("raise SystemExit(3)\n")
    for words in ((), ("--games", "2")):
        done = referee("play", "ends.py", "runner", *words, "--json")
        assert done.returncode == 3, done.stderr
    assert [game["started"] for game in json.loads(done.stdout)["results"]] == [False, False]


def test_spaces_around_a_name_belong_to_it_where_there_is_such_a_file(referee: Cli, tmp_path: Path) -> None:
    assert referee("new", "hunter", "hunter.py").returncode == 0
    for name in (" .py", "hunter.py "):
        (tmp_path / "hunter.py").replace(tmp_path / name)
        done = referee("play", name, "runner", "--max-steps", "3")
        assert done.returncode == 0, done.stderr
        (tmp_path / name).replace(tmp_path / "hunter.py")
    assert referee("play", " hunter.py ", "runner", "--max-steps", "3").returncode == 0


def test_too_long_a_name_is_a_wrong_use(referee: Cli) -> None:
    for words in (("play", "x" * 300 + ".py", "runner"), ("arena", "new", "x" * 300)):
        done = referee(*words)
        assert (done.returncode, "File name too long" in done.stderr) == (2, True), done.stderr


def test_a_terminated_match_tells_machines_so(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text("import sys\nsys.stdin.read()\n")
    playing = commands.start("play", "silent.py", "silent.py", "--startup", "60", "--json", cwd=tmp_path)
    assert playing.stderr.readline()
    playing.send_signal(signal.SIGTERM)
    told, _ = playing.communicate(60)
    assert (playing.returncode, json.loads(told)) == (143, {"error": "Interrupted.", "exit_code": 143})
