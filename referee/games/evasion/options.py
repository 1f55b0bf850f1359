"""The name, rule sets and settings of Evasion. Commands that need only these load this module without the rules."""

from __future__ import annotations

from referee.games.game import GameInfo, Option

_STEPWISE = ("classic", "diagonal")
_MILLION = 1_000_000

OPTIONS = (
    Option("width", "Columns of the board.", least=1, most=10_000, default=300, unit="cells"),
    Option("height", "Rows of the board.", least=1, most=10_000, default=300, unit="cells"),
    Option("hunter", "The hunter's start and heading.", "integers", parts=("x", "y", "dx", "dy"), default=(0, 0, 1, 1)),
    Option("prey", "The prey's start.", "integers", parts=("x", "y"), default=(230, 200)),
    Option("cooldown", "Steps from one wall to the next.", most=_MILLION, default=20, unit="steps", short="N"),
    Option("max_walls", "The most walls at once.", most=1_000, default=10, short="M"),
    Option("capture_radius", "The distance at which the prey is caught.", most=10_000, default=4, unit="cells"),
    Option("prey_period", "The prey moves once in this number of steps.", least=1, most=_MILLION, default=2, unit="steps", rules=_STEPWISE),
    Option("prey_cooldown", "Rounds from one move of the prey to the next.", most=_MILLION, unit="rounds", rules=("gameserver",)),
    Option("max_steps", "The step limit.", least=1, most=_MILLION, default=10_000, unit="steps"),
    Option(
        "adjudicate_after",
        "Steps without a change of walls after which the match is adjudicated; 0: never.",
        most=_MILLION,
        default=0,
        unit="steps",
    ),
)

INFO = GameInfo("evasion", 1, (*_STEPWISE, "gameserver"), OPTIONS, size_options=("width", "height"))
