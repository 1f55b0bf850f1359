"""The name, rule sets and settings of Rectangle. Commands that need only these load this module without the rules.

Source: rules of Rectangle, "Parameters".
"""

from __future__ import annotations

from referee.games.game import GameInfo, Option

SHARING = ("2002", "2003")
_MILLION = 1_000_000

OPTIONS = (
    Option("n", "Rows and columns of the board.", least=3, most=200, default=12, unit="cells"),
    Option("players", "The number of players.", least=2, most=26, default=2),
    Option("robots", "Robots of each player.", least=1, most=100, default=2),
    Option(
        "stagnation",
        "Turns without a gain after which the game ends.",
        least=1,
        most=_MILLION,
        default_text="4 times the size",
        unit="turns",
    ),
    Option("cap", "The most turns; 0: no limit.", most=_MILLION, default=0, unit="turns"),
    Option("sharing", "The effect of several robots of one player on one cell.", "choice", choices=SHARING, default=SHARING[0]),
)

INFO = GameInfo("rectangle", 1, ("small", "middle", "large"), OPTIONS, players_option="players", size_options=("n",))
