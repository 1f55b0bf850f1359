"""referee verify and show."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import HOSTILE, play_match

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replays") / "good.gz"
    play_match("boxer", "runner", replay=path)
    return path


def edited(good: Path, path: Path) -> Path:
    text = gzip.open(good).read().replace(b'"hunter":[20,20,1,1]', b'"hunter":[21,20,1,1]')
    path.write_bytes(gzip.compress(text))
    return path


def test_verify_reports_every_file_with_step_and_field(good: Path, tmp_path: Path, referee: Cli) -> None:
    bad = edited(good, tmp_path / "bad.gz")
    done = referee("verify", bad, tmp_path / "missing.gz", good)
    assert done.returncode == 1
    assert done.stdout == f"{good}: good, 297 steps\n1 of 3 replays are good, 1 wrong, 1 not read.\n"
    assert f"{tmp_path / 'missing.gz'} can't be read" in done.stderr
    assert f"{bad}: turn 19, field hunter: the replay says [21,20,1,1], the moves give [20,20,1,1]" in done.stderr
    report = json.loads(referee("verify", "--json", good, bad).stdout)
    assert report["ok"] is False
    assert [file["ok"] for file in report["files"]] == [True, False]
    assert (report["files"][1]["problem"]["kind"], report["files"][1]["problem"]["turn"]) == ("state", 19)


#: The commands that read a replay; REPLAY stands for its name. The first ones judge whether it holds.
JUDGES = (
    ("verify", "REPLAY"),
    ("show", "REPLAY"),
    ("show", "REPLAY", "--step", "3"),
    ("analyze", "REPLAY"),
    ("rerun", "REPLAY", "boxer", "--seat", "hunter"),
    ("debug", "REPLAY", "boxer", "--seat", "hunter"),
    ("play", "--from", "REPLAY@3", "boxer", "runner"),
)
SHOWS = (
    ("watch", "REPLAY", "--export", "page.html"),
    *(("export", "REPLAY", form, "--out", "made") for form in ("--html", "--png", "--gif")),
)


@pytest.mark.parametrize("name", ["missing.gz", "folder", "text.gz", "empty.gz", "other-game.gz"])
def test_what_is_no_replay_is_wrong_use_of_every_command(name: str, good: Path, tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.gz").write_text("hello")
    (tmp_path / "empty.gz").write_bytes(b"")
    other = gzip.open(good).read().replace(b'"game":"evasion"', b'"game":"chess"', 1)
    (tmp_path / "other-game.gz").write_bytes(gzip.compress(other))
    for words in (*JUDGES, *SHOWS):
        done = referee(*(word.replace("REPLAY", name) for word in words))
        assert done.returncode == 2, (words, done.stderr)
        assert done.stderr.startswith("referee: ")
        assert done.stderr.count("\n") == 1


def test_a_replay_that_does_not_hold_fails_every_command_that_judges_it(good: Path, tmp_path: Path, referee: Cli) -> None:
    edited(good, tmp_path / "bad.gz")
    for words in JUDGES:
        done = referee(*(word.replace("REPLAY", "bad.gz") for word in words))
        assert done.returncode == 1, (words, done.stderr)
        assert "the replay says [21,20,1,1], the moves give [20,20,1,1]" in done.stderr


@pytest.mark.parametrize("columns", [40, 200])
def test_show_fits_the_terminal(columns: int, good: Path, referee: Cli) -> None:
    page = referee("show", good, env={"COLUMNS": str(columns)}).stdout
    assert max(map(len, page.splitlines())) <= columns


def test_show_a_fault_and_a_cut(tmp_path: Path, referee: Cli) -> None:
    path = tmp_path / "fault.gz"
    play_match("straight", str(HOSTILE / "escapes_and_markup.py"), replay=path)
    done = referee("show", path)
    assert "fault prey" in done.stdout
    assert "\x1b" not in done.stdout
    path.write_bytes(path.read_bytes()[:-40])
    done = referee("show", path)
    assert done.returncode == 1
    assert "the replay is cut short" in done.stdout
    assert "which are good" in done.stderr
    shown = json.loads(referee("show", "--json", path).stdout)
    assert shown["problem"]["kind"] == "cut"


def test_show_a_result_of_the_wrong_shape(good: Path, tmp_path: Path, referee: Cli) -> None:
    lines = gzip.open(good).read().splitlines()
    for junk in ('{"hunter":3}', '{"hunter":{"used_seconds":"x"}}', "[]", "null"):
        result = {**json.loads(lines[-1]), "time": json.loads(junk)}
        bad = tmp_path / "bad.gz"
        bad.write_bytes(gzip.compress(b"\n".join([*lines[:-1], json.dumps(result).encode()]) + b"\n"))
        done = referee("show", bad)
        assert done.returncode == 1
        assert "names, times, remarks or settings were edited" in done.stderr
        assert "Traceback" not in done.stderr
    result = {**json.loads(lines[-1]), "scores": {"\x1b[31mEVIL": "x"}}
    bad.write_bytes(gzip.compress(b"\n".join([*lines[:-1], json.dumps(result).encode()]) + b"\n"))
    done = referee("show", bad)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
