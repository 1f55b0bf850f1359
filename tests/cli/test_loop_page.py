"""The page on the development loop: its commands run as printed, and the keys that it lists are the real ones."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/loop.md").read_text()
LINES = [line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def section(name: str) -> str:
    return PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("line", LINES)
def test_the_command_of_the_referee_in_each_recipe_runs_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    """The tools around it are no dependencies."""
    (tmp_path / "my_hunter.py").write_text((ROOT / "example_bots/evasion/boxer.py").read_text())
    found = re.search(r"referee [^\"]+", line)
    assert found is not None
    done = referee(*shlex.split(found[0])[1:], "--max-steps", "30")
    assert done.returncode == 0, done.stderr


@pytest.mark.alone
def test_the_texts_of_the_page_have_the_form_of_the_real_ones(referee: Cli) -> None:
    """The shape of each line, without its numbers."""
    done = referee("profile", "boxer", "evader", "--max-steps", "1000")
    assert done.returncode == 0, done.stderr
    real = {shape(line) for line in done.stdout.splitlines()}
    (text,) = re.findall(r"```text\n(.*?)```", section("Find the slow parts"), re.DOTALL)
    lines = [line for line in text.splitlines() if "%" not in line and not line.startswith("Next:")]
    assert len(lines) > 6
    assert not [line for line in lines if shape(line.replace("runner", "evader")) not in real]


def shape(line: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[\d.,-]+", "#", re.sub(r"matches/\S+", "PATH", line)))


def test_the_page_lists_each_key_of_a_profile(referee: Cli) -> None:
    done = referee("profile", "boxer", "still", "--max-steps", "30", "--json")
    assert done.returncode == 0, done.stderr
    text = section("Find the slow parts")
    found = json.loads(done.stdout)
    for key in (*found, *found["games"][0], *found["longest"][0], *found["samples"], "name", "self", "total", "self_share", "total_share"):
        assert f"`{key}`" in text, key
