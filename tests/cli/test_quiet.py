"""-q prints the result alone: one sentence of a match, a table of many teams, and nothing on stderr."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from arenas import begin
from gradings import table
from gradings import write as write_rubric
from leagues import IDLE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

FEW = ("--max-steps", "3", "--isolation", "none")


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("play", "straight", "still", *FEW), r"Still is still free after 3 steps, the step limit: Straight has no score\.\n"),
        (("play", "straight", "still", "--games", "2", *FEW), r"2 games of straight and still: hunter won 0, prey won 2\n"),
        (("duel", "random", "random", "--seed", "1", *FEW), r"A \(random\) and B \(random\) tie\.\n"),
        (("compare", "straight", "boxer", "--duels", "1", *FEW), r"Undecided after 1 duel: .*\n"),
        (("check", "straight", "--seat", "hunter", "--only", "ready", "--isolation", "none"), r"1 check: 1 ok\.\n"),
        (("league", "run", "teams", *FEW), r"place  team .*\n(   1=  (ada|bob) .*\n){2}"),
        (("arena", "run", "arena", "--duels", "1"), r"rank +version .*\n(.*\d.*\n)+"),
        (("grade", "run", "teams", "--rubric", "rubric.toml"), r"student  points of 10  status\n((ada|bob) .*\n)+"),
        (("grade", "check-rubric", "rubric.toml"), r"student +points of 10  status\n(.* \d+(\.\d+)?  (ok|faulty).*\n)+"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_quiet_commands_print_the_result_alone(words: tuple[str, ...], result: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    for name in ("ada", "bob"):
        (tmp_path / "teams" / f"{name}.py").write_text(IDLE)
    one = table(seat='"prey"', against='"straight"', need="{ finishes = true }")
    write_rubric(tmp_path, f'isolation = "none"\n{one}[settings]\nmax_steps = 5\n')
    begin(tmp_path / "arena", 2).close()
    done = referee(*words, "-q")
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert re.fullmatch(result, done.stdout), done.stdout
