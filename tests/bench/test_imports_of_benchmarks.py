"""Benchmarks are run seldom: what they import is there all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"


def test_every_benchmark_finds_what_it_imports() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    assert len(names) > 10
    done = subprocess.run([sys.executable, "-c", f"import {', '.join(names)}"], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
