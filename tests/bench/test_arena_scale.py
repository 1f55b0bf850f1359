"""The benchmark of an arena at size, on a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "arena_scale.py"


def test_a_small_arena_is_filled_and_measured(tmp_path: Path) -> None:
    sizes = ["--rounds", "1", "--teams", "5", "--versions", "2", "--matches", "200", "--duels", "32", "--store", str(tmp_path / "arena")]
    done = subprocess.run([sys.executable, str(SCRIPT), *sizes, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {figure["name"]: figure["value"] for figure in json.loads(done.stdout)}
    assert {"start", "next duel", "result taken in", "view: standings", "memory"} <= set(figures)
    assert all(value > 0 for name, value in figures.items() if name != "growth of the memory")
