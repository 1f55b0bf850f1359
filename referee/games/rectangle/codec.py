"""The JSON forms of Rectangle: the players' view, the replay records, and the parsing of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.game import MalformedMove
from referee.games.rectangle import variants
from referee.games.rectangle.state import STEPS, Orders, Place, Settings
from referee.games.values import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.games.rectangle.state import State


#: The most cells or orders that an answer may name.
MOST = 1_000
_NO_PLACES, _NO_ORDERS = Place(), Orders()


class RectangleCodec:
    """Implements ``referee.games.game.Codec``."""

    def __init__(self) -> None:
        # All seats get the same text in a step: it is made once.
        self._last: tuple[State | None, str] = (None, "")

    def settings(self, rules: str | None, overrides: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting and what is allowed."""
        return variants.settings(rules, overrides)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON, without the preset's name."""
        return {name: value for name, value in settings._asdict().items() if name != "rules"}

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The whole position as compact JSON: players don't see each other's orders before the step, and everything else is public."""
        last = self._last
        if last[0] is not state:
            last = self._last = (state, _text(_view(state)))
        return last[1]

    def parse(self, state: State, seat: Seat, answer: Json) -> Place | Orders:
        """An answer as a move; null stands for a part left out. MalformedMove names the key that is wrong."""
        if not isinstance(answer, dict):
            raise MalformedMove(f"move is {shown(answer)}, but must be an object such as {{}}")
        return _orders(answer.get("orders")) if state.step else _place(answer.get("place"))

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing in this game."""
        return [f"move.{key}" for key in answer if key not in ("place", "orders")]

    def move_json(self, move: Place | Orders) -> Json:
        """A move as an answer would give it."""
        if isinstance(move, Place):
            return {"place": [list(cell) for cell in move.place]} if move.place else {}
        is_short = all(order in STEPS for order in move.orders)
        return {"orders": "".join(move.orders) if is_short else list(move.orders)} if move.orders else {}

    def changes_text(self, before: State, after: State) -> str:
        """Return the changes of one step: changed cells by index (row by row) with their new values, cells gained, and the robots' moves.

        A capital letter is a cell that its player has claimed.
        """
        n = after.settings.n
        parts = []
        if after.cells != before.cells:
            changed = []
            old, new = before.cells, after.cells
            for start in range(0, n * n, n):
                if old[start : start + n] != new[start : start + n]:
                    changed += [f'[{place},"{chr(new[place])}"]' for place in range(start, start + n) if old[place] != new[place]]
            parts.append(f'"cells":[{",".join(changed)}]')
        if any(after.gained):
            parts.append(f'"gained":{_text(after.gained)}')
        if not before.step:
            parts.append(f'"robots":{_text(dict(zip(after.seats, after.robots, strict=False)))}')
        elif any(moved.strip("-") for moved in after.moved):
            parts.append(f'"moved":"{"".join(after.moved)}"')
        return "{" + ",".join(parts) + "}"


def _text(value: Json) -> str:
    """Return a value as compact JSON."""
    import json

    return json.dumps(value, separators=(",", ":"))


def _view(state: State) -> dict[str, Json]:
    seats = state.seats
    return {
        "turn": state.turn,
        "board": state.row_texts(),
        "robots": dict(zip(seats, state.robots, strict=False)),
        "orders": dict(zip(seats, state.orders, strict=False)),
        "scores": dict(zip(seats, state.scores, strict=True)),
        "gained": dict(zip(seats, state.gained, strict=True)),
        "stagnation": state.stagnation,
        "failed": sorted(state.failed),
    }


def _place(value: Json) -> Place:
    if value is None:
        return _NO_PLACES
    if not isinstance(value, list) or len(value) > MOST or not all(map(_is_cell, value)):
        raise MalformedMove(
            f"move.place is {shown(value)}, but must be a list of cells such as [[0,0],[4,7]]: row and column of each robot"
        )
    return Place(tuple((row, column) for row, column in value))


def _is_cell(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is int and type(value[1]) is int


def _orders(value: Json) -> Orders:
    if value is None:
        return _NO_ORDERS
    if not isinstance(value, (list, str)) or len(value) > MOST or not all(isinstance(order, str) and len(order) <= 40 for order in value):
        raise MalformedMove(f'move.orders is {shown(value)}, but must be a word for each robot, such as ["N","-"] or "N-"')
    return Orders(tuple(value))
