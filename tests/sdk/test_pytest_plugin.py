"""The fixtures, in runs of pytest of their own, as authors of bots run them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAME = "referee.pytest_plugin"
#: An environment that was installed before there was an entry point loads the plugin by its name.
LOADED = [] if any(point.value == NAME for point in entry_points(group="pytest11")) else ["-p", NAME]


def run(folder: Path, *arguments: str, **files: str) -> str:
    """Run pytest in a folder with these files, as the only tests of the world; return what it printed."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", f"--rootdir={folder}", *LOADED, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_every_test_on_the_page_passes_beside_the_bot_of_the_readme(tmp_path: Path) -> None:
    first_bot = next(text for text in blocks("README.md") if "class MyHunter" in text)
    tests = {f"test_block_{number}": text for number, text in enumerate(blocks("docs/testing.md"))}
    assert len(tests) >= 6
    said = run(tmp_path, my_hunter=first_bot, **tests)
    assert re.search(rf"^{len(tests)} passed", said, re.MULTILINE), said
    assert not (tmp_path / "matches").exists()


def test_three_lines_are_enough_and_a_failure_has_the_traceback_of_the_bot(tmp_path: Path) -> None:
    bot = "from sdk import PreyBot\n\nclass Loses(PreyBot):\n    def flee(self, state):\n        return [][state.step]\n"
    test = 'from loses import Loses\ndef test_it(ask, position):\n    assert ask(Loses, position("H......P")).go == (1, 0)\n'
    said = run(tmp_path, loses=bot, test_loses=test)
    assert "1 failed" in said
    assert "return [][state.step]" in said
    assert "loses.py:5: IndexError" in said


def test_programs_and_classes_play_in_the_folder_of_the_test(tmp_path: Path) -> None:
    test = """
from sdk import PreyBot

class Stays(PreyBot):
    def flee(self, state):
        return self.go(0, 0)

def test_it(play_match, tmp_path):
    result = play_match("straight", Stays, max_steps=20, isolation="none")
    assert (result.steps, result.seed, result.faults) == (20, 0, {})
    assert result.replay.parent == tmp_path
    assert play_match("straight", "runner", max_steps=20, isolation="none", seed=4, out=f"{tmp_path}/a.replay.jsonl.gz").seed == 4
"""
    assert "1 passed" in run(tmp_path, test_it=test)


def test_other_runs_pay_nothing_and_keep_their_own_fixtures(tmp_path: Path) -> None:
    conftest = "import pytest\n\n@pytest.fixture\ndef position():\n    return 3\n"
    test = """
import sys

def test_it(position):
    assert position == 3
    foreign = [name for name in sys.modules if name.split(".")[0] in ("sdk", "pydantic", "typer")]
    own = {name for name in sys.modules if name.split(".")[0] == "referee"}
    assert (foreign, own) == ([], {"referee", "referee.version", "referee.pytest_plugin"})
"""
    assert "1 passed" in run(tmp_path, conftest=conftest, test_it=test)


@pytest.mark.skipif(bool(LOADED), reason="the entry point is not installed")
def test_the_plugin_can_be_switched_off(tmp_path: Path) -> None:
    test = "def test_it(ask):\n    pass\n"
    assert "fixture 'ask' not found" in run(tmp_path, "-p", "no:referee", test_it=test)
