"""Requirements of rubrics in Evasion, and the tests of a new rubric."""

from __future__ import annotations

from referee.games.capabilities import Marking, SampleTest
from referee.games.evasion.state import HUNTER, PREY

MARKING = Marking(
    catchers=(HUNTER,),
    survivors=(PREY,),
    scores_are_points=False,
    step_limit=lambda settings: settings.max_steps,
    settings={"max_steps": 3000},
    samples=(
        SampleTest("Any hunter that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, HUNTER, "still", 2, 0),
        SampleTest(
            "This prey keeps away from walls, so the hunter has to plan them.",
            "catches an evader",
            "catch_within = 2000",
            20,
            HUNTER,
            "evader",
            8,
            4,
        ),
        SampleTest(
            "On this board a hunter that never builds flies past every cell: the prey has to keep out of its way.",
            "dodges",
            "survive = 1500",
            20,
            PREY,
            "straight",
            8,
            4,
            {"width": 53, "height": 41},
        ),
        SampleTest(
            "This prey stays at the hunter's back, where walls cut off little.",
            "catches a shadow",
            "catch_within = 1500",
            15,
            HUNTER,
            "shadow",
        ),
        SampleTest("The prey has to stay free from a hunter that builds walls.", "stays free", "survive = 1000", 15, PREY, "boxer"),
        SampleTest("The roles are swapped; the hunter that needs fewer steps wins.", "beats boxer", 'beats = "boxer"', 20),
    ),
)
