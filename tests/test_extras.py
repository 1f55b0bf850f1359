"""The wheel with each extra does its thing in an environment that has what the extra declares, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
#: No bot is late, whatever else this machine does.
PATIENT = ("--isolation", "none", "--startup", "none", "--move-time", "none", "--bank", "none")
SHORT = "max_steps = 20\nwidth = 40\nheight = 40\nprey = [30, 25]\n"
LEAGUE = f'isolation = "none"\n[settings]\n{SHORT}' + "".join(
    f'[[teams]]\nname = "{name}"\nprogram = "random"\n' for name in ("Ada", "Bob")
)
RUBRIC = f'name = "one"\ngame = "evasion"\nseed = "0123456789abcdef"\nisolation = "none"\n[settings]\n{SHORT}[[tests]]\nname = "plays"\n'
RUBRIC += 'seat = "hunter"\nagainst = "still"\npoints = 4\nneed = { finishes = true }\n'
RUN = ("league", "run", "league.toml", "--out", "autumn", "--quiet")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without a package index: what builds it is installed."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def needed(requires: list[str], extra: str) -> set[str]:
    """The names of all distributions that are installed with the extra, also those that others need."""
    found: set[str] = set()
    waiting = [(requires, extra)]
    while waiting:
        lines, wanted = waiting.pop()
        for line in lines:
            requirement = Requirement(line)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": wanted}):
                continue
            name = canonicalize_name(requirement.name)
            own = requires if name == "referee" else metadata.requires(name) or []
            for each in ("", *requirement.extras):
                if f"{name}[{each}]" not in found:
                    found.add(f"{name}[{each}]")
                    waiting.append((own, each))
    return {name.partition("[")[0] for name in found} - {"referee"}


class Environment:
    """A virtual environment with the wheel. What is linked from this Python stands in a folder for each test."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        self.interpreter = folder / "env/bin/python"
        (packages,) = folder.glob("env/lib/python*/site-packages")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(packages)
        (about,) = packages.glob("referee-*.dist-info")
        self.requires = metadata.Distribution.at(about).requires or []

    def link(self, extras: list[str], folder: Path) -> None:
        """Link what the extras declare to where this Python has it: modules and programs."""
        places = [(folder / "packages", Path(sysconfig.get_path("purelib"))), (folder / "bin", Path(sysconfig.get_path("scripts")))]
        for place, _ in places:
            place.mkdir()
        for name in {name for extra in extras for name in needed(self.requires, extra)}:
            for file in metadata.files(name) or []:
                is_program = file.parts[0] == ".."
                place, here = places[is_program]
                entry = file.name if is_program else file.parts[0]
                if (not is_program or file.parent.name == "bin") and entry != "__pycache__" and not (place / entry).exists():
                    (place / entry).symlink_to(here / entry)

    def python(self, folder: Path, *words: str, status: int = 0) -> str:
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "VIRTUAL_ENV")}
        env |= {"PYTHONPATH": str(folder / "packages"), "PATH": f"{folder / 'bin'}:{env['PATH']}"}
        done = subprocess.run([self.interpreter, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == status, (words, done.stdout[-2000:], done.stderr[-3000:])
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    return Environment(tmp_path_factory.mktemp("extras"), wheel)


#: For each extra: files, commands, and what the last of them prints.
DOES: dict[str, tuple[dict[str, str], list[tuple[str, ...]], str]] = {
    "": ({}, [("play", "boxer", "runner", "--max-steps", "20", *PATIENT)], "sandbox  none"),
    "web": ({}, [("play", "boxer", "runner", "--max-steps", "20", "--live", "--no-stay", "--port", "0", *PATIENT)], "http://127.0.0.1:"),
    "export": (
        {},
        [("play", "boxer", "runner", "--max-steps", "20", "--out", "a.gz", *PATIENT), ("export", "a.gz", "--png", "--out", "a.png")],
        "a.png",
    ),
    "league": ({"league.toml": LEAGUE}, [RUN, ("league", "standings", "autumn")], "possible places"),
    "league,postgres": (
        {"league.toml": LEAGUE},
        [(*RUN, "--database", "postgresql://127.0.0.1:1/none")],
        "can't be opened: connection failed",
    ),
    "league,cluster": ({"league.toml": LEAGUE}, [(*RUN, "--cluster", "local:1"), ("league", "standings", "autumn")], "possible places"),
    "grade": (
        {
            "rubric.toml": RUBRIC,
            "class/ada.py": "from sdk import HunterBot\nclass Ada(HunterBot):\n    def hunt(self, state): pass\nAda.main()\n",
        },
        [("grade", "run", "class", "--rubric", "rubric.toml", "--out", "marks", "--quiet")],
        "4",
    ),
}


@pytest.mark.parametrize("extras", DOES)
def test_a_wheel_with_an_extra_does_its_thing(extras: str, environment: Environment, tmp_path: Path) -> None:
    files, commands, told = DOES[extras]
    environment.link(extras.split(","), tmp_path)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    *_, said = [environment.python(tmp_path, "-m", "referee", *words, status=2 if "--database" in words else 0) for words in commands]
    assert told in said


def test_a_wheel_with_the_extra_rl_makes_environments(environment: Environment, tmp_path: Path) -> None:
    environment.link(["rl"], tmp_path)
    code = "import sdk.env; print(sdk.env.EvasionEnv().reset(seed=1)[0].shape, sdk.env.EvasionParallelEnv().possible_agents)"
    assert "(74,) ['hunter', 'prey']" in environment.python(tmp_path, "-c", code)


def test_each_extra_is_tried(environment: Environment) -> None:
    declared = {extra for line in environment.requires for extra in re.findall(r"extra == ['\"](\w+)", line)}
    assert declared - {"dev", "docs"} == {extra for extras in DOES for extra in extras.split(",") if extra} | {"rl"}


def test_an_extra_that_is_not_installed_is_named(environment: Environment, tmp_path: Path) -> None:
    """So nothing else of this Python is seen in the environment."""
    environment.link([""], tmp_path)
    (tmp_path / "league.toml").write_text(LEAGUE)
    assert "league needs numpy and psutil" in environment.python(tmp_path, "-m", "referee", *RUN, status=2)
