"""Requirements of rubrics in Maze, and the tests of a new rubric."""

from __future__ import annotations

from referee.games.capabilities import Marking, SampleTest
from referee.games.maze.state import POLICEMAN, SEATS, THIEF

MARKING = Marking(
    catchers=SEATS,
    survivors=SEATS,
    scores_are_points=True,
    # Each move of the thief but the last is followed by one of the policeman.
    step_limit=lambda settings: 2 * settings.max_moves or None,
    settings={"max_moves": 100},
    samples=(
        SampleTest("Any thief that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, THIEF, "easy", 2, 0),
        SampleTest("The thief has to reach the exit.", "escapes from an easy policeman", "wins = true", 20, THIEF, "easy", 8, 4),
        SampleTest("This policeman comes nearer with each step.", "escapes from a hard policeman", "wins = true", 20, THIEF, "hard", 8, 4),
        SampleTest(
            "The policeman has to catch the thief; both players' steps count.",
            "catches a thief",
            "catch_within = 100",
            20,
            POLICEMAN,
            "random",
            8,
            4,
        ),
        SampleTest("The roles are swapped; the team with more points wins.", "beats random", 'beats = "random"', 30, starts=8, hidden=4),
    ),
)
