"""The script of the curves of growth: what it marks, what it writes into a page, and what it refuses before it measures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = "above\n<!-- growth: walls -->\nold\n<!-- end of walls -->\nbelow\n"


@pytest.fixture
def script() -> Any:
    spec = importlib.util.spec_from_file_location("growth_benchmark", ROOT / "benchmarks" / "growth.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_cost_that_grows_faster_than_its_size_is_marked(script: Any) -> None:
    costs = {1: 1.0, 10: 12.0, 100: 200.0}
    script.CURVES = {"walls": ("walls", lambda options: [("step, us", [1, 10, 100], costs.__getitem__)])}
    lines = script.measure("walls", SimpleNamespace(rounds=3))
    assert lines[0] == "| walls | step, us | x first |"
    assert lines[2:] == ["| 1 | 1.0 | 1.00 |", "| 10 | 12.0 | 12.00 |", "| 100 | 200.0 | 200.00 ! |"]


def test_tables_are_written_between_their_marks(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    monkeypatch.setattr(script, "measure", lambda name, options: [f"| {name} |", "|---|"])
    for _ in range(2):
        monkeypatch.setattr("sys.argv", ["growth.py", "--only", "walls", "--write", str(page)])
        script.main()
        assert page.read_text() == PAGE.replace("old", "\n| walls |\n|---|\n")


@pytest.mark.parametrize(
    "words",
    [
        ["--only", "walls,nope"],
        ["--only", ""],
        ["--rounds", "0"],
        ["--most-steps", "9"],
        ["--write", "{}/none.md"],
        ["--write", "{}/page.md"],
    ],
    ids=" ".join,
)
def test_what_can_not_be_done_is_refused_first(script: Any, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It has the marks of one curve alone.
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(script, "measure", None)
    monkeypatch.setattr("sys.argv", ["growth.py", *(word.format(tmp_path) for word in words)])
    with pytest.raises(SystemExit) as left:
        script.main()
    assert left.value.code not in (0, None)


def test_the_page_has_the_marks_of_every_curve(script: Any) -> None:
    for name, (what, _) in script.CURVES.items():
        table = script.marks_in(ROOT / "docs" / "speed.md", name)[0]
        assert table.endswith(f"<!-- growth: {name} -->"), what
