"""The reference of the SDK is made from its docstrings without a warning, and has every public name."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ("sdk", "sdk.evasion", "sdk.maze", "sdk.rectangle", "sdk.testing")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pdoc")
    out = tmp_path_factory.mktemp("reference") / "pages"
    done = subprocess.run([sys.executable, ROOT / "scripts/make-docs", out], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert Path(done.stdout.strip()) == out / "index.html"
    return out


@pytest.mark.parametrize("name", MODULES)
def test_each_public_name_is_there_and_nothing_private(name: str, reference: Path) -> None:
    page = (reference / f"{name.replace('.', '/')}.html").read_text()
    public = set(import_module(name).__all__)
    sections = set(re.findall(r'<section id="(\w+)"', page))
    assert sections == public
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for left in ("_EvasionBot", "_MazeBot", "_Record", "<class", "Field 0", "Alias for", "@private", "``", "referee.games", str(ROOT)):
        assert left not in text, left


def test_methods_of_bots_are_described(reference: Path) -> None:
    page = (reference / "sdk.html").read_text()
    for name in ("hunt", "flee", "build", "say", "draw", "left", "random", "begin", "finish"):
        assert re.search(rf'id="(\w+\.)?{name}"', page), name
