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

import pytest
import rubrics
from sandboxes import need

from referee.grading.family import committed
from referee.grading.reveal import reveal
from referee.grading.rubric import load

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trust.md").read_text()
RERUN, REVEAL, OPENSSL = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
SIGN, CHECK = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
(HASH,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(SEED,) = re.findall(r"With the seed `(\w+)`", PAGE)
(TEST,) = re.findall(r"with the name\s`([\w ]+)`", PAGE)


def commands(session: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in session.splitlines()]


@pytest.mark.slow
def test_a_bot_is_asked_again(referee: Cli) -> None:
    play, *others, last = commands(RERUN)
    assert referee(*play).returncode == 0
    outputs = [referee(*words) for words in others]
    assert [done.returncode for done in outputs] == [0, 0]
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert outputs[0].stdout == shown
    assert referee(*last).returncode == 1


def rubric(folder: Path) -> Path:
    tests = rubrics.table(name=f'"{TEST}"', seat='"hunter"', against='"runner"', starts="2", hidden="1", need="{ wins = true }")
    path = rubrics.write(folder, tests)
    path.write_text(path.read_text().replace("0123456789abcdef", SEED))
    return path


def test_a_seed_is_revealed(referee: Cli, tmp_path: Path) -> None:
    read = load(rubric(tmp_path))
    reveal(read, tmp_path)
    (words,) = commands(REVEAL)
    done = referee(*words[:-1], committed(read))
    assert done.returncode == 0, done.stdout


def test_the_hash_and_the_secret_need_no_referee(tmp_path: Path) -> None:
    need(shutil.which("openssl") is not None, "openssl is missing")
    read = load(rubric(tmp_path))
    body = reveal(read, tmp_path).read_text()
    done = subprocess.run([sys.executable, "-Ic", HASH], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == committed(read)[:64]
    second = subprocess.run(OPENSSL, shell=True, check=True, capture_output=True, text=True).stdout
    assert second.split()[-1] in body


def test_the_files_of_a_folder_are_signed(tmp_path: Path) -> None:
    """Each change, each new file and each missing one is named."""
    need(shutil.which("ssh-keygen") is not None, "ssh-keygen is missing")
    folder = tmp_path / "marks"
    own = folder / "students" / "ada bob"
    own.mkdir(parents=True)
    (folder / "grades.csv").write_text("ada,7\n")
    (own / "report.md").write_text("7 points\n")

    def sh(session: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "HOME": str(tmp_path)}
        return subprocess.run(["sh", "-ec", session], cwd=folder, env=env, capture_output=True, text=True, check=False)

    assert sh(SIGN).returncode == 0
    good = sh(CHECK)
    assert (good.returncode, good.stderr) == (0, ""), good
    assert good.stdout.startswith('Good "results" signature for grader')
    (part,) = re.findall(r"`(grep\s[^`]*)`", PAGE)
    assert sh(part.replace("\n", " ").replace("ada/", '"ada bob/"')).stdout == "./students/ada bob/report.md: OK\n"
    (folder / "grades.csv").write_text("ada,9\n")
    (own / "report.md").rename(own / "other.md")
    wrong = sh(CHECK)
    assert wrong.returncode == 1
    names = {line.split("./")[-1] for line in wrong.stdout.splitlines() if line.startswith(("<", ">"))}
    assert names == {"grades.csv", "students/ada bob/report.md", "students/ada bob/other.md"}
    (folder / "SHA256SUMS").write_text((folder / "SHA256SUMS").read_text().replace("a", "b"))
    assert sh(CHECK).returncode == 255


def test_every_option_of_rerun_is_on_the_page(referee: Cli) -> None:
    names = set(re.findall(r"--[a-z]+", referee("rerun", "--help").stdout)) - {"--help"}
    assert {"--seat", "--json"} <= names
    for name in names:
        assert f"`{name}" in PAGE, name
