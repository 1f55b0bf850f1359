"""What the benchmarks share: a figure beside its floor and its budget."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import missing, need

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: What the script of a test runs before it: a benchmark whose figures are given.
SCRIPT = """
import json, sys
sys.path.insert(0, {folder!r})
from harness import Figure, run
run("A benchmark.", lambda options: [Figure(*words) for words in json.loads({figures!r})])
"""


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that all benchmarks import."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import harness  # type: ignore[import-not-found]

    return harness


def ran(figures: Sequence[list[Any]], *words: object) -> subprocess.CompletedProcess[str]:
    """A benchmark with these figures, run as a program."""
    script = SCRIPT.format(folder=str(BENCHMARKS), figures=json.dumps(figures))
    return subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, check=False)


def test_the_ratio_is_the_median_of_the_rounds_ratios(harness: Any) -> None:
    figure = harness.Figure("a", "us", [2.0, 30.0, 4.0], [1.0, 10.0, 1.0], "ratio")
    assert (figure.measured, figure.is_met, figure.to_json()["budget"]) == (3.0, True, None)


def test_measures_take_turns(harness: Any, capsys: pytest.CaptureFixture[str]) -> None:
    calls = iter(range(6))
    assert harness.alternate(3, lambda: next(calls), lambda: -next(calls)) == [[0, 2, 4], [-1, -3, -5]]
    assert capsys.readouterr().err.endswith("round 3 of 3\n")


def test_a_run_says_which_budgets_are_met() -> None:
    slow = ["slow", "ms", [1e6], None, "value", 1.0]
    done = ran([["good one", "us", [1.0], [1.0], "ratio", 1.5], ["bad one", "us", [2.0], [1.0], "ratio", 1.5], slow])
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[1:] == [
        "good one 1.0 1.0 1.00 x floor <= 1.5: met",
        "bad one 2.0 1.0 2.00 x floor <= 1.5: MISSED",
        "slow 1,000,000 1,000,000.00 ms <= 1: MISSED",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "count"),
    [
        ("match_step", ["--steps", "1000"], 15),
        ("isolation", ["--steps", "1000"], 6),
        ("league", ["--steps", "50", "--matches", "40", "--pretended", "2000"], 5),
        ("short_matches", ["--games", "4"], 6),
        ("fairness", ["--answers", "20", "--steps", "5", "--load", "1", "--most", "1", "--isolation", "strict"], 16),
        ("arena_scale", ["--teams", "5", "--versions", "2", "--matches", "200", "--duels", "32"], 13),
        ("arena_matchmaking", ["--versions", "20"], 3),
    ],
)
def test_a_benchmark_prints_its_figures(name: str, words: list[str], count: int) -> None:
    need(not missing() or name in ("match_step", "arena_scale", "arena_matchmaking"), missing())
    need(name != "short_matches" or shutil.which("gcc") is not None, "gcc is missing")
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--rounds", "1", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures) == count
    for figure in figures:
        assert figure["value"] > 0 or figure["unit"] in ("MiB", "late", "bills")
        assert figure["met"] is True or figure["budget"] is not None
        assert (figure["floor"] is None) == (figure["floors"] is None)
