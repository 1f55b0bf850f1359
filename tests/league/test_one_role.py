"""Teams whose program plays one role only are refused before the first match, with the line that mends them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from leagues import IDLE, write_league

from referee.league.league import open_league

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]

#: It leaves when it is to play the prey, as bots of the SDK do.
HUNTER = IDLE.replace('"start":\n', '"start":\n        if message["seat"] == "prey": sys.exit("I hunt")\n')


def one_role(tmp_path: Path, teams: int = 3) -> Path:
    """A league of which the first team has a hunter only."""
    file = write_league(tmp_path / "in", teams)
    (tmp_path / "in" / "bot0.py").write_text(HUNTER)
    return file


def test_a_program_of_one_role_is_refused_and_the_told_line_mends_it(referee: Referee, tmp_path: Path) -> None:
    file = one_role(tmp_path)
    refused = referee("league", "run", file, "--out", "out")
    assert refused.returncode == 2
    assert not (tmp_path / "out").exists()
    file.write_text(file.read_text().replace('program = "bot0.py"\n', 'program = "bot0.py"\nprey = "evader"\n'))
    done = referee("league", "run", file, "--out", "out", "-q")
    assert done.returncode == 0, done.stderr
    with contextlib.closing(open_league(tmp_path / "out")) as opened:
        assert opened.schedule.teams["T0"].players["prey"] == "evader"
