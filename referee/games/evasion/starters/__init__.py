"""The starters of Evasion; their templates are in the folders beside this file."""

from __future__ import annotations

from referee.games.capabilities import Starter, Starters
from referee.games.evasion.state import HUNTER, PREY

#: The walls of the rules ``gameserver`` are built in another way.
_RULES = ("classic", "diagonal")
STARTERS = Starters(
    {
        HUNTER: Starter("closes the half of the board behind it whenever it flies towards the prey", "evader", _RULES),
        PREY: Starter("runs where the hunter, if it flies on, stays farthest away", "boxer", _RULES),
    }
)
