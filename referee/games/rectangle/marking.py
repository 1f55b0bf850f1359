"""Requirements of rubrics in Rectangle, and the tests of a new rubric."""

from __future__ import annotations

from referee.games.capabilities import Marking, SampleTest
from referee.games.rectangle.state import LETTERS

_FIRST = LETTERS[0]


MARKING = Marking(
    catchers=(),
    survivors=(),
    scores_are_points=True,
    # The set-up is a step, too.
    step_limit=lambda settings: settings.cap + 1 if settings.cap else None,
    settings={"cap": 200},
    samples=(
        SampleTest("Any bot that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, _FIRST, "idle", 2, 0),
        SampleTest("The score is the number of cells at the end.", "fills cells", "score_at_least = 20", 20, _FIRST, "random", 8, 4),
        SampleTest("More cells than a bot that draws small rings.", "wins against blocker", "wins = true", 20, _FIRST, "blocker", 8, 4),
        SampleTest(
            "A bot whose robots draw rings of one size is harder to beat.", "wins against looper", "wins = true", 20, _FIRST, "looper", 8, 4
        ),
        SampleTest("A duel is won by the higher score.", "beats random", 'beats = "random"', 30, starts=8, hidden=4),
    ),
)
