"""What the benchmarks share: a figure beside its budget, and a run beside a stored one, of which the ratios alone decide."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import missing, need

from referee.errors import UsageError

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


def ratio(name: str, value: float, *, at_least: bool = False) -> list[Any]:
    return [name, "us", [value], [1.0], "ratio", 1.5, at_least]


SLOW: list[Any] = ["slow", "ms", [1e6], None, "value", 1.0]


def ran(figures: Sequence[list[Any]], *words: object) -> subprocess.CompletedProcess[str]:
    """A benchmark with these figures, run as a program."""
    script = SCRIPT.format(folder=str(BENCHMARKS), figures=json.dumps(figures))
    return subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, check=False)


def store(path: Path, *figures: list[Any], **changed: Any) -> Path:
    """A stored run of these figures; ``changed`` replaces keys of each."""
    path.write_text(json.dumps([{**figure, **changed} for figure in json.loads(ran(figures, "--json").stdout)]))
    return path


@pytest.mark.parametrize(
    ("before", "now", "at_least", "is_worse"),
    [
        (1.0, 1.149, False, False),
        (1.0, 1.151, False, True),
        (2.0, 0.5, False, False),
        (1.0, 0.871, True, False),
        (1.0, 0.868, True, True),
        (0.5, 2.0, True, False),
    ],
)
def test_only_a_ratio_that_is_much_worse_fails(harness: Any, before: float, now: float, at_least: bool, is_worse: bool) -> None:
    figures = [harness.Figure(*ratio("a", now, at_least=at_least)), harness.Figure(*SLOW)]
    ((figure, was, change),) = harness.worse(figures, {"a": before})
    assert (figure.name, was, change > harness.TOLERANCE) == ("a", before, is_worse)


def test_the_ratio_is_the_median_of_the_rounds_ratios(harness: Any) -> None:
    figure = harness.Figure("a", "us", [2.0, 30.0, 4.0], [1.0, 10.0, 1.0], "ratio")
    assert (figure.measured, figure.is_met, figure.to_json()["budget"]) == (3.0, True, None)


def test_measures_take_turns(harness: Any, capsys: pytest.CaptureFixture[str]) -> None:
    calls = iter(range(6))
    assert harness.alternate(3, lambda: next(calls), lambda: -next(calls)) == [[0, 2, 4], [-1, -3, -5]]
    assert capsys.readouterr().err.endswith("round 3 of 3\n")


def test_a_run_says_which_ratios_are_worse_than_in_the_stored_one(tmp_path: Path) -> None:
    file = store(tmp_path / "x.json", ratio("good one", 1.0), ratio("bad one", 1.5), SLOW)
    done = ran([ratio("good one", 1.0), ratio("bad one", 2.0), SLOW], "--against", file)
    assert done.returncode == 1
    assert "WORSE  bad one 1.50 -> 2.00 x floor (33% worse)" in done.stderr
    assert "good   good one 1.00 -> 1.00" in done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[1:] == [
        "good one 1.0 1.0 1.00 x floor <= 1.5: met",
        "bad one 2.0 1.0 2.00 x floor <= 1.5: MISSED",
        "slow 1,000,000 1,000,000.00 ms <= 1: MISSED",
    ]
    assert ran([ratio("good one", 1.0)], "--against", file).returncode == 0


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"[" * 100_000, b"{}", b"[]", b"[3]", b"null", b'[{"name":"a"}]'], ids=range(8))
def test_what_is_no_stored_run_is_refused(content: bytes, harness: Any, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.json (is no stored run|has no ratio)"):
        harness.stored(tmp_path / "x.json")


def test_runs_that_can_not_be_compared_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    never: list[list[Any]] = [["not", "measured"]]
    for file, sentence in (
        (tmp_path / "nothing.json", "can't be read: No such file"),
        (tmp_path, "can't be read"),
        (store(tmp_path / "a.json", ratio("a", 1.0), machine="another\x1b"), r"was measured on another\x1b"),
        (store(tmp_path / "c.json", ratio("a", 1.0), measured=0), "has no ratio to compare with"),
        (store(tmp_path / "d.json", SLOW), "has no ratio to compare with"),
    ):
        done = ran(never, "--against", file)
        assert done.returncode == 2, done.stderr
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
    lacking = ran([ratio("b", 1.0)], "--against", store(tmp_path / "e.json", ratio("a", 1.0)))
    assert (lacking.returncode, lacking.stderr.count("\n")) == (2, 1)
    assert "The stored run has no figure 'b'" in lacking.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "count"),
    [
        ("match_step", ["--steps", "1000"], 16),
        ("isolation", ["--steps", "1000"], 7),
        ("league", ["--steps", "50", "--matches", "40", "--pretended", "2000"], 5),
        ("short_matches", ["--games", "4"], 6),
        ("fairness", ["--answers", "20", "--steps", "5", "--load", "1", "--most", "1"], 28),
        ("fairness", ["--answers", "20", "--steps", "5", "--load", "1", "--most", "0", "--isolation", "strict", "--gives-way"], 6),
    ],
)
def test_a_benchmark_prints_its_figures(name: str, words: list[str], count: int) -> None:
    need(not missing() or name in ("match_step", "environments"), missing())
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
