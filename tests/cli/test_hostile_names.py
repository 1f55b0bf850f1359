"""Names of files that try to write to a terminal: every command that prints a name shows it escaped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match

from example_bots.evasion import straight

if TYPE_CHECKING:
    from commands import Commands

#: It would color the text, turn what follows and begin a line that looks like one of the referee's own.
NAME = "red\x1b[31m\u202e\nreferee: ok"
SHOWN = "red\\x1b[31m\\u202e"
BOT, REPLAY, FOLDER, MISSING = f"{NAME}.py", f"{NAME}.replay.jsonl.gz", f"{NAME}.folder", f"{NAME}.missing"

COMMANDS = [
    ("play", MISSING, "runner"),
    ("play", "--match", MISSING),
    ("play", "boxer", "runner", "--from", f"{REPLAY}@999999"),
    ("play", f"--{NAME}"),
    ("league", NAME),
    ("league", "run", f"--{NAME}"),
    ("check", BOT, "--only", "ready", "--isolation", "none"),
    ("check", MISSING),
    ("compare", BOT, MISSING),
    ("show", REPLAY, "--step", "99999"),
    ("show", MISSING),
    ("verify", REPLAY, MISSING),
    ("analyze", MISSING),
    ("rerun", REPLAY, MISSING),
    ("debug", MISSING, BOT),
    ("watch", MISSING),
    ("watch", REPLAY, "--export", f"{FOLDER}/no/page.html"),
    ("explain", NAME),
    ("games", NAME),
    ("new", "hunter", FOLDER),
    ("league", "run", FOLDER),
    ("league", "run", MISSING),
    ("league", "standings", FOLDER),
    ("grade", "run", FOLDER, "--rubric", MISSING),
    ("grade", "check-rubric", MISSING),
    ("league", "starts", MISSING),
    ("arena", "standings", FOLDER),
    (NAME,),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bot, a replay and a folder of bots that have the name."""
    place = tmp_path_factory.mktemp("names")
    (place / FOLDER).mkdir()
    for where in (place, place / FOLDER):
        shutil.copy(Path(straight.__file__), where / BOT)
    play_match("straight", "runner", replay=place / REPLAY, max_steps=20)
    return place


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(NAME, "NAME"))
def test_no_command_prints_a_name_raw(words: tuple[str, ...], files: Path, commands: Commands) -> None:
    done = commands.run(*words, cwd=files)
    for text in (done.stdout, done.stderr):
        assert all(line.isprintable() for line in text.splitlines()), text
        assert not any(line.startswith("referee: ok") for line in text.splitlines()), text
    assert SHOWN in done.stdout + done.stderr
