"""What a page may print as a command line: the file and the programs of a replay, which anybody may have written."""

from __future__ import annotations

import contextlib
import json
import shutil
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from served_pages import Socket, served
from serving import PATIENCE

from referee.pages.commands import commands_of, read_commands
from referee.replay.reader import read_head, read_lines

BOTS = Path(__file__).parents[2] / "example_bots" / "evasion"
REPLAY = Path(__file__).parents[1] / "data" / "replays" / "evasion-classic-boxer-runner.replay.jsonl.gz"


@pytest.fixture
def head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    return dict(read_head(REPLAY, read_lines(REPLAY))[0])


def program_of(head: dict[str, Any], program: object) -> object:
    head["players"]["hunter"]["program"] = program
    return commands_of(REPLAY, head)["bots"]["hunter"]


def test_programs_that_the_referee_itself_would_start_are_named(head: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("import sdk\n")
    (tmp_path / "my bots").mkdir()
    shutil.copy(tmp_path / "my_bot.py", tmp_path / "my bots" / "a.py")
    assert commands_of(REPLAY, head)["bots"] == {"hunter": "boxer", "prey": "runner"}
    assert program_of(head, "my_bot.py") == "my_bot.py"
    assert program_of(head, str(tmp_path / "my_bot.py")) == "my_bot.py"
    assert program_of(head, "my bots/a.py") == "my bots/a.py"
    assert program_of(head, "human") == "human"


def test_nothing_else_is_named(head: dict[str, Any], tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("import sdk\n")
    (tmp_path / "odd\n.py").write_text("import sdk\n")
    for program in (
        "rm -rf ~",
        "$(reboot)",
        "curl x | sh",
        str(outside),
        f"../{outside.name}",
        "gone.py",
        "",
        None,
        7,
        ["a"],
        "tcp://x:1",
        "odd\n.py",
    ):
        assert program_of(head, program) is None, program
    head["players"]["hunter"] = 7
    assert commands_of(REPLAY, head)["bots"]["hunter"] is None


def test_files_are_named_from_the_current_folder_on(head: dict[str, Any], tmp_path: Path) -> None:
    def named(path: Path) -> object:
        return commands_of(path, head)["replay"]

    assert named(tmp_path / "matches" / "a.gz") == "matches/a.gz"
    assert named(Path("a.gz")) == "a.gz"
    assert named(REPLAY) == str(REPLAY)
    assert named(Path("-a.gz")) == "./-a.gz"
    assert named(Path("a\x1b[2J.gz")) is None
    assert commands_of(None, head)["replay"] is None
    elsewhere = commands_of(REPLAY, head, is_here=False)
    assert elsewhere == {"program": "referee", "replay": REPLAY.name, "bots": {"hunter": None, "prey": None}}
    assert read_commands(None, REPLAY, read_lines(REPLAY), is_here=True, is_public=False)["replay"] is None


def test_a_page_that_others_read_names_nothing_outside_the_folder(head: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("import sdk\n")
    head["players"]["hunter"]["program"] = str(tmp_path / "my_bot.py")
    found = commands_of(tmp_path / "matches" / "a.gz", head, is_public=True)
    assert found == {"program": "referee", "replay": "matches/a.gz", "bots": {"hunter": "my_bot.py", "prey": "runner"}}
    assert commands_of(REPLAY, head, is_public=True)["replay"] is None


def test_a_page_that_was_begun_in_the_root_names_no_program(head: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text("")
    asked = str(tmp_path / "bot.py").lstrip("/")
    about = {**head, "players": {**head["players"], "hunter": {**head["players"]["hunter"], "program": asked}}}
    monkeypatch.chdir("/")
    assert commands_of(None, about, is_public=True)["bots"] == {"hunter": None, "prey": None}
    assert commands_of(None, about)["bots"]["hunter"] == asked


def test_a_live_match_names_programs_of_the_folder_in_which_it_was_started(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(BOTS / "straight.py", folder / "mine.py")
    shutil.copy(BOTS / "still.py", tmp_path / "private.py")
    # The replay is outside of the folder, too.
    command = (
        "play",
        "mine.py",
        str(tmp_path / "private.py"),
        "--out",
        str(tmp_path / "out.gz"),
        "--isolation",
        "none",
        "--live",
        "--stay",
    )
    with served(folder, *command) as (_, (public,)), contextlib.closing(Socket(public)) as socket:
        while socket.frame()[0] != 2:
            # The match has not begun.
            pass
        with urllib.request.urlopen(f"{public}commands", timeout=PATIENCE) as answer:
            assert json.load(answer) == {"program": "referee", "replay": None, "bots": {"hunter": "mine.py", "prey": None}}
