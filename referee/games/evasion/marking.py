"""What a rubric can ask in Evasion, and the tests that a new rubric proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import Marking, SampleTest
from referee.games.evasion.state import HUNTER, PREY

if TYPE_CHECKING:
    from referee.games.evasion.state import Settings


def _step_limit(settings: Settings) -> int:
    return settings.max_steps


MARKING = Marking(
    catchers=(HUNTER,),
    survivors=(PREY,),
    scores_are_points=False,
    step_limit=_step_limit,
    settings={"max_steps": 3000},
    samples=(
        SampleTest("Any hunter that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, HUNTER, "still", 2, 0),
        SampleTest(
            "The hunter has to build walls to catch this prey.", "catches a runner", "catch_within = 2000", 20, HUNTER, "runner", 6, 3
        ),
        SampleTest("The prey has to stay free for so many steps.", "stays free", "survive = 400", 20, PREY, "boxer"),
        SampleTest("The roles are swapped; the hunter that needs fewer steps wins.", "beats boxer", 'beats = "boxer"', 30),
    ),
)
