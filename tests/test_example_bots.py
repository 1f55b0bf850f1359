"""The example bots keep what their README promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from table import README, bot_class, table

from example_bots import BOTS
from sdk.testing import play

ROOT = Path(__file__).parents[1]
BY_NAME = {(bot.name, seat): bot for bot in BOTS for seat in bot.seats}
#: The searcher never catches the shadow.
PREYS = [bot for bot in BOTS if "prey" in bot.seats and bot.name != "shadow"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["classic", "diagonal"])
@pytest.mark.parametrize("prey", [pytest.param(bot, marks=[pytest.mark.slow] if bot.name == "ghost" else [], id=bot.name) for bot in PREYS])
def test_searcher_catches_every_example_prey_in_time(rules: str, prey: object) -> None:
    searcher = bot_class(BY_NAME["searcher", "hunter"])
    result = play(searcher, bot_class(prey), rules=rules, seed=1, max_steps=3_000)  # type: ignore[arg-type]
    assert result.outcome.reason == "caught"


def test_every_file_is_an_example_and_every_example_a_file() -> None:
    files = {path for path in (ROOT / "example_bots").glob("*/*.py") if path.name != "__init__.py"}
    assert {bot.path for bot in BOTS} == files
    readme = README.read_text()
    for bot in BOTS:
        assert f"[{bot.name}]({bot.game}/{bot.file})" in readme


@pytest.mark.slow
def test_the_table_is_made_by_its_script() -> None:
    lines = table("classic", range(1), max_steps=30)
    assert len(lines) == 2 + len([bot for bot in BOTS if "hunter" in bot.seats])
    head, _, _ = README.read_text().partition("<!-- end of table of evasion -->")
    assert lines[0] in head
    done = subprocess.run(
        [sys.executable, "scripts/table.py", "--max-steps", "5", "--cap", "3", "--seeds", "1", "--starts", "1"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert "| searcher |" in done.stdout
    assert "| looper |" in done.stdout


def test_each_example_of_rectangle_plays_to_the_end_and_the_team_beats_who_stands_still() -> None:
    bots = {bot.name: bot_class(bot) for bot in BOTS if bot.game == "rectangle"}
    result = play(*bots.values(), game="rectangle", rules="middle", n=16, players=len(bots), robots=3, cap=120, seed=2)
    assert result.steps == 121
    assert not result.faults
    result = play(bots["idle"], bots["team"], game="rectangle", cap=300, seed=1)
    assert result.outcome.winner == "b"
