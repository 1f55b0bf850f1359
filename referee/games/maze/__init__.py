"""Maze: a thief runs for the exit, and a policeman chases it. The rules are in the README of this folder.

``GAME`` is imported at its first use, so that commands can read the options without loading the rules.
"""

from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.maze.game import GAME

__all__ = ["GAME"]


def __getattr__(name: str) -> object:
    if name != "GAME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from referee.games.maze.game import GAME

    globals()["GAME"] = GAME
    return GAME
