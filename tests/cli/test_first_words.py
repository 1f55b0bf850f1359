"""What a new user types with a slip: the message names the command that was meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

BUILDS = "from sdk import HunterBot\nclass Builds(HunterBot):\n    def hunt(self, state): return self.build('vertical') if state.step > 20 else None\nBuilds.main()\n"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("play", "dasher hard"), "leave them out, and add --game maze: 'dasher' is an example bot of maze."),
        (("play", "boxer evader"), "'boxer evader' is one player, because of the quotes; leave them out."),
        (
            ("play", "boxer", "dasher hard"),
            "The prey 'dasher hard' is one player, because of the quotes; leave them out, and add --game maze",
        ),
        (("play", "--game", "Maze", "dasher", "hard"), "there is no game 'Maze'; did you mean 'maze'?"),
        (("arena", "add", "bot.py", "ladder"), "The arena comes first: referee arena add ladder bot.py --team NAME"),
        (("arena", "run", "bot.py"), "bot.py is not the folder of an arena. Begin one: referee arena new DIR"),
        (("grade", "check-rubric"), "There is no rubric rubric.toml; referee grade init writes one for each game."),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_a_slip_is_answered_with_what_was_meant(words: tuple[str, ...], answer: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BUILDS)
    (tmp_path / "ladder").mkdir()
    (tmp_path / "ladder" / "arena.toml").touch()
    done = referee(*words)
    assert done.returncode == 2
    assert answer in re.sub(r"\S+ -m referee", "referee", done.stderr), done.stderr


def test_games_may_be_written_with_capitals(referee: Cli) -> None:
    assert referee("bots", "Maze").stdout == referee("bots", "maze").stdout
    assert referee("games", "Maze").stdout == referee("games", "maze").stdout


def test_one_game_gets_its_rubric(referee: Cli, tmp_path: Path) -> None:
    assert referee("grade", "init", "--game", "maze").stdout == "rubric-maze.toml\n"
    assert [path.name for path in tmp_path.glob("rubric*")] == ["rubric-maze.toml"]
    assert "name one of rubric-maze.toml." in referee("grade", "check-rubric").stderr


def test_the_rules_that_the_user_names_are_played(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BUILDS)
    words = ("check", "bot.py", "--seat", "hunter", "--only", "rule-sets", "--isolation", "none")
    done = referee(*words, "--rules", "gameserver")
    assert done.returncode == 1
    assert "FAILED   match" in done.stdout
    assert referee(*words).returncode == 0
