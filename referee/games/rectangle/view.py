"""Rectangle as JSON: what players see, what replays record, how answers are read; and the board as text."""

from __future__ import annotations

from referee.games.game import MalformedMove
from referee.games.rectangle.state import STEPS, Orders, Place
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from referee.games.rectangle.state import State

    Json = Any

#: The most cells or orders that an answer may name.
MOST = 1_000
_NO_PLACES, _NO_ORDERS = Place(), Orders()


def view(state: State) -> dict[str, Json]:
    """The position as every seat and spectator sees it."""
    seats = state.seats
    return {
        "turn": state.turn,
        "board": state.row_texts(),
        "robots": {seat: [list(cell) for cell in cells] for seat, cells in zip(seats, state.robots, strict=False)},
        "orders": dict(zip(seats, state.orders, strict=False)),
        "scores": dict(zip(seats, state.scores, strict=True)),
        "gained": dict(zip(seats, state.gained, strict=True)),
        "stagnation": state.stagnation,
        "failed": sorted(state.failed),
    }


def view_text(state: State) -> str:
    """``view`` as compact JSON, faster than a general encoder."""
    seats = state.seats
    board = '","'.join(state.row_texts())
    robots = ",".join(
        f'"{seat}":[{",".join(["[%d,%d]" % cell for cell in cells])}]' for seat, cells in zip(seats, state.robots, strict=False)
    )
    orders = ",".join(f'"{seat}":"{said}"' for seat, said in zip(seats, state.orders, strict=False))
    scores = ",".join(f'"{seat}":{score}' for seat, score in zip(seats, state.scores, strict=True))
    gained = ",".join(f'"{seat}":{cells}' for seat, cells in zip(seats, state.gained, strict=True))
    failed = ",".join(f'"{seat}"' for seat in sorted(state.failed))
    return (
        f'{{"turn":{state.turn},"board":["{board}"],"robots":{{{robots}}},"orders":{{{orders}}},"scores":{{{scores}}},'
        f'"gained":{{{gained}}},"stagnation":{state.stagnation},"failed":[{failed}]}}'
    )


def parse(state: State, answer: Json) -> Place | Orders:
    """An answer's ``move``; null stands for a part left out. MalformedMove names the key that is wrong."""
    if not isinstance(answer, dict):
        raise MalformedMove(f"move is {_shown(answer)}, but must be an object such as {{}}")
    if not state.step:
        return _place(answer.get("place"))
    return _orders(answer.get("orders"))


def _place(value: Json) -> Place:
    if value is None:
        return _NO_PLACES
    if not isinstance(value, list) or len(value) > MOST or not all(map(_is_cell, value)):
        raise MalformedMove(
            f"move.place is {_shown(value)}, but must be a list of cells such as [[0,0],[4,7]]: row and column of each robot"
        )
    return Place(tuple((row, column) for row, column in value))


def _is_cell(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is int and type(value[1]) is int


def _orders(value: Json) -> Orders:
    if value is None:
        return _NO_ORDERS
    if not isinstance(value, (list, str)) or len(value) > MOST or not all(isinstance(order, str) and len(order) <= 40 for order in value):
        raise MalformedMove(f'move.orders is {_shown(value)}, but must be a word for each robot, such as ["N","-"] or "N-"')
    return Orders(tuple(value))


def move_json(move: Place | Orders) -> dict[str, Json]:
    """A move as an answer would give it."""
    if isinstance(move, Place):
        return {"place": [list(cell) for cell in move.place]} if move.place else {}
    if all(order in STEPS for order in move.orders):
        return {"orders": "".join(move.orders)} if move.orders else {}
    return {"orders": list(move.orders)}


def unknown_keys(answer: dict[str, Json]) -> Sequence[str]:
    """Keys of an answer's ``move`` that mean nothing."""
    return [f"move.{key}" for key in answer if key not in ("place", "orders")]


def changes_text(before: State, after: State) -> str:
    """What one step changed: cells by their place (row by row) and what they are now, cells gained, and how the robots moved.

    A capital letter is a cell that its player has claimed.
    """
    n = after.settings.n
    parts = []
    if after.cells != before.cells:
        changed = []
        old, new = before.cells, after.cells
        for start in range(0, n * n, n):
            if old[start : start + n] != new[start : start + n]:
                changed += [f"[{place},{chr(new[place])!r}]" for place in range(start, start + n) if old[place] != new[place]]
        parts.append('"cells":[' + ",".join(changed).replace("'", '"') + "]")
    if any(after.gained):
        parts.append(f'"gained":{list(after.gained)}'.replace(" ", ""))
    if not before.step:
        robots = ",".join(
            f'"{seat}":[{",".join(["[%d,%d]" % cell for cell in cells])}]' for seat, cells in zip(after.seats, after.robots, strict=True)
        )
        parts.append(f'"robots":{{{robots}}}')
    elif any(way.strip("-") for way in after.moved):
        parts.append(f'"moved":"{"".join(after.moved)}"')
    return "{" + ",".join(parts) + "}"


def lines(state: State, columns: int, rows: int) -> list[str]:
    """The board as text, cut to what fits; robots as capital letters."""
    found = [list(text) for text in state.row_texts()]
    for seat, cells in zip(state.seats, state.robots, strict=False):
        for row, column in cells:
            found[row][column] = seat.upper()
    return ["".join(row[:columns]) for row in found[:rows]]


def _shown(value: Json) -> str:
    """A value for a sentence, cut short."""
    try:
        text = {None: "missing", True: "true", False: "false"}.get(value) if value is None or isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):
        text = "a huge value"
    text = text or ""
    return text if len(text) <= 40 else f"{text[:37]}..."
