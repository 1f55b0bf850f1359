"""The starters of Maze; their templates are in the folders beside this file."""

from __future__ import annotations

from referee.games.capabilities import Starter, Starters
from referee.games.maze.state import POLICEMAN, THIEF

STARTERS = Starters(
    {
        THIEF: Starter("takes the shortest way to the exit, but keeps off the policeman's next squares", "hard"),
        POLICEMAN: Starter("comes nearer to the thief on the shortest way, and doesn't go back", "dasher"),
    }
)
