"""The session on the page about leagues runs as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "leagues.md").read_text()


@pytest.mark.soak
@pytest.mark.long
def test_a_class_of_six_teams(referee: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    (session,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "matches" / "leagues").mkdir(parents=True)
    # Without the sandbox, of which nothing is checked here.
    text = (ROOT / "matches" / "leagues" / "class.toml").read_text()
    (tmp_path / "matches" / "leagues" / "class.toml").write_text(f'isolation = "none"\n{text}')
    lines = session.splitlines()
    assert len(lines) >= 5
    for line in lines:
        done = referee(*shlex.split(line)[1:], timeout=600)
        assert done.returncode == 0, (line, done.stderr)
        if " run " in line:
            # The rows that the page shows are those that the league comes to.
            rows = re.findall(r"^ +\d  \w+ .*$", PAGE, re.MULTILINE)
            assert len(rows) == 2
            for row in rows:
                assert row in done.stdout
    assert (tmp_path / "autumn" / "report.html").exists()
    assert len((tmp_path / "autumn.csv").read_text().splitlines()) == 1 + 2 * 4 * 15
