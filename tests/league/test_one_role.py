"""Teams whose program plays one role only are refused before the first match, with the line that mends them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from leagues import IDLE, SHORT, write_league

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
    assert "The team 'T0' doesn't play prey. The prey (" in refused.stderr
    assert "I hunt" in refused.stderr
    assert 'or the line prey = "evader" to its table in the league file. ' in refused.stderr
    assert refused.stderr.endswith("Bots of one role need no league: referee compare in/bot0.py in/bot1.py.\n")
    assert not (tmp_path / "out").exists()
    file.write_text(file.read_text().replace('program = "bot0.py"\n', 'program = "bot0.py"\nprey = "evader"\n'))
    done = referee("league", "run", file, "--out", "out", "-q")
    assert done.returncode == 0, done.stderr
    with contextlib.closing(open_league(tmp_path / "out")) as opened:
        assert opened.schedule.teams["T0"].players["prey"] == "evader"


def test_all_teams_of_one_role_are_told_at_once(referee: Referee, tmp_path: Path) -> None:
    file = one_role(tmp_path)
    (tmp_path / "in" / "bot2.py").write_text(HUNTER)
    refused = referee("league", "run", file, "--out", "out")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.endswith(" referee compare in/bot0.py in/bot2.py. 1 more: T2 has no prey.\n")


def test_a_folder_or_a_table_without_a_role_gets_the_same_line(referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "in" / "half").mkdir(parents=True)
    (tmp_path / "in" / "half" / "hunter.py").write_text(IDLE)
    (tmp_path / "in" / "whole.py").write_text(IDLE)
    first = referee("league", "run", "in", "--out", "out")
    (tmp_path / "in" / "league.toml").write_text(
        f'[settings]\n{SHORT}[[teams]]\nname = "Half"\nhunter = "half/hunter.py"\n[[teams]]\nname = "Whole"\nprogram = "whole.py"\n'
    )
    second = referee("league", "run", "in", "--out", "out")
    for refused in (first, second):
        assert refused.returncode == 2
        assert 'Add a program for prey, or the line prey = "evader" to its table' in refused.stderr
        assert "Bots of one role need no league; referee compare lets two of them meet the same opponent." in refused.stderr


def test_a_program_that_never_starts_is_left_to_the_league(referee: Referee, tmp_path: Path) -> None:
    file = one_role(tmp_path)
    (tmp_path / "in" / "bot0.py").write_text("raise SystemExit(1)\n")
    done = referee("league", "run", file, "--out", "out", "-q")
    assert done.returncode == 0
    assert "T0 can't start and forfeits its other matches" in done.stderr
