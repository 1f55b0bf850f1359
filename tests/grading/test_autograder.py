"""The zip of an autograder, and a run of it in a setting like Gradescope's container, with hand-ins that cheat."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import write
from sandboxes import HOSTILE, INTRUDERS, ROOT, Planted, need, run_in_container

from referee.errors import UsageError
from referee.grading.autograder import init_zip
from referee.grading.rubric import load

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

CHEATS = INTRUDERS / "in_a_container"
COMMAND = [sys.executable, "-m", "referee"]
#: Five matches of a few steps each, two of them hidden.
TESTS = """
[settings]
width = 60
height = 60
max_steps = 40
[[tests]]
name = "escapes"
seat = "prey"
against = "straight"
starts = 4
hidden = 2
points = 8
need = { survive = 40 }
[[tests]]
name = "answers"
seat = "prey"
against = "bots/quiet"
points = 2
need = { finishes = true }
"""
QUIET = "from sdk import HunterBot\nclass Quiet(HunterBot):\n    def hunt(self, state):\n        pass\nQuiet.main()\n"
HONEST = "from sdk import PreyBot\nclass Still(PreyBot):\n    def flee(self, state):\n        pass\nStill.main()\n"


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    folder = tmp_path / "course"
    (folder / "bots" / "quiet").mkdir(parents=True)
    (folder / "bots" / "quiet" / "hunter.py").write_text(QUIET)
    return write(folder, TESTS)


def unpacked(rubric: Path, folder: Path, **more: Any) -> Path:
    """The folder of an autograder, as Gradescope makes it from the zip."""
    made = init_zip(rubric, folder / "autograder.zip", **more)
    home = folder / "autograder"
    for name in ("source", "submission", "results"):
        (home / name).mkdir(parents=True)
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(home / "source")
    shutil.copy(home / "source" / "run_autograder", home / "run_autograder")
    (home / "run_autograder").chmod(0o755)
    return home


def results(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "results" / "results.json").read_text())
    return found


def test_the_zip_has_what_gradescope_wants_and_names_no_host(rubric: Path, tmp_path: Path) -> None:
    made = init_zip(rubric, tmp_path / "autograder.zip", runs_per_day=5)
    with zipfile.ZipFile(made.path) as archive:
        names = archive.namelist()
        assert {"setup.sh", "run_autograder", "rubric/rubric.toml", "rubric/bots/quiet/hunter.py"} <= set(names)
        assert archive.read("rubric/rubric.toml") == rubric.read_bytes()
        assert all(archive.getinfo(name).external_attr >> 16 & 0o111 for name in ("setup.sh", "run_autograder"))
        for name in ("setup.sh", "run_autograder"):
            script = archive.read(name).decode()
            assert re.search(r"https?:|index-url|\b[\w-]+\.(?:org|com|io)\b", script) is None
            done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        assert "--max-runs-per-day 5" in archive.read("run_autograder").decode()
        assert not any("__pycache__" in name or name.endswith(".pyc") for name in names)
    committed = made.path.with_name("autograder.commitment.toml")
    assert f"commitment to the starts: {hashlib.sha256(committed.read_bytes()).hexdigest()}" in made.notes
    assert committed.stat().st_mode & 0o777 == 0o600


def test_the_wheel_is_a_wheel_of_this_referee(rubric: Path, tmp_path: Path) -> None:
    made = init_zip(rubric, tmp_path / "autograder.zip")
    with zipfile.ZipFile(made.path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("-py3-none-any.whl"))
        data = archive.read(name)
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
        rows = {path: (digest, size) for path, digest, size in csv.reader(io.StringIO(wheel.read(record).decode()))}
        assert set(rows) == set(wheel.namelist())
        for path, (digest, size) in rows.items():
            if path != record:
                content = wheel.read(path)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={found}", str(len(content)))
        for path in ("referee/grading/container.py", "sdk/bot.py", "example_bots/evasion/still.py", "referee/pages/viewer/index.html"):
            if (ROOT / path).exists():
                assert wheel.read(path) == (ROOT / path).read_bytes()


def test_the_same_files_make_the_same_zip(rubric: Path, tmp_path: Path) -> None:
    first = init_zip(rubric, tmp_path / "a.zip").path.read_bytes()
    assert init_zip(rubric, tmp_path / "b.zip").path.read_bytes() == first


def test_a_seed_is_drawn_once_for_all_containers(rubric: Path, tmp_path: Path) -> None:
    rubric.write_text(rubric.read_text().replace('seed = "0123456789abcdef0123456789abcdef"\n', ""))
    home = unpacked(rubric, tmp_path)
    first, second = (load(home / "source" / "rubric" / "rubric.toml") for _ in range(2))
    assert not first.is_seed_drawn
    assert first.seed == second.seed
    assert len(first.seed) == 32


def test_a_zip_is_never_replaced(rubric: Path, tmp_path: Path) -> None:
    """It may hold the only copy of a seed whose hash is published."""
    before = init_zip(rubric, tmp_path / "autograder.zip").path.read_bytes()
    with pytest.raises(UsageError, match="exists already, and its seed may be in use"):
        init_zip(rubric, tmp_path / "autograder.zip")
    assert (tmp_path / "autograder.zip").read_bytes() == before


def test_an_opponent_outside_the_folder_is_named(rubric: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(QUIET)
    rubric.write_text(rubric.read_text().replace("bots/quiet", "../elsewhere.py"))
    with pytest.raises(
        UsageError, match=r"'\.\./elsewhere\.py' of the test 'answers' has files outside the rubric's folder: .*Move them into"
    ):
        init_zip(rubric, tmp_path / "autograder.zip")
    assert not (tmp_path / "autograder.zip").exists()


def test_bots_with_more_memory_than_the_container_are_noted(rubric: Path, tmp_path: Path) -> None:
    assert any("has 768 MiB in all" in note for note in init_zip(rubric, tmp_path / "a.zip").notes)
    rubric.write_text(rubric.read_text().replace("[settings]", '[limits]\nmemory_bytes = "256MiB"\n[settings]'))
    assert not any("768" in note for note in init_zip(rubric, tmp_path / "b.zip").notes)


@pytest.mark.slow
def test_killed_at_any_moment_it_leaves_whole_results(rubric: Path, tmp_path: Path) -> None:
    rubric.write_text(
        rubric.read_text().replace("[settings]", "[settings]\n# no sandbox", 1).replace("seed =", 'isolation = "none"\nseed =')
    )
    home = unpacked(rubric, tmp_path)
    (home / "submission" / "prey.py").write_text(HONEST)
    words = ["grade", "gradescope", "--in-container", "--autograder", str(home), "--deadline", "540"]
    seen = set()
    for wanted in (0, 2):
        shutil.rmtree(home / "grading", ignore_errors=True)
        (home / "results" / "results.json").unlink(missing_ok=True)
        process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None:
            if (home / "results" / "results.json").exists():
                played = sum("status" in line for line in results(home)["tests"])
                if played >= wanted:
                    break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = results(home)
        assert len(found["tests"]) == 4
        seen.add(sum("status" in line for line in found["tests"]))
    assert len(seen) > 1


class Run:
    """A run of run_autograder in a container. ``got`` is what a cheat got that it must not, ``tried`` how much it tried."""

    def __init__(self, folder: Path, rubric: Path, source: Path | None, **more: Any) -> None:
        folder.mkdir()
        folder.chmod(0o711)
        self.home = unpacked(rubric, folder, **more.pop("zip", {}))
        prefix = folder / "referee"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "bin" / "referee").write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
        (prefix / "bin" / "referee").chmod(0o755)
        if source is not None:
            self._submit(source)
        for name, text in more.pop("files", {}).items():
            (self.home / name).write_text(text)
        # Below /tmp lies what bots need here: the folder of this test, and perhaps the project.
        environment = {
            "AUTOGRADER": str(self.home),
            "REFEREE_PREFIX": str(prefix),
            "SHARED_FOLDERS": "/var/tmp",
            "REFEREE_TEST_SECRET": "x",
        }
        self.done = run_in_container(["bash", str(self.home / "run_autograder")], folder, environment)
        assert self.done.returncode == 0, self.done.stderr
        self.results = results(self.home)
        logs = [
            path.read_text("utf-8", "replace")
            for path in (self.home / "grading").rglob("*prey*")
            if path.is_file() and path.suffix == ".log"
        ]
        self.got = [line for log in logs for line in log.splitlines() if line.startswith("GOT")]
        self.tried = sum(line.startswith("no ") for log in logs for line in log.splitlines())

    def _submit(self, source: Path) -> None:
        """Submit a cheat: it looks for the results, the rubric and the opponent where they are in the container."""
        home, hand_in = self.home, self.home / "submission"
        text = source.read_text().replace("@FOLDER@", str(home)).replace("@SECRET@", str(home / "source" / "rubric" / "rubric.toml"))
        text = text.replace("@OPPONENT@", str(home / "source" / "rubric" / "bots" / "quiet" / "hunter.py"))
        text = text.replace("@REPLAY@", str(home / "grading" / "private" / "grading.sqlite"))
        planted = Planted(home, 1, "no-such-name")
        (hand_in / "prey.py").write_text(planted.fill(text))
        shutil.copy(HOSTILE / "_wire.py", hand_in)
        shutil.copy(INTRUDERS / "_tries.py", hand_in)


def genuine(found: dict[str, Any]) -> None:
    """The results are the referee's own, of a prey that stands still and answers every question."""
    assert found["extra_data"]["referee"]["isolation"] == "limits+user", found["output"]
    assert found["extra_data"]["referee"]["is_complete"], found
    assert [line["max_score"] for line in found["tests"]] == [2, 2, 4, 2]
    assert all(line["status"] in {"passed", "failed"} for line in found["tests"] if "hidden" not in line["name"])
    assert found["tests"][-1]["output"] == "Passed."
    assert found["score"] == sum(line["score"] for line in found["tests"]) <= 10


