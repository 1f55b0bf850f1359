"""Whose match it is: a bot that takes another team's name is shown behind its own team, in every place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from leagues import IDLE, write_league
from served_pages import launched, visiting, wait_until_read

from referee.pages.folder_listing import read_entry, scan
from referee.replay_view import open_replay

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]

#: It calls itself as the team T0 is called.
PRETENDER = IDLE.replace('"protocol": 1}', '"protocol": 1, "name": "T0"}')


@pytest.fixture
def pretended(referee: Referee, tmp_path: Path) -> Path:
    """The folder of a league in which the team T1 calls itself T0, with its report."""
    file = write_league(tmp_path / "in", 2)
    (tmp_path / "in" / "bot1.py").write_text(PRETENDER)
    out = tmp_path / "out"
    assert referee("league", "run", file, "--out", out, "--quiet").returncode == 0
    assert referee("league", "report", out).returncode == 0
    return out


def test_a_bot_passes_for_no_other_team(referee: Referee, pretended: Path) -> None:
    for found in scan(pretended)[0]:
        entry = read_entry(found, found.path.name)
        assert sorted(entry.players.values()) == ["T0", "T1 (T0)"]
        assert sorted(entry.teams.values()) == ["T0", "T1"]
        shown = referee("show", found.path).stdout
        assert "T1 (T0) (" in shown
        # The hunter alone moves in step 0, both move in step 1.
        assert "T1 (T0) moved" in referee("show", found.path, "--step", "1").stdout
        assert "T1 (T0)" in repr(open_replay(found.path))


@pytest.mark.slow
def test_the_viewer_of_a_report_names_the_teams(pretended: Path) -> None:
    with launched() as chromium, visiting(chromium) as visit:
        page = visit(f"file://{pretended}/report.html")
        page.locator("a", has_text="Watch").first.click()
        wait_until_read(page, 40)
        assert sorted(page.locator(".player-name").all_inner_texts()) == ["T0", "T1"]
        assert {"T1", "T0"} == set(re.split(" . ", page.title())[:2])
