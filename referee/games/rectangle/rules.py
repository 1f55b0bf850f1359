"""One step of Rectangle: the set-up, or a turn.

Source: rules of Rectangle, "Set-up" and "A turn".
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from referee.games.game import Notice
from referee.games.rectangle.rings import claim, closed
from referee.games.rectangle.state import LETTERS, STEPS, UNPAINTED, Orders, Place, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.rectangle.rings import Ring
    from referee.games.rectangle.state import Cell

    #: A robot after it has moved: its player, its cell and whether it arrived there in this step.
    Moved = tuple[int, Cell, bool]

_NOBODY = -1


def step(state: State, moves: Mapping[str, Place | Orders]) -> tuple[State, tuple[Notice, ...]]:
    """The next position and what happened."""
    notices: list[Notice] = []
    if not state.step:
        robots = tuple(_placed(state, player, moves.get(seat), notices) for player, seat in enumerate(state.seats))
        moved = [(player, cell, True) for player, cells in enumerate(robots) for cell in cells]
        said: tuple[str, ...] = ("",) * len(robots)
        done = said
    else:
        moved, said, done = _moved(state, moves, notices)
        cells = iter([cell for _, cell, _ in moved])
        robots = tuple(tuple(islice(cells, len(before))) for before in state.robots)
    after, rings = _painted(state._replace(robots=robots, orders=said, moved=done, step=state.step + 1), moved)
    for player, top, left, bottom, right in rings:
        data = {"player": LETTERS[player], "corners": [top, left, bottom, right]}
        notices.append(Notice("rectangle", f"{LETTERS[player]} completes ({top}, {left}) to ({bottom}, {right})", None, data))
    return _counted(after), tuple(notices)


def _placed(state: State, player: int, move: object, notices: list[Notice]) -> tuple[Cell, ...]:
    """Return the start cells of a player's robots. Missing or impossible cells are drawn at random, with a notice."""
    settings = state.settings
    places = move.place if isinstance(move, Place) else ()
    cells: list[Cell] = []
    wrong = []
    lots = _lots(state, player)
    for robot in range(settings.robots):
        if robot < len(places) and all(0 <= at < settings.n for at in places[robot]):
            cells.append(places[robot])
        else:
            cells.append(next(lots))
            wrong.append(robot)
    seat = LETTERS[player]
    if wrong:
        listed = ", ".join(map(str, wrong[:10])) + (", ..." if len(wrong) > 10 else "")
        robots, were = ("robots", "were") if len(wrong) > 1 else ("robot", "was")
        text = f"{seat}'s {robots} {listed} had no possible cell and {were} placed by lot"
        notices.append(Notice("placed-by-lot", text, seat, {"robots": wrong}))
    if len(places) > settings.robots:
        notices.append(Notice("ignored", f"{seat} names {len(places)} cells for {settings.robots} robots; the rest is ignored", seat, None))
    return tuple(cells)


def _lots(state: State, player: int) -> Iterator[Cell]:
    """Return random cells, from the match's own secret."""
    import hashlib

    n = state.settings.n
    count = 0
    while True:
        digest = hashlib.sha256(state.secret + b"/%d/%d" % (player, count)).digest()
        yield int.from_bytes(digest[:8], "big") % n, int.from_bytes(digest[8:16], "big") % n
        count += 1


def _moved(
    state: State, moves: Mapping[str, Place | Orders], notices: list[Notice]
) -> tuple[list[Moved], tuple[str, ...], tuple[str, ...]]:
    """Return all robots after moving, the orders of each player, and their results, with one letter for each robot."""
    last = state.settings.n - 1
    moved: list[Moved] = []
    said, done = [], []
    for player, cells in enumerate(state.robots):
        move = moves.get(LETTERS[player])
        orders = move.orders if isinstance(move, Orders) else ()
        if len(orders) != len(cells) or not STEPS.keys() >= set(orders):
            if orders:
                _tell_odd(orders, len(cells), LETTERS[player], notices)
            orders = tuple(order if order in STEPS else "-" for order in orders[: len(cells)]) + ("-",) * (len(cells) - len(orders))
        said.append("".join(orders))
        results = ""
        for (row, column), order in zip(cells, orders, strict=True):
            down, along = STEPS[order]
            to_row, to_column = row + down, column + along
            if order == "-" or not (0 <= to_row <= last and 0 <= to_column <= last):
                moved.append((player, (row, column), False))
                results += "-"
            else:
                moved.append((player, (to_row, to_column), True))
                results += order
        done.append(results)
    return moved, tuple(said), tuple(done)