@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("changes_the_results", 60),
        pytest.param("reads_what_is_hidden", 60, marks=pytest.mark.slow),
        pytest.param("kills_the_referee", 60, marks=pytest.mark.slow),
        pytest.param("leaves_daemons", 0, marks=pytest.mark.slow),
    ],
)
def test_no_hand_in_changes_its_results(name: str, least: int, rubric: Path, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", rubric, CHEATS / f"{name}.py")
    assert run.got == [], run.done.stdout
    assert run.tried >= least
    genuine(run.results)


@pytest.mark.alone
@pytest.mark.parametrize("runs_per_day", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_earlier_runs_count(runs_per_day: int, rubric: Path, tmp_path: Path) -> None:
    """One graded run within 24 hours is before this one."""
    before = {"score": 7, "tests": [{"name": "escapes", "score": 7}]}
    history = {
        "created_at": "2026-03-10T12:00:00-07:00",
        "previous_submissions": [{"submission_time": "2026-03-10T10:00:00-07:00", "score": 7, "results": before}],
    }
    files = {"submission_metadata.json": json.dumps(history), "submission/prey.py": HONEST}
    run = Run(tmp_path / "run", rubric, None, zip={"runs_per_day": runs_per_day}, files=files)
    if runs_per_day == 2:
        genuine(run.results)
        assert "The level of isolation is limits+user." in run.done.stderr
        return
    assert run.results["score"] == 7
    assert "at most 1 graded run within 24 hours is allowed" in run.results["output"]
    assert not (run.home / "grading").exists()


@pytest.mark.alone
def test_a_hand_in_without_a_program_is_told_so(rubric: Path, tmp_path: Path) -> None:
    run = Run(tmp_path / "run", rubric, None, files={"submission/notes.txt": "nothing"})
    assert run.results["score"] == 0
    assert "Status: refused." in run.results["output"]
    assert "prey" in run.results["output"]


def test_the_command_makes_the_zip_and_says_what_comes_next(rubric: Path, referee: Cli, tmp_path: Path) -> None:
    done = referee("grade", "gradescope", str(rubric), "--max-runs-per-day", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "autograder.zip"
    assert "commitment to the starts: " in done.stderr
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        assert "--max-runs-per-day 3" in archive.read("run_autograder").decode()


def test_a_rubric_with_a_mistake_is_in_the_results(rubric: Path, referee: Cli, tmp_path: Path) -> None:
    rubric.write_text("name = 5")
    done = referee("grade", "gradescope", str(rubric), "--in-container", "--autograder", str(tmp_path))
    assert done.returncode == 2
    assert results(tmp_path)["output"].startswith("Your hand-in was not graded, which you did not cause.")


@pytest.mark.soak
@pytest.mark.long
def test_setup_installs_the_referee(rubric: Path, tmp_path: Path) -> None:
    """Its packages come from wherever this machine's pip gets them."""
    need(Path("/usr/bin/python3").exists(), "/usr/bin/python3 is missing")
    home = unpacked(rubric, tmp_path)
    prefix = tmp_path / "referee"
    environment = {**os.environ, "REFEREE_PREFIX": str(prefix), "PYTHON": "/usr/bin/python3"}
    done = subprocess.run(
        ["bash", str(home / "source" / "setup.sh")], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = subprocess.run([str(prefix / "bin" / "referee"), "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout.strip()
    assert (home / "source").stat().st_mode & 0o777 == 0o700
