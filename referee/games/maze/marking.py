"""What a rubric can ask in Maze, and the tests that a new rubric proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import Marking, SampleTest
from referee.games.maze.state import POLICEMAN, SEATS, THIEF

if TYPE_CHECKING:
    from referee.games.maze.state import Settings


def _step_limit(settings: Settings) -> int | None:
    """Each move of the thief but the last is followed by one of the policeman."""
    return 2 * settings.max_moves or None


MARKING = Marking(
    catchers=SEATS,
    survivors=SEATS,
    scores_are_points=True,
    step_limit=_step_limit,
    settings={"max_moves": 100},
    samples=(
        SampleTest("Any thief that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, THIEF, "easy", 2, 0),
        SampleTest("The thief has to reach the exit.", "escapes from an easy policeman", "wins = true", 20, THIEF, "easy", 6, 3),
        SampleTest(
            "The thief has to stay free for so many steps; both players' steps count.", "stays free", "survive = 30", 20, THIEF, "hard"
        ),
        SampleTest(
            "The policeman has to catch the thief within so many steps.", "catches a thief", "catch_within = 100", 20, POLICEMAN, "random"
        ),
        SampleTest("The roles are swapped; the team with more points wins.", "beats random", 'beats = "random"', 30),
    ),
)
