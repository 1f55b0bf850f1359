"""The page on the development loop: its commands run as printed."""

from __future__ import annotations

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


@pytest.mark.parametrize("line", LINES)
def test_the_command_of_the_referee_in_each_recipe_runs_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    """The tools around it are no dependencies."""
    (tmp_path / "my_hunter.py").write_text((ROOT / "example_bots/evasion/boxer.py").read_text())
    found = re.search(r"referee [^\"]+", line)
    assert found is not None
    done = referee(*shlex.split(found[0])[1:], "--max-steps", "30")
    assert done.returncode == 0, done.stderr
