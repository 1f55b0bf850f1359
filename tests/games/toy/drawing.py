"""Positions of the toy game: a stroke for each number that was said."""

from __future__ import annotations

from typing import Any

from counting import GAME, State


def position(drawing: str, **settings: Any) -> State:
    return State(GAME.codec.settings(None, settings), 2, drawing.count("I"))
