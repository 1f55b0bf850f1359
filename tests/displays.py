"""The drawing code of the games, run without a page in Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NODE = Path(sys.prefix) / "bin" / "node"


def laid_out(folder: Path) -> Path:
    """Copy the viewer and every game's scripts into a folder, as the page addresses them; skip the test without Node.js."""
    if not NODE.exists():
        pytest.skip("there is no Node.js in this environment: install the dev extra")
    shutil.copytree(ROOT / "referee/pages/viewer", folder / "pages/viewer")
    for home in (*(ROOT / "referee/games").glob("*/display.js"), ROOT / "tests/games/toy/display.js"):
        shutil.copytree(home.parent, folder / "games" / home.parent.name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (folder / "package.json").write_text('{"type":"module"}')
    return folder


def run(folder: Path, script: str) -> Any:
    """Return what a script in this folder writes to stdout, as JSON."""
    (folder / "run.js").write_text(script)
    return json.loads(subprocess.run([NODE, folder / "run.js"], capture_output=True, text=True, check=True).stdout)
