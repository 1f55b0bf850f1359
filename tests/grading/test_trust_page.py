"""The sessions on the page about trust run as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import gradings
import pytest
from leagues import IDLE
from sandboxes import need

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trust.md").read_text()
RERUN, COMMITMENT = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
SIGN, CHECK = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def commands(session: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in session.splitlines()]


@pytest.mark.slow
def test_a_bot_is_asked_again(referee: Cli) -> None:
    play, *others, last = commands(RERUN)
    assert referee(*play).returncode == 0
    outputs = [referee(*words) for words in others]
    assert [done.returncode for done in outputs] == [0, 0]
    shown, _ = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert outputs[0].stdout == shown
    assert referee(*last).returncode == 1


def test_the_starts_of_a_published_file_are_those_of_a_replay(referee: Cli, tmp_path: Path) -> None:
    """The hash is the one from before, and each start stands in the heads of its matches; without the referee, too."""
    (tmp_path / "rubric.toml").write_text(gradings.HUNTS)
    told = referee("grade", "check-rubric", "--slots", "1").stderr
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.py").write_text(IDLE)
    assert referee("grade", "run", "class", "--out", "marks", "--slots", "1").returncode == 0
    shutil.copy(tmp_path / "marks" / "private" / "commitment.toml", tmp_path)
    seeds = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, cwd=tmp_path).stdout.split()[2::3]
    digest, starts, head = COMMITMENT.splitlines()
    sha256 = subprocess.run(shlex.split(digest), check=True, capture_output=True, text=True, cwd=tmp_path).stdout.split()[0]
    assert f"commitment to the starts, to be published with the assignment: {sha256}\n" in told
    lines = referee(*shlex.split(starts)[1:]).stdout.splitlines()
    assert lines[0] == f"sha256 {sha256}"
    replays = sorted((tmp_path / "marks" / "private" / "replays").rglob("*.replay.jsonl.gz"))
    heads = []
    for replay in replays:
        shutil.copy(replay, tmp_path / "ada.replay.jsonl.gz")
        heads.append(subprocess.run(head, shell=True, check=True, capture_output=True, text=True, cwd=tmp_path).stdout)
    assert len(heads) == len(lines[1:]) == len(seeds) == 2
    for line, seed in zip(lines[1:], seeds, strict=True):
        values = line.partition(": ")[2].split(", ")
        assert values[1] == f'"seed":{seed}'
        assert sum(all(value in text for value in values) for text in heads) == 1


def test_the_files_of_a_folder_are_signed(tmp_path: Path) -> None:
    """Each change, each new file and each missing one is named."""
    need(shutil.which("ssh-keygen") is not None, "ssh-keygen is missing")
    folder = tmp_path / "marks"
    own = folder / "students" / "ada bob"
    own.mkdir(parents=True)
    (folder / "grades.csv").write_text("ada,7\n")
    (own / "report.html").write_text("7 points\n")

    def sh(session: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "HOME": str(tmp_path)}
        return subprocess.run(["sh", "-ec", session], cwd=folder, env=env, capture_output=True, text=True, check=False)

    assert sh(SIGN).returncode == 0
    good = sh(CHECK)
    assert (good.returncode, good.stderr) == (0, ""), good
    assert good.stdout.startswith('Good "results" signature for grader')
    (part,) = re.findall(r"`(grep\s[^`]*)`", PAGE)
    assert sh(part.replace("\n", " ").replace("ada/", '"ada bob/"')).stdout == "./students/ada bob/report.html: OK\n"
    (folder / "grades.csv").write_text("ada,9\n")
    (own / "report.html").rename(own / "other.md")
    wrong = sh(CHECK)
    assert wrong.returncode == 1
    names = {line.split("./")[-1] for line in wrong.stdout.splitlines() if line.startswith(("<", ">"))}
    assert names == {"grades.csv", "students/ada bob/report.html", "students/ada bob/other.md"}
    (folder / "SHA256SUMS").write_text((folder / "SHA256SUMS").read_text().replace("a", "b"))
    assert sh(CHECK).returncode == 255
