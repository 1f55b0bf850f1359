"""The JSON forms of Maze: the players' view, the replay records, and the parsing of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.game import MalformedMove
from referee.games.maze import variants
from referee.games.maze.state import POLICEMAN, SEATS, THIEF, Go
from referee.games.values import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.games.maze.state import Settings, State


_NO_ORDER = Go("")


class MazeCodec:
    """Implements ``referee.games.game.Codec``."""

    def settings(self, rules: str | None, overrides: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting, or the line and column of a layout, and what is allowed."""
        return variants.settings(rules, overrides)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON; squares only where they are given."""
        record: dict[str, Json] = {name: getattr(settings, name) for name in ("parity", "exit_start", "apart", "max_moves")}
        record["layout"] = list(settings.layout.rows)
        if settings.thief is not None and settings.policeman is not None:
            record["thief"], record["policeman"] = list(settings.thief), list(settings.policeman)
        return record

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The whole position as compact JSON: nothing is hidden. Squares are [row, column], from 1."""
        import json

        limit = state.settings.max_moves
        places = {name: getattr(state, name) for name in ("thief", "policeman", "thief_from", "policeman_from")}
        view = {
            "step": state.step,
            **{name: None if place < 0 else list(state.settings.layout.squares[place]) for name, place in places.items()},
            "illegal": dict(zip(SEATS, state.illegal, strict=True)),
            "moves_left": limit - state.moves if limit else None,
        }
        return json.dumps(view, separators=(",", ":"))

    def parse(self, state: State, seat: Seat, answer: Json) -> Go:
        """An answer as a move; without an order it is an illegal one. MalformedMove names the key that is wrong."""
        if not isinstance(answer, dict):
            raise MalformedMove(f'move is {shown(answer)}, but must be an object such as {{"go":"U"}}')
        go = answer.get("go")
        if go is None:
            return _NO_ORDER
        if not isinstance(go, str) or len(go) > 40:
            raise MalformedMove(f"move.go is {shown(go)}, but must be U, D, L or R")
        return Go(go)

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing."""
        return [f"move.{key}" for key in answer if key != "go"]

    def move_json(self, move: Go) -> Json:
        """A move as an answer would give it."""
        return {"go": move.go} if move.go else {}

    def changes_text(self, before: State, after: State) -> str:
        """Return the change of one ply as compact JSON: the new square of the player that moved."""
        places = ((THIEF, before.thief, after.thief), (POLICEMAN, before.policeman, after.policeman))
        squares = after.settings.layout.squares
        return "{" + ",".join('"%s":[%d,%d]' % (name, *squares[now]) for name, was, now in places if was != now) + "}"
