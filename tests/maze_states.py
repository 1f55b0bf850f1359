"""Maze: the game, and states by their squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee import games
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.solver import Solution

if TYPE_CHECKING:
    from referee.games.maze.state import State

GAME = games.get("maze")
SOLVED = Solution(Layout(STANDARD))


def state_of(thief: tuple[int, int], policeman: tuple[int, int], **given_: Any) -> State:
    made: State = GAME.start(GAME.codec.settings(None, {"thief": thief, "policeman": policeman, "parity": "any", **given_}), b"")
    return made
