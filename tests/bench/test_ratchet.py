"""A run of the bench against a stored one: the ratios alone decide, and what can't be compared is said in a sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from referee.bench import measures, ratchet
from referee.bench.measures import Figure
from referee.cli import develop
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILD = "pure Python"
HERE = "this machine"


def ratio(name: str, value: float, *, at_least: bool = False) -> Figure:
    return Figure(name, "us", [value], [1.0], "ratio", 1.5, at_least)


SLOW = Figure("slow", "ms", [1e6], None, "value", 1.0)


def stored(path: Path, figures: Sequence[Figure], machine: str | None = HERE) -> Path:
    path.write_text(json.dumps([{**figure.to_json(), **({} if machine is None else {"machine": machine})} for figure in figures]))
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
def test_only_a_ratio_that_is_much_worse_fails(before: float, now: float, at_least: bool, is_worse: bool, tmp_path: Path) -> None:
    file = stored(tmp_path / "x.json", [ratio("a", before), SLOW._replace(values=[1.0])])
    (found,) = ratchet.compare([ratio("a", now, at_least=at_least), SLOW], ratchet.read(file, HERE, BUILD), "x.json")
    assert found.is_worse == is_worse
    assert found.text.startswith(f"a {before:.2f} -> {now:.2f} x floor (")
    assert found.to_json() == {"before": before, "change": found.change, "worse": is_worse}


def test_the_ratio_is_the_median_of_the_rounds_ratios(tmp_path: Path) -> None:
    figure = Figure("a", "us", [2.0, 30.0, 4.0], [1.0, 10.0, 1.0], "ratio", math.inf)
    assert ratchet.read(stored(tmp_path / "x.json", [figure]), HERE, BUILD) == {"a": 3.0}


BAD: list[tuple[Any, str]] = [
    (b"", "is no stored run: it must be the output of referee bench --json."),
    (b"\xff\x00", "is no stored run"),
    (b"[" * 100_000, "is no stored run"),
    (b"{}", "measured on a machine that it doesn't name"),
    (b"[]", "measured on a machine that it doesn't name"),
    (b"[3]", "is no stored run"),
    (b"null", "is no stored run"),
    (b'[{"name":"a"}]', "is no stored run"),
    ([{"name": "a", "compared": "ratio", "measured": "1", "machine": HERE}], "is no positive number"),
    ([{"name": "a", "compared": "ratio", "measured": 0, "machine": HERE}], "is no positive number"),
    ([{"name": "a", "compared": "ratio", "measured": True, "machine": HERE}], "is no positive number"),
    ([{"name": ["a"], "compared": "ratio", "measured": 1, "machine": HERE}], "is no stored run"),
    (
        [{"name": "a", "compared": "ratio", "measured": 1, "machine": "another\x1b"}],
        r"was measured on another\x1b, and this is this machine",
    ),
    ([{"name": "a", "compared": "ratio", "measured": 1}], "measured on a machine that it doesn't name"),
    ([{"name": "a", "compared": "value", "measured": 1, "machine": HERE}], "has no ratio to compare with"),
    (
        [{"name": "a", "compared": "ratio", "measured": 1, "machine": HERE, "build": "compiled"}],
        "was measured with a referee that is compiled, and this one is pure Python; compare equal builds.",
    ),
]


@pytest.mark.parametrize(("content", "sentence"), BAD, ids=range(len(BAD)))
def test_what_is_no_stored_run_of_this_machine_is_refused(content: Any, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(UsageError) as refused:
        ratchet.read(file, HERE, BUILD)
    assert sentence in str(refused.value)
    assert str(refused.value).isprintable()


def test_missing_files_folders_and_figures_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read: No such file"):
        ratchet.read(tmp_path / "nothing.json", HERE, BUILD)
    with pytest.raises(UsageError, match="can't be read"):
        ratchet.read(tmp_path, HERE, BUILD)
    with pytest.raises(UsageError, match=r"x.json has no figure 'b'; store a run"):
        ratchet.compare([ratio("a", 1.0), ratio("b", 1.0)], {"a": 1.0}, "x.json")
    with pytest.raises(UsageError, match="this bench has no ratio"):
        ratchet.compare([SLOW], {"a": 1.0}, "x.json")


def test_this_machine_is_the_same_each_time() -> None:
    assert ratchet.machine() == ratchet.machine()
    assert ", Python 3." in ratchet.machine()


def test_the_command_says_which_ratios_are_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [ratio("good one", 1.0), ratio("bad one", 2.0), SLOW]
    monkeypatch.setattr(measures, "everything", lambda rounds, steps: now)
    monkeypatch.setattr(ratchet, "machine", lambda: HERE)
    file = stored(tmp_path / "x.json", [ratio("good one", 1.0), ratio("bad one", 1.5)])
    with pytest.raises(typer.Exit) as left:
        develop.bench(against=file)
    assert left.value.exit_code == 1
    out, err = capsys.readouterr()
    assert "WORSE  bad one 1.50 -> 2.00 x floor (33% worse)" in out
    assert "good   good one" in out
    assert err.endswith(f"referee: 1 ratio is more than 15% worse than in {file}: bad one 1.50 -> 2.00 x floor (33% worse).\n")
    # What the command stores is what it reads.
    develop.bench(as_json=True)
    file.write_text(capsys.readouterr().out)
    develop.bench(against=file, as_json=True)
    assert [figure.get("against", {}).get("worse") for figure in json.loads(capsys.readouterr().out)] == [False, False, None]
    with pytest.raises(typer.Exit) as left:
        develop.bench(against=tmp_path / "nothing.json")
    assert left.value.exit_code == 2
