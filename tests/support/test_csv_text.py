"""Every CSV has a byte order mark if, and only if, it has characters beyond ASCII."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.parametrize("folder", ["a", "ä"])
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
