"""referee watch with folders, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from leagues import open_new
from serving import PATIENCE

from referee.league.league import open_league

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]

GOOD = Path(__file__).parents[1] / "data" / "replays" / "maze-dasher-hard.replay.jsonl.gz"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("",), "Invalid value for 'REPLAY|FOLDER': it is empty; name a file or a folder."),
        (("good.gz", "good.gz"), "unexpected extra argument"),
        (("good.gz", "--projector"), "--projector shows the matches of a folder; name a folder"),
        (("missing", "--projector"), "missing can't be read: No such file or directory."),
        (("empty", "--export", "page.html"), "--export is for one replay"),
        (("empty", "--step", "3"), "--step is for one replay"),
        (("junk.gz",), "junk.gz is not a replay: not gzip, or damaged"),
        (("pipe.gz",), "pipe.gz can't be read: it is not an ordinary file"),
        (("missing",), "missing can't be read: No such file or directory"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_shown_is_refused(words: tuple[str, ...], said: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "junk.gz").write_bytes(b"junk")
    os.mkfifo(tmp_path / "pipe.gz")
    shutil.copy(GOOD, tmp_path / "good.gz")
    done = referee("watch", *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("words", [("folder",), ("folder", "--projector")], ids=" ".join)
def test_ctrl_c_ends_the_page(words: tuple[str, ...], commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    shutil.copy(GOOD, tmp_path / "folder" / "good.gz")
    # What is no league, though it looks like one, doesn't stop the page.
    (tmp_path / "folder" / "league.sqlite").write_text("no database")
    process = commands.start("watch", *words, "--port", "0", "--no-browser", cwd=tmp_path)
    address = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{22}/(projector|)", address)
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        assert answer.status == 200
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(PATIENCE)
    assert process.returncode == 0, err
    assert "Ctrl-C ends the page." in err
    assert "note: the standings can't be shown" in err


@pytest.mark.parametrize("words", [("empty",), ("empty", "--projector")], ids=" ".join)
def test_an_empty_folder_is_served_and_filled(words: tuple[str, ...], commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    process = commands.start("watch", *words, "--port", "0", "--no-browser", cwd=tmp_path)
    assert process.stderr.readline().startswith(
        "note: empty has no replays yet (files whose names end in .gz); the page lists each one that comes. Play a match into it: "
    )
    address = process.stdout.readline().strip().removesuffix("projector")
    shutil.copy(GOOD, tmp_path / "empty" / "good.gz")
    entries: list[Any] = []
    while not entries:
        with urllib.request.urlopen(f"{address}list?from=0", timeout=PATIENCE) as answer:
            entries = json.load(answer)["entries"]
    assert entries[0][1]["name"] == "good.gz"
    os.kill(process.pid, signal.SIGINT)
    process.communicate(PATIENCE)


def test_the_standings_of_a_league_are_read(tmp_path: Path) -> None:
    open_new(tmp_path).close()
    with contextlib.closing(open_league(tmp_path / "out")) as opened:
        shown = opened.shown()
    assert (shown.name, shown.done, shown.total) == ("test", 0, 12)
    assert sorted(row.team for row in shown.rows) == ["T0", "T1", "T2", "T3"]
