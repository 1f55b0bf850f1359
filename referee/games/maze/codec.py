"""The JSON forms of Maze: the players' view, the replay records, and the parsing of answers."""

from __future__ import annotations

from referee.games.game import MalformedMove
from referee.games.maze import variants
from referee.games.maze.state import Go
from referee.games.values import shown
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from referee.games.maze.state import Settings, State

    Json = Any
    Seat = str

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
        raise MalformedMove(f'move is {shown(answer)}, but must be an object such as {{"go":"U"}}')
    go = answer.get("go")
    if go is None:
        return _NO_ORDER
    if not isinstance(go, str) or len(go) > 40:
        raise MalformedMove(f"move.go is {shown(go)}, but must be U, D, L or R")
    return Go(go)


def changes_text(before: State, after: State) -> str:
    """Return the change of one ply: the new square of the player that moved."""
    parts = []
    for name, was, now in (("thief", before.thief, after.thief), ("policeman", before.policeman, after.policeman)):
        if was != now:
            parts.append('"%s":[%d,%d]' % (name, *after.settings.layout.squares[now]))
    return "{" + ",".join(parts) + "}"


def unknown_keys(answer: dict[str, Json]) -> Sequence[str]:
    """Keys of an answer's ``move`` that mean nothing."""
    return [f"move.{key}" for key in answer if key != "go"]


class MazeCodec:
    """Implements ``referee.games.game.Codec``."""

    def settings(self, rules: str | None, given: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting, or the line and column of a layout, and what is allowed."""
        return variants.settings(rules, given)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON; squares only where they are given."""
        record: dict[str, Json] = {name: getattr(settings, name) for name in ("parity", "exit_start", "apart", "max_moves")}
        record["layout"] = list(settings.layout.rows)
        if settings.thief is not None and settings.policeman is not None:
            record["thief"], record["policeman"] = list(settings.thief), list(settings.policeman)
        return record

    def view(self, state: State, seat: Seat | None) -> Json:
        """The whole position: nothing is hidden."""
        return view(state)

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The same as compact JSON."""
        import json

        return json.dumps(view(state), separators=(",", ":"))

    def parse(self, state: State, seat: Seat, answer: Json) -> Go:
        """An answer as a move."""
        return parse(answer)

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing."""
        return unknown_keys(answer)

    def move_json(self, move: Go) -> Json:
        """A move as an answer would give it."""
        return {"go": move.go} if move.go else {}

    def changes_text(self, before: State, after: State) -> str:
        """What one ply changed, as compact JSON."""
        return changes_text(before, after)
