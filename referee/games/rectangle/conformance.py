"""Recorded games and worked cases of Rectangle, played again on the engine.

A file has one game on each line, as JSON. It has ``n``, ``players``, ``robots``, ``stagnation``, ``cap``, ``sharing``, ``placements`` (the
cells of each player), ``setup_board`` (rows joined by "/"), ``setup_gained`` and ``turns``. A turn is ``[orders of each player, board, cells
gained by each]``. At the end of the record are ``over``, ``score`` and ``ranking``.

Worked cases are in a ``.json`` file that holds a list. Each has ``id``, ``pins`` (what the case shows), ``before`` and ``after`` (boards; if
``before`` is null, the case shows the set-up), ``robots`` and ``orders`` by letter, ``score``, ``gained_per_turn``, ``sharing``, ``s`` (the
stagnation limit) and ``over``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.games.conformance import Difference, Played
from referee.games.rectangle.game import GAME
from referee.games.rectangle.state import LETTERS, SPENT, UNPAINTED, Orders, Place

if TYPE_CHECKING:
    from referee.games.rectangle.state import State


def is_ours(record: dict[str, Any]) -> bool:
    """Whether a record is a game or a worked case of Rectangle."""
    return "placements" in record or "pins" in record


def play(record: dict[str, Any]) -> Played:
    """Play a record. SettingsError for settings that the game refuses, ValueError for a record of the wrong form."""
    try:
        return _play_case(record) if "pins" in record else _play_game(record)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"the record can't be read ({type(error).__name__}: {error})") from None


def _play_game(record: dict[str, Any]) -> Played:
    given = {name: record[name] for name in ("n", "players", "robots", "stagnation", "cap", "sharing")}
    state = GAME.start(GAME.codec.settings("small", {**given, "cap": given["cap"] or 0}))
    state = _place(state, dict(zip(state.seats, record["placements"], strict=True)))
    turns = [(record["setup_board"], record["setup_gained"]), *((board, gained) for _, board, gained in record["turns"])]
    for index, recorded in enumerate(turns):
        if index:
            if state.ended:
                return Played(index, Difference(index, "over", None, state.ended))
            state = _order(state, dict(zip(state.seats, record["turns"][index - 1][0], strict=True)))
        got = ("/".join(state.row_texts()), list(state.gained))
        for field, expected, value in zip(("board", "gained"), recorded, got, strict=True):
            if expected != value:
                return Played(index, Difference(index, field, expected, value))
    outcome = GAME.outcome(state)
    ranks = list((outcome.ranks or {}).values()) if outcome is not None else []
    ends = {"over": state.ended or None, "score": list(state.scores), "ranking": ranks}
    return _compared(record, ends, state.turn, state.step)


def _place(state: State, cells: dict[str, Any]) -> State:
    return GAME.step(state, {seat: Place(tuple(map(tuple, places))) for seat, places in cells.items()})[0]


def _order(state: State, orders: dict[str, Any]) -> State:
    return GAME.step(state, {seat: Orders(tuple(words)) for seat, words in orders.items()})[0]


def _compared(record: dict[str, Any], got: dict[str, Any], at: int, steps: int) -> Played:
    """Return the first difference at a step, or the number of equal steps."""
    for field, value in got.items():
        if record[field] != value:
            return Played(at, Difference(at, field, record[field], value))
    return Played(steps, None)


def _play_case(record: dict[str, Any]) -> Played:
    robots = record["robots"]
    n = len(record["after"].split("/"))
    many = max(len(cells) for cells in robots.values())
    given: dict[str, Any] = {"n": n, "players": max(2, len(robots)), "robots": many, "sharing": record["sharing"]}
    if record["s"] is not None:
        given["stagnation"] = record["s"]
    state = GAME.start(GAME.codec.settings("small", given))
    count = len(record["score"])
    gained = []
    if record["before"] is None:
        state = _place(state, robots)
        gained.append(list(state.gained[:count]))
    else:
        state = _set_up(state, record["before"], [tuple(map(tuple, robots.get(seat, []))) for seat in state.seats])
    for orders in record["orders"]:
        if state.ended:
            return Played(state.turn, Difference(state.turn, "over", None, state.ended))
        state = _order(state, orders)
        gained.append(list(state.gained[:count]))
    board, scores = "/".join(state.row_texts()), list(state.scores[:count])
    got = {"after": board, "score": scores, "gained_per_turn": gained, "over": state.ended or None}
    return _compared(record, got, len(gained), len(gained))


def _set_up(state: State, before: str, robots: list[tuple[tuple[int, int], ...]]) -> State:
    """A position with this board, after the set-up."""
    n, players = state.settings.n, state.settings.players
    cells = before.replace("/", "").encode()
    rows = [[0] * n for _ in range(players)]
    columns = [[0] * n for _ in range(players)]
    spent = [0] * n
    for place, cell in enumerate(cells):
        row, column = divmod(place, n)
        if cell == SPENT:
            spent[row] |= 1 << column
        elif cell != UNPAINTED:
            player = LETTERS.index(chr(cell))
            rows[player][row] |= 1 << column
            columns[player][column] |= 1 << row
    return state._replace(
        step=1,
        cells=cells,
        rows=tuple(map(tuple, rows)),
        columns=tuple(map(tuple, columns)),
        spent=tuple(spent),
        robots=tuple(robots),
        orders=("",) * players,
    )
