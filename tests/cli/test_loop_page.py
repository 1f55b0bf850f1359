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
RECIPES = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_command_of_the_referee_in_each_recipe_runs_as_printed(recipe: str, referee: Cli, tmp_path: Path) -> None:
    """The tools around it are no dependencies."""
    source = (ROOT / "example_bots/evasion/boxer.py").read_text()
    (tmp_path / "my_hunter.py").write_text(
        source.replace("import annotations\n", "import annotations\nimport sys\nprint(1, file=sys.stderr)\n")
    )
    found = re.search(r"referee [^\"\n]+", recipe)
    assert found is not None
    done = referee(*shlex.split(found[0])[1:], "--max-steps", "30")
    assert done.returncode == 0, done.stderr
    for file in re.findall(r"tail -F (\S+)", recipe):
        assert (tmp_path / file).read_text() == "1\n"
