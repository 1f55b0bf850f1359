"""Exported pictures: a headless Chromium draws what bots say and draw, and refused moves. All of it may be hostile."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from PIL import Image
from recorded_games import records
from sandboxes import need
from typer.testing import CliRunner

import referee.cli.watch  # noqa: F401 - registers the commands
from referee.cli.app import app
from referee.pages import browser, pictures

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

REPLAYS = Path(__file__).parents[1] / "data" / "replays"
RECORDED = sorted(REPLAYS.glob("*.replay.jsonl.gz"))


@pytest.fixture
def has_browser() -> None:
    need(browser.of_system() is not None, "chromium is missing")


needs_browser = pytest.mark.usefixtures("has_browser")


def replay(name: str) -> Path:
    return REPLAYS / f"{name}.replay.jsonl.gz"


def colors(data: bytes) -> set[tuple[int, int, int]]:
    with Image.open(io.BytesIO(data)) as picture:
        data = picture.convert("RGB").tobytes()
    return set(zip(data[::3], data[1::3], data[2::3], strict=True))


@needs_browser
def test_a_picture_shows_what_bots_draw_and_refused_walls() -> None:
    early, drawn, refused = (colors(pictures.png(replay("evasion-gameserver-trapped"), turn, 640)) for turn in (2, 7, 127))

    def has_red_cell(found: set[tuple[int, int, int]]) -> bool:
        return any(red > 230 and 120 < green < 200 and abs(green - blue) < 12 for red, green, blue in found)

    assert (has_red_cell(drawn), has_red_cell(early)) == (True, False), "the board shows through it"
    cross = (168, 64, 127)
    assert (cross in refused, cross in early) == (True, False)


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if number % 6 == 0 else [pytest.mark.soak], id=path.name.removesuffix(".replay.jsonl.gz"))
        for number, path in enumerate(RECORDED)
    ],
)
def test_every_recorded_match_has_a_picture_of_its_end(path: Path) -> None:
    """On a board of any shape."""
    data = pictures.png(path, records(path)[-1]["steps"], 320)
    with Image.open(io.BytesIO(data)) as picture:
        assert abs(picture.width - 320) <= 1
        assert picture.info["Software"] == "referee"
    assert len(colors(data)) > 10


HOSTILE: list[Any] = [
    None, 7, "x", [], {"say": 7, "draw": 7}, {"say": "", "draw": [None, 7, [], {}]},
    {"say": "<script>alert(1)</script>\x1b[2J\u202e" + "x" * 10_000},
    {"draw": [{"shape": "line", "start": [0, 0], "end": [1e300, 0]}, {"shape": "line", "start": [0], "end": [1, "1"]}]},
    {"draw": [{"shape": "rect", "start": [True, 0], "end": [0, 0]}, {"shape": "rect", "start": [3, 9], "end": [1, 2], "color": 'red" onload="x'}]},
    {"draw": [{"shape": "text", "at": [5, 5], "text": ["<b>"], "color": "#12345"}, {"shape": "text", "at": [-5, 900], "text": "\x00", "color": "nocolor"}]},
    {"draw": [{"shape": "cells", "cells": [[1, 1], 7, [2], [1e99, 1]], "color": "#f00"}]},
]  # fmt: skip


@needs_browser
def test_hostile_names_and_remarks_do_no_harm(tmp_path: Path) -> None:
    lines = records(replay("evasion-classic-boxer-runner"))
    lines[0]["players"]["hunter"]["name"] = "</script><img src=http://127.0.0.1/>\u202e"
    for line, remark in zip(lines[1:], HOSTILE, strict=False):
        line["remarks"] = {"hunter": remark, "stranger": remark}
    file = tmp_path / "hostile.replay.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    moving = pictures.gif(file, range(len(HOSTILE) + 2), 200)
    with Image.open(io.BytesIO(moving)) as picture:
        assert (abs(picture.width - 200) <= 1, picture.info["comment"]) == (True, b"referee")


@needs_browser
def test_the_browser_is_in_its_sandbox_offline_and_never_root() -> None:
    with browser.browser(offline=True) as context:
        page = context.new_page()
        page.set_content("<title>here</title>")
        assert page.title() == "here"
        assert page.evaluate("navigator.onLine") is False

        def words(process: psutil.Process) -> list[str]:
            # A process may end between two looks at it.
            try:
                return process.cmdline()
            except psutil.Error:
                return []

        ours = [one for one in psutil.Process().children(recursive=True) if "--type=renderer" in " ".join(words(one))]
        assert ours
        for process in ours:
            status = Path(f"/proc/{process.pid}/status").read_text()
            assert "\nSeccomp:\t2\n" in status, "no filter of system calls"
        family = [one for process in ours for one in (process, *process.parents()) if "--user-data-dir" in " ".join(words(one))]
        assert family
        for process in family:
            assert "--no-sandbox" not in words(process)
            assert process.uids().real != 0
        users = {process.uids().real for process in ours}
    left = [
        one
        for one in psutil.process_iter(["uids", "status"])
        if one.info["uids"].real in users and one.info["status"] != psutil.STATUS_ZOMBIE
    ]
    assert os.geteuid() != 0 or not left


@needs_browser
@pytest.mark.parametrize(("name", "start"), [("x.html", b"<!doctype"), ("x.PNG", b"\x89PNG"), ("x.gif", b"GIF8")])
def test_the_form_of_an_export_follows_from_its_name(name: str, start: bytes, tmp_path: Path, referee: Cli) -> None:
    done = referee("export", replay("evasion-diagonal-caught"), "--out", name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes().lower().startswith(start.lower())


def test_a_machine_without_a_browser_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(browser, "of_system", lambda: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    done = CliRunner().invoke(app, ["export", str(replay("evasion-diagonal-caught")), "--png"])
    assert done.exit_code == 2
    assert done.stderr.startswith("referee: This machine has no Chromium or Chrome, which draws the pictures; install one, or run: ")
    assert done.stderr.endswith("-m playwright install chromium\n")
    assert not list(tmp_path.iterdir())


def test_a_browser_that_does_not_start_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(browser, "of_system", lambda: "/bin/false")
    done = CliRunner().invoke(app, ["export", str(replay("evasion-diagonal-caught")), "--png"])
    assert done.exit_code == 2
    assert done.stderr == "referee: /bin/false can't be started\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's browser is another user")
def test_root_is_told_of_a_browser_that_no_other_user_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "chromium"
    program.touch(0o700)
    monkeypatch.setattr(browser, "of_system", lambda: str(program))
    done = CliRunner().invoke(app, ["export", str(replay("evasion-diagonal-caught")), "--png"])
    assert done.exit_code == 2
    assert f"which can't read {program}; install Chromium or Chrome for all users." in done.stderr
    assert not list(tmp_path.glob("*.png"))
