"""What a release consists of: an sdist and a wheel that play in an environment of their own, without the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from sandboxes import need

import referee

ROOT = Path(__file__).parents[1]
#: No bot is late, whatever else this machine does.
PATIENT = ("--startup", "none", "--move-time", "none", "--bank", "none")

pytestmark = [pytest.mark.slow, pytest.mark.long]


def run(words: list[str | Path], folder: Path) -> str:
    """Run a command outside the repository, with nothing of it on the path; return its output."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both files, built without a package index: what builds them is installed."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a new environment with the wheel. It finds the packages that the wheel needs where this Python has them."""
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", folder / "env"], folder)
    scripts = folder / "env/bin"
    (wheel,) = built.glob("*.whl")
    run([scripts / "python", "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel], folder)
    where = run([scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip()
    # A path alone: files of this Python that name further places, such as this repository, are not read.
    (Path(where) / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return scripts


def test_the_files_hold_what_they_should(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.name == f"referee-{referee.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"referee", "sdk", "example_bots", f"referee-{referee.__version__}.dist-info"}
    assert not [name for name in names if name.endswith(".py") and Path(name).name.startswith(("test_", "conftest"))]
    assert {"referee/py.typed", "sdk/py.typed", "referee/pages/viewer/app/main.js"} <= set(names)
    assert wheel.stat().st_size < 2_000_000
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "SECURITY.md",
        "CITATION.cff",
        "CHANGELOG.md",
        "docs/stability.md",
        "tests/conftest.py",
        "Makefile",
    } <= held


def test_the_wheel_plays_without_the_repository(installed: Path, tmp_path: Path) -> None:
    where = run([installed / "python", "-c", "import sdk, referee; print(sdk.HunterBot, referee.__file__)"], tmp_path)
    assert str(installed.parent) in where
    assert str(ROOT) not in where
    match = ("play", "boxer", "runner", "--max-steps", "200", "--seed", "1", "--out", "a.replay.jsonl.gz")
    said = run([installed / "referee", *match, *PATIENT], tmp_path)
    assert "  winner   " in said
    assert "good, 200 steps" in run([installed / "referee", "verify", "a.replay.jsonl.gz"], tmp_path)
    assert "Usage: referee watch" in run([installed / "referee", "watch", "--help"], tmp_path)
    assert "a.replay.html" in run([installed / "referee", "export", "a.replay.jsonl.gz", "--html", "--out", "a.replay.html"], tmp_path)


def test_the_wheel_brings_what_it_needs(built: Path, tmp_path: Path) -> None:
    """Installed from the package index of this machine, where there is one."""
    run([sys.executable, "-m", "venv", tmp_path / "env"], tmp_path)
    pip: list[str | Path] = [tmp_path / "env/bin/python", "-m", "pip", "--disable-pip-version-check", "--retries", "0", "--timeout", "20"]
    reached = subprocess.run([*pip, "download", "--no-deps", "--quiet", "typer"], cwd=tmp_path, capture_output=True, timeout=1200)
    need(reached.returncode == 0, "no package index is within reach", of_kernel=True)
    (wheel,) = built.glob("*.whl")
    run([*pip, "install", "--quiet", f"{wheel}[web]"], tmp_path)
    said = run([tmp_path / "env/bin/referee", "play", "boxer", "runner", "--max-steps", "50", "--isolation", "none", *PATIENT], tmp_path)
    assert "referee watch matches/replays/" in said
    assert "import sdk" not in run([tmp_path / "env/bin/python", "-c", "import sdk"], tmp_path)