def _tell_odd(orders: tuple[str, ...], robots: int, seat: str, notices: list[Notice]) -> None:
    """Warn a player of orders that mean nothing."""
    if len(orders) > robots:
        notices.append(Notice("ignored", f"{seat} gives {len(orders)} orders for {robots} robots; the rest is ignored", seat, None))
    elif len(orders) < robots:
        count = f"{len(orders)} order{'s' * (len(orders) != 1)}"
        notices.append(Notice("ignored", f"{seat} gives {count} for {robots} robots; the others stay", seat, None))
    wrong = next((place for place, order in enumerate(orders[:robots]) if order not in STEPS), None)
    if wrong is not None:
        notices.append(Notice("ignored", f"the order of {seat}'s robot {wrong} is none of N, S, E, W and -; it stays", seat, None))


def _owners(state: State, moved: list[Moved]) -> dict[Cell, int]:
    """Return the player that paints each occupied cell, ``_NOBODY`` if it loses its paint. Omits the cell of a single robot that stays."""
    owners: dict[Cell, int] = {}
    arrived = set()
    shares = state.settings.sharing == "2003"
    for player, cell, has_arrived in moved:
        before = owners.get(cell)
        if before is None or (shares and before == player):
            owners[cell] = player
            if has_arrived:
                arrived.add(cell)
        else:
            owners[cell] = _NOBODY
    return {cell: player for cell, player in owners.items() if player == _NOBODY or cell in arrived}


def _painted(state: State, moved: list[Moved]) -> tuple[State, list[Ring]]:
    """Paint the cells, find the completed rings, and claim the cells inside them."""
    n = state.settings.n
    cells = bytearray(state.cells)
    rows: list[list[int]] = [list(lines) for lines in state.rows]
    columns: list[list[int]] = [list(lines) for lines in state.columns]
    won: dict[int, list[Cell]] = {}
    for (row, column), player in _owners(state, moved).items():
        place = row * n + column
        was = cells[place]
        now = UNPAINTED if player == _NOBODY else 97 + player
        if was == now or (was < 97 and was != UNPAINTED):
            continue
        cells[place] = now
        if was != UNPAINTED:
            rows[was - 97][row] &= ~(1 << column)
            columns[was - 97][column] &= ~(1 << row)
        if player != _NOBODY:
            rows[player][row] |= 1 << column
            columns[player][column] |= 1 << row
            won.setdefault(player, []).append((row, column))
    rings: set[Ring] = set()
    for player, new in won.items():
        rings |= closed(player, tuple(rows[player]), tuple(columns[player]), new)
    spent = list(state.spent)
    gained = [0] * len(state.scores)
    complete: list[Ring] = []
    if rings:
        complete = sorted(ring for ring in rings if any(ring.inside & ~spent[row] for row in range(ring.top + 1, ring.bottom)))
        spent, claimed = claim(complete, spent)
        for player, row, bits in claimed:
            gained[player] += bits.bit_count()
            _spend(cells, rows, columns, row, bits, player)
    after = state._replace(
        cells=bytes(cells),
        rows=tuple(map(tuple, rows)),
        columns=tuple(map(tuple, columns)),
        spent=tuple(spent),
        gained=tuple(gained),
        scores=tuple(score + more for score, more in zip(state.scores, gained, strict=True)),
    )
    return after, complete


def _spend(cells: bytearray, rows: list[list[int]], columns: list[list[int]], row: int, bits: int, player: int) -> None:
    """Remove the paint from cells of a row that a player has claimed; nobody can paint them again."""
    n = len(columns[0])
    for lines in rows:
        lines[row] &= ~bits
    while bits:
        column = (bits & -bits).bit_length() - 1
        bits &= bits - 1
        was = cells[row * n + column]
        if was != UNPAINTED:
            columns[was - 97][column] &= ~(1 << row)
        cells[row * n + column] = 65 + player


def _counted(state: State) -> State:
    """Count the turn, and end the game at the stagnation limit or after the last turn. The set-up does not count as a turn."""
    if state.turn == 0:
        return state
    settings = state.settings
    stagnation = 0 if any(state.gained) else state.stagnation + 1
    ended = "stagnation" if stagnation >= settings.stagnation else "cap" if settings.cap and state.turn >= settings.cap else ""
    return state._replace(stagnation=stagnation, ended=ended)
