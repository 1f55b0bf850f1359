"""The starters of Rectangle; their templates are in the folders beside this file."""

from __future__ import annotations

from referee.games.capabilities import Starter, Starters

#: All seats play alike.
STARTERS = Starters({"any": Starter("sends each robot around one small ring after another", "blocker")}, role="painter")
