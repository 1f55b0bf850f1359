"""Every CSV has a byte order mark if, and only if, it has characters beyond ASCII; no text in it is a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.support import csv_text

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

MARK = "\ufeff"
LEAGUE = 'game = "evasion"\nisolation = "none"\nsettings.max_steps = 5\n'


@pytest.mark.parametrize("name", ["Zoe", "Zoë"])
def test_tables_of_leagues(name: str, tmp_path: Path, referee: Cli) -> None:
    teams = "".join(
        f'[[teams]]\nname = "{team}"\nhunter = "straight"\nprey = "{prey}"\n' for team, prey in ((name, "still"), ("b", "runner"))
    )
    (tmp_path / "league.toml").write_text(LEAGUE + teams, encoding="utf-8")
    assert referee("league", "run", "league.toml", "--out", "out", "-q").returncode == 0
    assert referee("league", "export", "out", "--csv", "--out", "all.csv").returncode == 0
    texts = [
        referee("league", "standings", "out", "--csv").stdout,
        referee("league", "export", "out", "--csv").stdout,
        (tmp_path / "all.csv").read_text(encoding="utf-8"),
    ]
    assert [text.startswith(MARK) for text in texts] == [name == "Zoë"] * 3
    assert [text.count(MARK) for text in texts] == [int(name == "Zoë")] * 3
    assert all(name in text for text in texts)


@pytest.mark.parametrize("folder", ["a", "ä", "@a"])
def test_the_kept_matches_of_a_comparison(folder: str, tmp_path: Path, referee: Cli) -> None:
    (tmp_path / folder).mkdir()
    for seat, method in (("hunter", "hunt"), ("prey", "flee")):
        base = f"{seat.title()}Bot"
        text = f"from sdk import {base}\nclass Mine({base}):\n    def {method}(self, state):\n        return None\nMine.main()\n"
        (tmp_path / folder / f"{seat}.py").write_text(text)
    (tmp_path / "b").symlink_to(folder)
    words = ("compare", folder, "b", "--isolation", "none", "--max-steps", "5", "--duels", "2", "--out", "kept")
    for _ in range(2):
        assert referee(*words).returncode == 1
        text = (tmp_path / "kept" / "matches.csv").read_text(encoding="utf-8")
        assert (text.startswith(MARK), text.count(MARK), len(text.splitlines())) == (folder == "ä", int(folder == "ä"), 5)
        assert not any(cell.startswith("@") for row in csv.reader(io.StringIO(text)) for cell in row)


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "\u00a0=1", "\ufeff=1")  # noqa: RUF001 - the wide sign is meant


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_is_no_formula(text: str) -> None:
    found = csv_text.cell(text)
    assert found.startswith(("'", "\\")), found
    assert found.isprintable()


@pytest.mark.parametrize("text", ["a;=1+1", "a,=1", 'a";=1', "a\t=1", "a; @x", "a;-1"])
def test_another_separator_begins_no_formula(text: str) -> None:
    found = csv_text.cell(text)
    for separator in ";,\t":
        for row in csv.reader(io.StringIO(found), delimiter=separator):
            assert not any(each.strip().startswith(("=", "+", "-", "@")) for each in row), row


def test_harmless_cells_stay_as_they_are() -> None:
    for text in ("Jane Doe", "jane.doe@example.edu", "O'Neill", "a-b", "a, b", "Zoë Löwenzahn", ""):
        assert csv_text.cell(text) == text
    for text in ("-3", "-1.5", "-", "+2", "87,5", "x"):
        assert csv_text.foreign_cell(text) == text
    assert csv_text.foreign_cell("-3+cmd") == "'-3+cmd"


@given(st.text())
def test_any_text_stays_in_its_cell_and_is_no_formula(text: str) -> None:
    found = csv_text.cell(text)
    assert found.isprintable()
    assert not found.startswith(("=", "+", "-", "@"))


def test_a_written_row_has_no_formula_and_keeps_its_numbers() -> None:
    rows = [["=1+1", "a\nb", "-3.5", -3.5, None, "Zoë"]]
    assert csv_text.as_csv(rows) == "'=1+1,a\\nb,-3.5,-3.5,,Zoë\n"
    assert csv_text.as_csv(rows, "\r\n").endswith("\r\n")
