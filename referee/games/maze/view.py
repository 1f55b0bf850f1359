"""Maze as JSON: what players see, what replays record, how answers are read; and the board as text."""

from __future__ import annotations

from referee.games.game import MalformedMove
from referee.games.maze.layouts import EXIT, WALL
from referee.games.maze.state import Go
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from referee.games.maze.state import State

    Json = Any

_NO_ORDER = Go("")


def view(state: State) -> dict[str, Json]:
    """The position as every seat and spectator sees it; squares are [row, column], from 1."""
    limit = state.settings.max_moves
    return {
        "step": state.step,
        "thief": _square(state, state.thief),
        "policeman": _square(state, state.policeman),
        "thief_from": _square(state, state.thief_from),
        "policeman_from": _square(state, state.policeman_from),
        "illegal": dict(zip(("thief", "policeman"), state.illegal, strict=True)),
        "moves_left": limit - state.moves if limit else None,
    }


def _square(state: State, place: int) -> list[int] | None:
    return None if place < 0 else list(state.settings.layout.squares[place])


def parse(answer: Json) -> Go:
    """An answer's ``move``; without an order it is an illegal one. MalformedMove names the key that is wrong."""
    if not isinstance(answer, dict):
        raise MalformedMove(f'move is {_shown(answer)}, but must be an object such as {{"go":"U"}}')
    go = answer.get("go")
    if go is None:
        return _NO_ORDER
    if not isinstance(go, str) or len(go) > 40:
        raise MalformedMove(f"move.go is {_shown(go)}, but must be U, D, L or R")
    return Go(go)


def changes_text(before: State, after: State) -> str:
    """What one ply changed: the square of who has moved."""
    parts = []
    for name, was, now in (("thief", before.thief, after.thief), ("policeman", before.policeman, after.policeman)):
        if was != now:
            parts.append('"%s":[%d,%d]' % (name, *after.settings.layout.squares[now]))
    return "{" + ",".join(parts) + "}"


def rows(state: State, signs: str = "_W") -> list[str]:
    """The board, a sign a square: what is free, wall, ``E`` the exit, ``T`` and ``P``; who stands over the exit is seen."""
    layout = state.settings.layout
    found = [[signs[1] if sign == WALL else "E" if sign == EXIT else signs[0] for sign in row] for row in layout.rows]
    for letter, place in (("T", state.thief), ("P", state.policeman)):
        row, column = layout.squares[place]
        found[row - 1][column - 1] = letter
    return ["".join(row) for row in found]


def lines(state: State, columns: int, most: int) -> list[str]:
    """The board as text, cut to what fits."""
    return [row[:columns] for row in rows(state, ".#")[:most]]


def unknown_keys(answer: dict[str, Json]) -> Sequence[str]:
    """Keys of an answer's ``move`` that mean nothing."""
    return [f"move.{key}" for key in answer if key != "go"]


def _shown(value: Json) -> str:
    """A value for a sentence, cut short."""
    try:
        text = {None: "missing", True: "true", False: "false"}.get(value) if value is None or isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):
        text = "a huge value"
    text = text or ""
    return text if len(text) <= 40 else f"{text[:37]}..."
