"""Recorded games of the toy game, played again."""

from __future__ import annotations

from typing import Any

from counting import GAME

from referee.games.conformance import Difference, Played


def is_ours(record: dict[str, Any]) -> bool:
    return "added" in record


def play(record: dict[str, Any]) -> Played:
    state = GAME.start(GAME.codec.settings(None, {}), b"")
    for move in record["added"]:
        state, _ = GAME.step(state, {GAME.movers(state)[0]: move})
    if state.total != record["total"]:
        return Played(state.step, Difference(state.step, "total", record["total"], state.total))
    return Played(state.step, None)
